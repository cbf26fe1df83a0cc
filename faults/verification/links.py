"""Looks at clients' links, by canaries that were opened through them before."""

import asyncio
from dataclasses import dataclass, field

from faults.model import DOWN, ROUND, UP, Armed, Proof, Replies, Witness, Words
from faults.verify import flow
from faults.verify import links as rules
from faults.verify.replies import silent

BYTES_A_SECOND = 1_000_000  # a large word may take so long, on its way through a broker
ENDED = {"close": rules.close_held, "refuse": rules.refuse_held, "reset": rules.reset_held}


@dataclass(slots=True)
class HangLook:
    """Fresh canaries replace held ones at the first look at its end, so those are asked once,
    before."""

    armed: Armed
    witness: Witness
    released: Replies = field(default_factory=dict)
    asked: bool = False

    async def held(self) -> Proof:
        heard = await _both_ways(self.witness, self.armed, Words(UP), Words(DOWN))
        return rules.hang_held(heard, self.armed.proxies, self.armed.options.direction)

    async def gone(self) -> Proof:
        names = self.armed.proxies
        if not self.asked:
            replies = await self.witness.words(self.armed, Words(ROUND))
            stuck = [name for name in names if name in replies and silent(replies[name])]
            if stuck:
                return Proof(ok=False, detail="", doubt=f"still silent: {', '.join(stuck)}")
            self.released, self.asked = replies, True
        await _reopen(self.witness, self.armed)
        fresh = await self.witness.words(self.armed, Words(ROUND))
        return rules.hang_gone(fresh, self.released, names)


@dataclass(slots=True)
class EndedLook:
    """Of kinds that end links: what became of those that stood, and what new ones meet."""

    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        canaries, attempts = await asyncio.gather(
            self.witness.canaries(self.armed), self.witness.attempts(self.armed)
        )
        return ENDED[self.armed.kind](canaries, attempts, self.armed.proxies)

    async def gone(self) -> Proof:
        await _reopen(self.witness, self.armed)
        return rules.answering(await self.witness.canaries(self.armed), self.armed.proxies)


@dataclass(slots=True)
class SlowLook:
    """As with a hang, held canaries are asked once before fresh ones replace them."""

    armed: Armed
    witness: Witness
    released: Replies = field(default_factory=dict)
    asked: bool = False

    @property
    def slowness(self) -> flow.Slowness:
        return flow.Slowness.of(self.armed.options)

    async def held(self) -> Proof:
        ways = (self.slowness.words(UP), self.slowness.words(DOWN))
        heard = await _both_ways(self.witness, self.armed, *ways)
        return flow.slow_held(heard, self.armed.proxies, self.slowness)

    async def gone(self) -> Proof:
        names, words = self.armed.proxies, self.slowness.words(DOWN, flow.ROUNDS)
        if not self.asked:
            replies = await self.witness.words(self.armed, words)
            late = [name for name in names if self.slowness.slow(replies.get(name))]
            if late:
                return Proof(ok=False, detail="", doubt=f"still slow: {', '.join(late)}")
            self.released, self.asked = replies, True
        await _reopen(self.witness, self.armed)
        fresh = await self.witness.words(self.armed, words)
        return flow.slow_gone(fresh, self.released, names, self.slowness)


@dataclass(slots=True)
class CutAfterLook:
    armed: Armed
    witness: Witness

    @property
    def words(self) -> Words:
        """One more byte than may pass."""
        octets = self.armed.options.bytes + 1
        return Words(DOWN, octets, wait_s=octets / BYTES_A_SECOND)

    async def held(self) -> Proof:
        replies = await self.witness.words(self.armed, self.words)
        return flow.cut_after_held(replies, self.armed.proxies, self.armed.options.bytes)

    async def gone(self) -> Proof:
        await _reopen(self.witness, self.armed)
        fresh = await self.witness.words(self.armed, self.words)
        return rules.answering(fresh, self.armed.proxies)


async def _both_ways(witness: Witness, armed: Armed, *words: Words) -> dict[str, Replies]:
    replies = await asyncio.gather(*(witness.words(armed, each) for each in words))
    return {each.way: reply for each, reply in zip(words, replies, strict=True)}


async def _reopen(witness: Witness, armed: Armed) -> None:
    await witness.dismiss(armed)
    await witness.prepare(armed)
