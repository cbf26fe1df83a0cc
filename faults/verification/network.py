"""Looks across a cut: by connection attempts and our chain's counters, or by stalled links."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from faults.actions import Cut
from faults.kinds import PROXY
from faults.model import Armed, Drops, Proof, Reply, Witness
from faults.shapes import Way, droppers, left_open, pairs
from faults.verification.asking import reaches
from faults.verify import network as rules


@dataclass(slots=True)
class PartitionLook:
    armed: Armed
    witness: Witness

    @property
    def cut(self) -> Cut:
        return next(action for action in self.armed.actions if isinstance(action, Cut))

    @property
    def beside(self) -> tuple[Way, ...]:
        return left_open(self.cut.ways, self.armed.hosts)

    async def held(self) -> Proof:
        if self.armed.mechanism == PROXY:
            return rules.links_cut(await self._link_evidence())
        return await self._filter_cut()

    async def gone(self) -> Proof:
        ways = self.cut.ways
        if self.armed.mechanism == PROXY:
            return rules.cut_gone({}, await hears(self.witness, ways))
        found = await self.chains()
        chains = any(drops is not None for drops in found.values())
        attempts = {} if chains else await reaches(self.witness, pairs(ways))
        return rules.cut_gone(found, attempts)

    async def chains(self) -> dict[str, Drops | None]:
        return await chains(self.witness, droppers(self.cut.ways), self.cut.chain)

    async def _filter_cut(self) -> Proof:
        before = await self.chains()
        if any(drops is None for drops in before.values()):
            return Proof(ok=False, detail="", doubt="there is no chain of ours")
        attempts, beside, alive = await asyncio.gather(
            reaches(self.witness, self.cut.ways),
            reaches(self.witness, self._untouched()),
            self._alive(),
        )
        after = await self.chains()
        return rules.filter_cut(rules.CutEvidence(before, after, attempts, alive, beside))

    def _untouched(self) -> tuple[Way, ...]:
        """Pairs of hosts between which neither direction is cut: a handshake needs both."""
        beside = self.beside
        return pairs(tuple(way for way in beside if way[::-1] in beside))

    async def _alive(self) -> dict[str, Reply]:
        """What the hosts that are attempted say to a host that the cut leaves them."""
        asked = {to for _, to in self.cut.ways}
        found = await reaches(self.witness, {(self._uncut_from(host), host) for host in asked})
        return {to: reply for (_, to), reply in found.items()}

    def _uncut_from(self, host: str) -> str:
        cut = {frozenset(way) for way in self.cut.ways}
        others = (other for other in self.armed.hosts if other != host)
        return next((other for other in others if frozenset((other, host)) not in cut), host)

    async def _link_evidence(self) -> rules.LinkEvidence:
        hosts = self.armed.hosts
        links, direct, beside = await asyncio.gather(
            hears(self.witness, self.cut.ways),
            reaches(self.witness, [(host, host) for host in hosts]),
            hears(self.witness, self.beside),
        )
        return rules.LinkEvidence(links, {host: direct[host, host] for host in hosts}, beside)


async def hears(
    witness: Witness, ways: Iterable[Way], wait_s: float | None = None
) -> dict[Way, Reply]:
    """What comes over each way (speaker, hearer) by a link.

    A link is heard at its near end: what comes through (hearer, speaker) was said by the far one.
    """
    found = await reaches(witness, [way[::-1] for way in ways], wait_s)
    return {way[::-1]: reply for way, reply in found.items()}


async def chains(witness: Witness, hosts: Iterable[str], chain: str) -> dict[str, Drops | None]:
    """What our chain in each host dropped."""
    hosts = list(hosts)
    found = await asyncio.gather(*(witness.drops(host, chain) for host in hosts))
    return dict(zip(hosts, found, strict=True))
