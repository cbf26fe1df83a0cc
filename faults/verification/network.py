"""Looks across a cut: by connection attempts and our chain's counters, or by stalled links."""

import asyncio
from dataclasses import dataclass

from faults.actions import Cut
from faults.kinds import PROXY
from faults.model import Armed, Proof, Reply, Witness
from faults.shapes import droppers, pairs
from faults.verification.asking import reaches
from faults.verify import network as rules


@dataclass(slots=True)
class PartitionLook:
    armed: Armed
    witness: Witness

    @property
    def cut(self) -> Cut:
        return next(action for action in self.armed.actions if isinstance(action, Cut))

    async def held(self) -> Proof:
        if self.armed.mechanism == PROXY:
            return rules.links_cut(await self._link_evidence())
        return await self._filter_cut()

    async def gone(self) -> Proof:
        ways = self.cut.ways
        if self.armed.mechanism == PROXY:
            return rules.cut_gone({}, await reaches(self.witness, ways))
        packets = await self._packets()
        chains = any(count is not None for count in packets.values())
        attempts = {} if chains else await reaches(self.witness, pairs(ways))
        return rules.cut_gone(packets, attempts)

    async def _filter_cut(self) -> Proof:
        before = await self._packets()
        if any(count is None for count in before.values()):
            return Proof(ok=False, detail="", doubt="there is no chain of ours")
        attempts, alive = await asyncio.gather(
            reaches(self.witness, pairs(self.cut.ways)), self._alive()
        )
        after = await self._packets()
        return rules.filter_cut(rules.CutEvidence(before, after, attempts, alive))

    async def _packets(self) -> dict[str, int | None]:
        hosts = list(droppers(self.cut.ways))
        counts = await asyncio.gather(
            *(self.witness.packets(host, self.cut.chain) for host in hosts)
        )
        return dict(zip(hosts, counts, strict=True))

    async def _alive(self) -> dict[str, Reply]:
        """What the hosts that are attempted say to a host that the cut leaves them."""
        asked = {to for _, to in pairs(self.cut.ways)}
        found = await reaches(self.witness, {(self._uncut_from(host), host) for host in asked})
        return {to: reply for (_, to), reply in found.items()}

    def _uncut_from(self, host: str) -> str:
        cut = {frozenset(way) for way in self.cut.ways}
        others = (other for other in self.armed.hosts if other != host)
        return next((other for other in others if frozenset((other, host)) not in cut), host)

    async def _link_evidence(self) -> rules.LinkEvidence:
        """A link is heard at its near end: what comes through (hearer, speaker) was said by the
        far one, on the way (speaker, hearer)."""
        ways = self.cut.ways
        hosts = sorted({end for way in ways for end in way})
        heard, direct = await asyncio.gather(
            reaches(self.witness, [(hearer, speaker) for speaker, hearer in ways]),
            reaches(self.witness, [(host, host) for host in hosts]),
        )
        return rules.LinkEvidence(
            links={(speaker, hearer): heard[hearer, speaker] for speaker, hearer in ways},
            direct={host: direct[host, host] for host in hosts},
        )
