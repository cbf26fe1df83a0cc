"""Shared steps of the verifiers that use canaries: words in both directions, and fresh
connections."""

from faults.core.model import Armed, Replies, Words
from faults.core.witness import SeesLinks
from faults.polling import gather


async def both_ways(witness: SeesLinks, armed: Armed, *words: Words) -> dict[str, Replies]:
    replies = await gather(*(witness.words(armed, each) for each in words))
    return {each.way: reply for each, reply in zip(words, replies, strict=True)}


async def reopened(witness: SeesLinks, armed: Armed) -> None:
    """Open new canaries through every link of the fault."""
    await witness.dismiss(armed)
    await witness.prepare(armed)
