"""The agent: the one process that dials brokers and proxies for the harness (agent_protocol.py).

1. It speaks JSON lines on stdin and stdout, and only when it was spoken to.
2. Calls run side by side, each with its own deadline; a call that fails is an answer.
3. Without a line for SILENCE_LIMIT_S, or when its input ends, it exits with EXIT_ORPHANED, at
   once: threads that hang in a call do not hold it.
4. `once CALL` answers one call on stdout and exits: 0 for an answer, 1 for an error.
5. Toxiproxy's API is at `MQPROOF_TOXIPROXY` (host:port), or else at DEFAULT_TOXIPROXY; listeners
   are made at the address `MQPROOF_LISTEN`, or else at every address that Toxiproxy has.
6. A canary without a queue asks for an exchange that every broker has: any node answers alone.
7. A family of brokers brings its calls as `module:object`; the agent knows no protocol by name.
"""

import asyncio
import inspect
import json
import os
import platform
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from faults.toxiproxy import TOKEN, Toxiproxy
from harness.workers.agent_calls import foreign, network
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.canaries import Canaries, imported
from harness.workers.agent_calls.proxies import Proxies
from harness.workers.protocol import (
    EXIT_CLOSED,
    EXIT_FAILED,
    EXIT_ORPHANED,
    SILENCE_LIMIT_S,
    decode,
    encode,
)

DEFAULT_TOXIPROXY = "toxiproxy:8474"
EVERY_ADDRESS = "0.0.0.0"
PROXY_LIMIT_S = 10.0  # a proxy or toxic call over all its proxies
LINE_LIMIT_BYTES = 1 << 24
CALL_LIMIT_S = 600.0  # no call has a longer deadline than this, whatever it asks for

Call = Callable[..., Awaitable[dict[str, Any]]]
Say = Callable[[dict[str, Any]], None]


def calls(toxiproxy: str, listen: str = "", token: str = "") -> dict[str, Call]:
    """Return the calls that every system has, by name. `token`: what the proxy asks for."""
    host, _, port = toxiproxy.rpartition(":")
    server = Toxiproxy(host, int(port), token=token)
    proxies = Proxies(server, PROXY_LIMIT_S, listen or EVERY_ADDRESS)
    canaries = Canaries()
    return {
        "clock": _clock,
        "http": network.http,
        "connect": network.connect,
        "hear": network.hear,
        "greet": foreign.greet,
        "greet_by": foreign.greet_by,
        "words_ask": foreign.ask,
        "proxy_create": proxies.create,
        "proxy_list": proxies.every,
        "proxy_delete": proxies.delete,
        "proxy_enable": proxies.enable,
        "toxic_add": proxies.add,
        "toxic_remove": proxies.remove,
        "toxic_reset": proxies.reset,
        "canary_open": canaries.open,
        "canary_ask": canaries.ask,
        "canary_say": canaries.say,
        "canary_close": canaries.close,
    }


class Agent:
    """Answers lines; knows nothing of where they come from."""

    def __init__(self, known: dict[str, Call], say: Say) -> None:
        self._known = known
        self._say = say
        self._running: set[asyncio.Task[None]] = set()

    def hear(self, line: bytes) -> bool:
        """Acts on one line of the harness. False when it was the last one."""
        try:
            message = decode(line)
        except ValueError as error:
            self._say({"say": "error", "id": None, "kind": "bad", "text": str(error)})
            return True
        match message.get("do"):
            case "hello":
                self._say({"say": "hello", **hello()})
            case "ping":
                self._say({"say": "pong", **_ticks()})
            case "close":
                self._say({"say": "closed"})
                return False
            case _:
                task = asyncio.create_task(self._serve(message))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
        return True

    async def _serve(self, message: dict[str, Any]) -> None:
        self._say(await answer(self._known, message))


