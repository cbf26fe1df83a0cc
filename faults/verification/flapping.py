"""Looks at ways that come and go, again and again."""

import asyncio
import time
from dataclasses import dataclass, field

from faults.model import Proof
from faults.verification.asking import reaches
from faults.verification.network import PartitionLook, link_evidence
from faults.verify import flapping as rules

ROUND_S = 2.0  # one round of looks; its window can close at most so much later
PAUSE_S = 0.02
WAIT_S = (0.1, 1.0)  # of an attempt: about a third of the shorter phase, within these


@dataclass(slots=True)
class FlapLook(PartitionLook):
    """Remembers what it has seen. Its end is a partition's."""

    seen: list[rules.Moment] = field(default_factory=list)

    async def held(self) -> Proof:
        until = time.monotonic() + ROUND_S
        while True:
            self.seen.append(await self._moment())
            proof = rules.flap_held(self.seen)
            if proof.ok or time.monotonic() >= until:
                return proof
            await asyncio.sleep(PAUSE_S)

    @property
    def _wait_s(self) -> float:
        assert self.armed.rhythm is not None, self.armed
        least, most = WAIT_S
        return min(max(min(self.armed.rhythm) / 3, least), most)

    async def _moment(self) -> rules.Moment:
        ways, wait_s = self.ways, self._wait_s
        if self.by_links:
            found = await link_evidence(self.armed, self.witness, ways, (), wait_s)
            return rules.links_moment(found, wait_s)
        attempts, chains = await asyncio.gather(reaches(self.witness, ways, wait_s), self.chains())
        return rules.filter_moment(ways, chains, attempts, wait_s)
