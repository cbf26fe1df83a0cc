"""What a run does with a queue, tried once by one user at one broker: says the first refusal.

1. The queue has a random name, and goes whatever happens: it is exclusive, so that it goes with
   the connection; or, of a kind that cannot be, it expires by itself after a minute. A stream can
   be neither: it is deleted, or it stays if the connection breaks off before.
2. The steps are those of a run: declare, publish and wait for the confirm, consume, delete.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from pika import spec

from harness.workers.agent_calls.amqp import Conversation
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.ends import NO_ANSWER, PeerClosed

PREFIX = "mqproof.doctor"
EXPIRES_MS = 60_000
_TYPE, _STREAM = "x-queue-type", "stream"
_TAG = "trial"
Step = Callable[[Conversation, str], Awaitable[None]]


async def trial(
    host: str, port: int, arguments: dict[str, Any], timeout_s: float
) -> dict[str, Any]:
    """Return the step that the broker refused, "" where it refused none, its words, and the queue.

    `arguments`: of the declaration.
    """
    what = f"trial at {host}:{port}"
    try:
        async with asyncio.timeout(timeout_s):
            return await _tried(host, port, arguments)
    except TimeoutError:
        raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
    except NO_ANSWER as error:
        raise CallError("refused", f"{what}: {error}") from error


async def _tried(host: str, port: int, arguments: dict[str, Any]) -> dict[str, Any]:
    conversation = await Conversation.open(host, port, PREFIX)
    queue = f"{PREFIX}.{secrets.token_hex(4)}"
    declare = partial(_declare, arguments=arguments)
    steps: dict[str, Step] = {
        "declare": declare,
        "publish": _publish,
        "consume": _consume_stream if arguments.get(_TYPE) == _STREAM else _consume,
        "delete": _delete,
    }
    try:
        for name, step in steps.items():
            try:
                await step(conversation, queue)
            except PeerClosed as refusal:
                return {"refused": name, "detail": str(refusal), "queue": queue}
        await conversation.close()
    finally:
        conversation.drop()
    return {"refused": "", "detail": "", "queue": queue}


async def _declare(conversation: Conversation, queue: str, arguments: dict[str, Any]) -> None:
    kind = arguments.get(_TYPE, "classic")
    exclusive = kind == "classic"
    expires = {} if exclusive or kind == _STREAM else {"x-expires": EXPIRES_MS}
    own = {**arguments, **expires}
    method: Any = spec.Queue.Declare(
        queue=queue, exclusive=exclusive, durable=not exclusive, arguments=own
    )
    await conversation.request(method, spec.Queue.DeclareOk)


async def _publish(conversation: Conversation, queue: str) -> None:
    await conversation.request(spec.Confirm.Select(), spec.Confirm.SelectOk)
    conversation.publish(queue, b"trial")
    await conversation.confirmed()


async def _consume(conversation: Conversation, queue: str) -> None:
    method: Any = spec.Basic.Get(queue=queue, no_ack=True)
    await conversation.request(method, spec.Basic.GetOk)


async def _consume_stream(conversation: Conversation, queue: str) -> None:
    """A stream is read by a consumer that acknowledges, from an offset on; Get is refused."""
    await conversation.request(spec.Basic.Qos(prefetch_count=1), spec.Basic.QosOk)
    method: Any = spec.Basic.Consume(
        queue=queue, consumer_tag=_TAG, arguments={"x-stream-offset": "first"}
    )
    await conversation.request(method, spec.Basic.ConsumeOk)
    await conversation.delivered()
    await conversation.request(spec.Basic.Cancel(consumer_tag=_TAG), spec.Basic.CancelOk)


async def _delete(conversation: Conversation, queue: str) -> None:
    await conversation.request(spec.Queue.Delete(queue=queue), spec.Queue.DeleteOk)
