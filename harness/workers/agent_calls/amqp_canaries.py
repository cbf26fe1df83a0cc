"""Canaries in AMQP 0-9-1: those that only ask, and those that speak (speaking.py)."""

from harness.workers.agent_calls.amqp import Conversation
from harness.workers.agent_calls.canaries import Opened
from harness.workers.agent_calls.speaking import Speaker


async def opened(host: str, port: int, canary: str, queue: str, speaks: bool) -> Opened:
    """canaries.Opens: one that speaks listens all the time, and cannot ask."""
    if speaks:
        return Opened(asks=None, speaks=await Speaker.open(host, port, canary))
    conversation = await Conversation.open(host, port, f"mqproof.canary.{canary}")
    try:
        await conversation.passive_declare(queue)
    except BaseException:
        conversation.drop()
        raise
    return Opened(asks=conversation, speaks=None)
