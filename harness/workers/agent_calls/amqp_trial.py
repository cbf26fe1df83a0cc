"""What a run does with a queue, tried once by one user at one broker: says the first refusal.

1. The queue is exclusive and has a random name: it goes with the connection, whatever happens.
2. The steps are those of a run: declare, publish and wait for the confirm, consume, delete.
"""

import asyncio
import secrets
from typing import Any

from pika import spec

from harness.workers.agent_calls.amqp import Conversation
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.ends import NO_ANSWER, PeerClosed

PREFIX = "mqproof.doctor"


async def trial(host: str, port: int, timeout_s: float) -> dict[str, Any]:
    """Return the step that the broker refused, "" where it refused none, and its words."""
    what = f"trial at {host}:{port}"
    try:
        async with asyncio.timeout(timeout_s):
            return await _tried(host, port)
    except TimeoutError:
        raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
    except NO_ANSWER as error:
        raise CallError("refused", f"{what}: {error}") from error


async def _tried(host: str, port: int) -> dict[str, Any]:
    conversation = await Conversation.open(host, port, PREFIX)
    queue = f"{PREFIX}.{secrets.token_hex(4)}"
    steps = {"declare": _declare, "publish": _publish, "consume": _consume, "delete": _delete}
    try:
        for name, step in steps.items():
            try:
                await step(conversation, queue)
            except PeerClosed as refusal:
                return {"refused": name, "detail": str(refusal)}
        await conversation.close()
    finally:
        conversation.drop()
    return {"refused": "", "detail": ""}


async def _declare(conversation: Conversation, queue: str) -> None:
    method: Any = spec.Queue.Declare(queue=queue, exclusive=True)
    await conversation.request(method, spec.Queue.DeclareOk)


async def _publish(conversation: Conversation, queue: str) -> None:
    await conversation.request(spec.Confirm.Select(), spec.Confirm.SelectOk)
    conversation.publish(queue, b"trial")
    await conversation.confirmed()


async def _consume(conversation: Conversation, queue: str) -> None:
    method: Any = spec.Basic.Get(queue=queue, no_ack=True)
    await conversation.request(method, spec.Basic.GetOk)


async def _delete(conversation: Conversation, queue: str) -> None:
    await conversation.request(spec.Queue.Delete(queue=queue), spec.Queue.DeleteOk)
