"""How a request to a broker ended: an answer, silence, or the connection's end.

1. What asks a broker raises PeerClosed or OSError where no right answer comes (of code that shares
   connections with clients: Unanswered), and is broken off where it takes too long.
2. `seconds` tells silence from closure: only what was silent took the whole time-out.
3. `end` tells how the other side ended the connection, or that it refused it.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

from faults.core.model import REFUSED, RST
from harness.workers.agent_calls.network import seconds_since
from harness.workers.rocketmq.connection import Unanswered


class PeerClosed(Exception):
    """The other side closed the connection or what is on it, or spoke something else.

    `end`: FIN or RST, where it was the connection that ended.
    """

    def __init__(self, text: str, end: str = "") -> None:
        super().__init__(text)
        self.end = end


NO_ANSWER = (PeerClosed, Unanswered, OSError)


def ended(error: Exception) -> str:
    """FIN, RST or REFUSED, where an exception tells of one; or else nothing."""
    match error:
        case PeerClosed(end=end) | Unanswered(ended=end):
            return end
        case ConnectionRefusedError():
            return REFUSED
        case ConnectionResetError():
            return RST
    return ""


async def reply(request: Awaitable[None], timeout_s: float) -> dict[str, Any]:
    """As the agent's protocol has it: "answered", "seconds", "detail", "end"."""
    began_ns = time.monotonic_ns()
    detail, end = "answered", ""
    try:
        async with asyncio.timeout(timeout_s):
            await request
    except TimeoutError:
        detail = f"silent for {timeout_s:g} s"
    except NO_ANSWER as error:
        detail, end = str(error), ended(error)
    return {
        "answered": detail == "answered",
        "seconds": seconds_since(began_ns),
        "detail": detail,
        "end": end,
    }
