"""What is said to brokers in whatever protocol: words, and what answers them, are handed in.

1. Text stands for bytes, one each (latin-1): a protocol need not be of letters.
2. An answer to a question is one line, of at most ANSWER_MAX_BYTES.
"""

import asyncio
from typing import Any

from faults.core.model import FIN
from faults.self_connections import refuse_self_connection
from harness.workers.agent_calls import encrypted
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.canaries import imported
from harness.workers.agent_calls.ends import PeerClosed, reply

ANSWER_MAX_BYTES = 1 << 20
_BYTES = "latin-1"


async def greet(host: str, port: int, says: str, begins: str, timeout_s: float) -> dict[str, Any]:
    """Whether what is said on a new connection has an answer that begins so."""

    async def greeted() -> None:
        found = await _answer(host, port, says, line=False, count=len(begins))
        if found != begins.encode(_BYTES):
            raise PeerClosed(f"its answer began otherwise: {found!r}")

    return await reply(greeted(), timeout_s)


async def greet_by(host: str, port: int, by: str, timeout_s: float) -> dict[str, Any]:
    """The same, where no bytes tell a right answer: code that is named awaits one."""
    return await reply(imported(by)(host, port), timeout_s)


async def ask(host: str, port: int, says: str, timeout_s: float) -> dict[str, Any]:
    """The line that comes back, without its end."""
    what = f"{host}:{port}"
    try:
        async with asyncio.timeout(timeout_s):
            found = await _answer(host, port, says, line=True, count=ANSWER_MAX_BYTES)
    except TimeoutError:
        raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
    except (PeerClosed, OSError) as error:
        raise CallError("refused", f"{what}: {error}") from error
    return {"text": found.decode(_BYTES)}


async def _answer(host: str, port: int, says: str, line: bool, count: int) -> bytes:
    """So many bytes of it, or up to the end of its line. Raises PeerClosed, OSError."""
    own = encrypted.arguments(host, port)
    reader, writer = await asyncio.open_connection(host, port, limit=count + 1, **own)
    try:
        refuse_self_connection(writer.get_extra_info("socket"))
        writer.write(says.encode(_BYTES))
        wanted = reader.readuntil(b"\n") if line else reader.readexactly(count)
        return (await wanted).rstrip(b"\r\n") if line else await wanted
    except asyncio.IncompleteReadError as error:
        raise PeerClosed(f"the connection ended after {error.partial!r}", FIN) from error
    except asyncio.LimitOverrunError as error:
        raise PeerClosed(f"its answer has no end within {count} bytes") from error
    finally:
        writer.transport.abort()
