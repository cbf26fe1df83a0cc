"""Shared steps of the verifiers that use canaries: words in both directions, and fresh
connections."""

import asyncio

from faults.model import Armed, Replies, Words
from faults.witness import SeesLinks


async def both_ways(witness: SeesLinks, armed: Armed, *words: Words) -> dict[str, Replies]:
    replies = await asyncio.gather(*(witness.words(armed, each) for each in words))
    return {each.way: reply for each, reply in zip(words, replies, strict=True)}


async def reopened(witness: SeesLinks, armed: Armed) -> None:
    """Open new canaries through every link of the fault."""
    await witness.dismiss(armed)
    await witness.prepare(armed)
