"""Calls that talk to a broker: greet, declare, and canaries by name.

1. A canary stays silent from its opening until it is asked.
2. `seconds` tells silence from closure: only what was silent took the whole time-out.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

from pika import spec

from harness.workers.agent_calls.amqp import Closed, Conversation, greeted
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.network import seconds_since


async def greet(host: str, port: int, timeout_s: float) -> dict[str, Any]:
    """Whether a broker answers the AMQP header."""
    return await _reply(greeted(host, port), timeout_s)


async def declare(
    host: str, port: int, queue: str, durable: bool, timeout_s: float
) -> dict[str, Any]:
    """Declares a queue and returns when the broker said that it is there."""
    what = f"declare {queue} at {host}:{port}"
    try:
        async with asyncio.timeout(timeout_s):
            conversation = await Conversation.open(host, port, "mqproof.agent")
            try:
                asked: Any = spec.Queue.Declare(queue=queue, durable=durable)
                await conversation.request(asked, spec.Queue.DeclareOk)
                await conversation.close()
            finally:
                conversation.drop()
    except TimeoutError:
        raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
    except (Closed, OSError) as error:
        raise CallError("refused", f"{what}: {error}") from error
    return {}


class Canaries:
    """The open canaries of this agent."""

    def __init__(self) -> None:
        self._open: dict[str, Conversation] = {}
        self._queues: dict[str, str] = {}

    async def open(
        self, canary: str, host: str, port: int, queue: str, timeout_s: float
    ) -> dict[str, Any]:
        """A canary of that name is replaced. One request proves that the way works."""
        await self.close(canary)
        what = f"canary {canary} to {host}:{port}"
        try:
            async with asyncio.timeout(timeout_s):
                conversation = await Conversation.open(host, port, f"mqproof.canary.{canary}")
                try:
                    await conversation.passive_declare(queue)
                except BaseException:
                    conversation.drop()
                    raise
        except TimeoutError:
            raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
        except (Closed, OSError) as error:
            raise CallError("refused", f"{what}: {error}") from error
        self._open[canary] = conversation
        self._queues[canary] = queue
        return {}

    async def ask(self, canary: str, timeout_s: float) -> dict[str, Any]:
        """One passive declare on it."""
        conversation = self._open.get(canary)
        if conversation is None:
            raise CallError("bad", f"no canary {canary}; there are {sorted(self._open)}")
        return await _reply(conversation.passive_declare(self._queues[canary]), timeout_s)

    async def close(self, canary: str) -> dict[str, Any]:
        """Drops it without a word; one that is not there is no error."""
        conversation = self._open.pop(canary, None)
        if conversation is not None:
            conversation.drop()
        return {}


async def _reply(asked: Awaitable[None], timeout_s: float) -> dict[str, Any]:
    began_ns = time.monotonic_ns()
    detail = "answered"
    try:
        async with asyncio.timeout(timeout_s):
            await asked
    except TimeoutError:
        detail = f"silent for {timeout_s:g} s"
    except (Closed, OSError) as error:
        detail = str(error)
    return {
        "answered": detail == "answered",
        "seconds": seconds_since(began_ns),
        "detail": detail,
    }
