"""Looks at links between a host and its peers that are slow."""

from dataclasses import dataclass

from faults.model import Armed, Proof, Witness
from faults.shapes import Way, left_open, ways
from faults.verification.network import link_evidence
from faults.verify import peers as rules


@dataclass(slots=True)
class SlowPeersLook:
    armed: Armed
    witness: Witness

    @property
    def slowed(self) -> tuple[Way, ...]:
        return ways("one", self.armed.host, self.armed.hosts)

    async def held(self) -> Proof:
        beside = left_open(self.slowed, self.armed.hosts)
        found = await link_evidence(self.armed, self.witness, self.slowed, beside)
        return rules.peers_slow(found, self.armed.options.latency_s)

    async def gone(self) -> Proof:
        found = await link_evidence(self.armed, self.witness, self.slowed)
        return rules.peers_quick(found, self.armed.options.latency_s)
