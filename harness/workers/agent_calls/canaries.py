"""Calls that talk to a broker: greet, declare, and canaries by name.

1. A canary stays silent from its opening until it is asked.
2. `seconds` tells silence from closure: only what was silent took the whole time-out.
3. `end` tells how the other side ended the connection, or that it refused it.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any, Protocol, TypeVar

from pika import spec

from harness.workers.agent_calls import remoting
from harness.workers.agent_calls.amqp import Closed, Conversation, ended, greeted
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.network import seconds_since
from harness.workers.agent_calls.words import Speaker
from harness.workers.rocketmq.connection import Unanswered

AMQP, REMOTING = "amqp", "remoting"  # protocols of canaries
T = TypeVar("T")


async def greet(host: str, port: int, timeout_s: float) -> dict[str, Any]:
    """Whether a broker answers the AMQP header."""
    return await _reply(greeted(host, port), timeout_s)


async def declare(
    host: str,
    port: int,
    queue: str,
    durable: bool,
    arguments: dict[str, Any],
    timeout_s: float,
) -> dict[str, Any]:
    """Declares a queue and returns when the broker said that it is there."""
    what = f"declare {queue} at {host}:{port}"
    try:
        async with asyncio.timeout(timeout_s):
            conversation = await Conversation.open(host, port, "mqproof.agent")
            try:
                asked: Any = spec.Queue.Declare(queue=queue, durable=durable, arguments=arguments)
                await conversation.request(asked, spec.Queue.DeclareOk)
                await conversation.close()
            finally:
                conversation.drop()
    except TimeoutError:
        raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
    except (Closed, Unanswered, OSError) as error:
        raise CallError("refused", f"{what}: {error}") from error
    return {}


class _Asks(Protocol):
    @property
    def end(self) -> str: ...

    async def passive_declare(self, queue: str) -> None: ...

    def drop(self) -> None: ...


class _Speaks(Protocol):
    @property
    def end(self) -> str: ...

    @property
    def octets(self) -> int: ...

    async def say(self, hearer: Any, octets: int) -> float: ...

    def drop(self) -> None: ...


class Canaries:
    """The open canaries of this agent: those that only ask, and those that speak."""

    def __init__(self) -> None:
        self._open: dict[str, _Asks] = {}
        self._queues: dict[str, str] = {}
        self._speakers: dict[str, _Speaks] = {}

    async def open(
        self,
        canary: str,
        host: str,
        port: int,
        queue: str,
        timeout_s: float,
        speaks: bool = False,
        protocol: str = AMQP,
    ) -> dict[str, Any]:
        """A canary of that name is replaced. One request proves that the way works.

        `protocol`: AMQP, or RocketMQ's, in which one that asks speaks, too.
        """
        await self.close(canary)
        what = f"canary {canary} to {host}:{port}"
        try:
            async with asyncio.timeout(timeout_s):
                if protocol == REMOTING:
                    found = await remoting.Conversation.open(host, port)
                    self._open[canary] = self._speakers[canary] = found
                elif speaks:
                    self._speakers[canary] = await Speaker.open(host, port, canary)
                else:
                    self._open[canary] = await _asker(canary, host, port, queue)
        except TimeoutError:
            raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
        except (Closed, Unanswered, OSError) as error:
            raise CallError("refused", f"{what}: {error}") from error
        self._queues[canary] = queue
        return {}

    async def ask(self, canary: str, timeout_s: float) -> dict[str, Any]:
        """One passive declare on it."""
        conversation = _named(self._open, canary)
        asked = conversation.passive_declare(self._queues[canary])
        reply = await _reply(asked, timeout_s)
        return {**reply, "end": conversation.end or reply["end"]}

    async def say(
        self, canary: str, to: str, octets: int, rounds: int, timeout_s: float
    ) -> dict[str, Any]:
        """Words from one speaking canary to another, or to itself, one after another."""
        speaker, hearer = _named(self._speakers, canary), _named(self._speakers, to)
        quickest: list[float] = []

        async def talk() -> None:
            for _ in range(rounds):
                quickest.append(await speaker.say(hearer, octets))

        reply = await _reply(talk(), timeout_s)
        if reply["answered"]:
            reply["seconds"] = min(quickest)
        end = hearer.end or speaker.end or reply["end"]
        return {**reply, "end": end, "octets": hearer.octets}

    async def close(self, canary: str) -> dict[str, Any]:
        """Drops it without a word; one that is not there is no error."""
        for conversation in (self._open.pop(canary, None), self._speakers.pop(canary, None)):
            if conversation is not None:
                conversation.drop()
        return {}


async def _asker(canary: str, host: str, port: int, queue: str) -> Conversation:
    conversation = await Conversation.open(host, port, f"mqproof.canary.{canary}")
    try:
        await conversation.passive_declare(queue)
    except BaseException:
        conversation.drop()
        raise
    return conversation


def _named(canaries: dict[str, T], canary: str) -> T:
    if canary not in canaries:
        raise CallError("bad", f"no canary {canary}; there are {sorted(canaries)}")
    return canaries[canary]


async def _reply(asked: Awaitable[None], timeout_s: float) -> dict[str, Any]:
    began_ns = time.monotonic_ns()
    detail, end = "answered", ""
    try:
        async with asyncio.timeout(timeout_s):
            await asked
    except TimeoutError:
        detail = f"silent for {timeout_s:g} s"
    except (Closed, Unanswered, OSError) as error:
        detail, end = str(error), ended(error)
    return {
        "answered": detail == "answered",
        "seconds": seconds_since(began_ns),
        "detail": detail,
        "end": end,
    }