async def answer(known: dict[str, Call], message: dict[str, Any]) -> dict[str, Any]:
    """The answer line to one request: never an exception."""
    arguments = {key: value for key, value in message.items() if key not in {"do", "id"}}
    try:
        value = await _called(known, str(message.get("do")), arguments)
    except CallError as error:
        failure = {"kind": error.kind, "text": error.text}
        return {"say": "error", "id": message.get("id"), **failure}
    except Exception as error:  # a defect of ours must not leave the harness waiting
        failure = {"kind": "bad", "text": repr(error)}
        return {"say": "error", "id": message.get("id"), **failure}
    return {"say": "answer", "id": message.get("id"), "value": value}


async def _called(known: dict[str, Call], name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = call_of(known, name)
    signature = inspect.signature(call)
    if "timeout_s" not in signature.parameters:
        # The harness's own limit for the answer; these calls keep deadlines of their own.
        arguments.pop("timeout_s", None)
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise CallError("bad", f"{name}: {error}; it takes {signature}") from None
    try:
        async with asyncio.timeout(CALL_LIMIT_S):
            return await call(**arguments)
    except TimeoutError:
        raise CallError("timeout", f"{name}: no end in {CALL_LIMIT_S:g} s") from None


def call_of(known: dict[str, Call], name: str) -> Call:
    """Return a call by its name, or by its `module:object`. Raise CallError."""
    call: Call | None = imported(name) if ":" in name else known.get(name)
    if call is None:
        raise CallError("bad", f"no call {name}; there are {', '.join(known)}, or module:object")
    if not inspect.iscoroutinefunction(call):
        raise CallError("bad", f"{name} is no call: it must be an `async def` function")
    return call


async def _clock() -> dict[str, Any]:
    return network.clock()


def hello() -> dict[str, Any]:
    names = ("pika", "tenacity", "toxiproxy-python")
    versions = {"python": platform.python_version()} | {name: version(name) for name in names}
    return {**network.clock(), "pid": os.getpid(), "versions": versions}


def _ticks() -> dict[str, Any]:
    now = network.clock()
    return {"monotonic_ns": now["monotonic_ns"], "suspended_ns": now["suspended_ns"]}


async def converse(known: dict[str, Call]) -> int:
    """Serves stdin until it ends, falls silent or says close; the exit status."""
    reader, writer = await _standard_streams()
    agent = Agent(known, lambda message: writer.write(encode(message)))
    while True:
        try:
            async with asyncio.timeout(SILENCE_LIMIT_S):
                line = await reader.readline()
        except TimeoutError:
            return EXIT_ORPHANED
        except ValueError:  # a line beyond the limit: the harness never sends one
            return EXIT_FAILED
        if not line:
            return EXIT_ORPHANED
        if not agent.hear(line):
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(SILENCE_LIMIT_S):
                    await writer.drain()
            return EXIT_CLOSED


async def _standard_streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout
    )
    transport.set_write_buffer_limits(high=0)  # `drain` waits for the last byte
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


async def once(known: dict[str, Call], text: str) -> int:
    try:
        reply = await answer(known, decode(text.encode()))
    except ValueError as error:
        reply = {"say": "error", "id": None, "kind": "bad", "text": str(error)}
    print(json.dumps(reply), flush=True)
    return 0 if reply["say"] == "answer" else 1


async def _run(work: Coroutine[Any, Any, int]) -> None:
    """Ends the process as soon as the work ends.

    Returning would wait for threads of calls that may never return, name look-ups included.
    """
    status = await work
    sys.stdout.flush()
    os._exit(status)


def main(arguments: list[str]) -> None:
    toxiproxy = os.environ.get("MQPROOF_TOXIPROXY", DEFAULT_TOXIPROXY)
    listen, token = os.environ.get("MQPROOF_LISTEN", ""), os.environ.get(TOKEN, "")
    known = calls(toxiproxy, listen, token)
    match arguments:
        case ["once", text]:
            asyncio.run(_run(once(known, text)))
        case []:
            asyncio.run(_run(converse(known)))
        case _:
            sys.exit("usage: python -m harness.workers.agent [once CALL]")


if __name__ == "__main__":
    main(sys.argv[1:])
