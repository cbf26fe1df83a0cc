"""Echo requests between hosts, around a fault of one host's packets; what both kinds share.

1. Ways that other active faults change are left out: they say nothing of this one.
2. Before the fault every way must be as it is without one: old loss proves nothing new.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from faults.core.interference import undisturbed, visible
from faults.core.mechanisms import NETEM, NETEM_MODULE
from faults.core.model import Armed, FaultError, PacketSamples, Proof
from faults.core.options import FaultOptions
from faults.core.replies import both
from faults.core.shapes import Way, left_open, pairs, ways
from faults.core.witness import SeesPackets
from faults.kinds.packets import rules
from faults.polling import gather

WAIT_S = 1.0  # for answers, beyond the delay that is meant
TRIES = 3  # a busy machine may be late now and then


@dataclass(frozen=True, slots=True)
class PacketOptions(FaultOptions):
    """The answers that both kinds' options have in common."""

    @property
    def kernel_module(self) -> str:
        return NETEM_MODULE

    def layout_problem(self, kind: str, hosts: int) -> str:
        if hosts < 2:
            return f"a {kind} is measured from other hosts, and there is one host"
        return ""


@dataclass(slots=True)
class Sampled(ABC):
    """The looks at a fault of packets. A kind says how it asks, and by which rules it judges."""

    armed: Armed
    witness: SeesPackets

    async def ready(self) -> None:
        assert self.armed.mechanism == NETEM, self.armed.mechanism
        proof = await self.gone()
        for _ in range(TRIES - 1):
            if proof.ok:
                break
            proof = await self.gone()
        if proof.ok and (beside := self._beside):
            proof = self.absent(await self._samples(beside))
        if not proof.ok:
            raise FaultError(f"before the fault: {proof.doubt}")

    async def held(self) -> Proof:
        host, own, beside = self.armed.host, self._ways, self._beside
        before = await self.witness.impairments(host)
        found = await self._samples((*own, *beside))
        after = await self.witness.impairments(host)
        by_host, others = ({way: found[way] for way in chosen} for chosen in (own, beside))
        present = self.present(rules.PacketEvidence(before, after, by_host, others))
        return undisturbed(present, self.armed, own, timed=True)

    async def gone(self) -> Proof:
        left = rules.none_left(await self.witness.impairments(self.armed.host))
        if not left.ok:
            return left
        return both(left, self.absent(await self._samples(self._ways)))

    @abstractmethod
    def requests(self) -> tuple[int, float]:
        """Return how many requests each way gets, and how long answers are waited for."""

    @abstractmethod
    def present(self, evidence: rules.PacketEvidence) -> Proof:
        """Return whether the fault holds."""

    @abstractmethod
    def absent(self, samples: rules.Samples) -> Proof:
        """Return whether these ways are as without the fault."""

    @property
    def _ways(self) -> tuple[Way, ...]:
        """Return the ways by which other hosts measure the host."""
        host = self.armed.host
        every = ((peer, host) for peer in self.armed.hosts if peer != host)
        return visible(self.armed, every, timed=True)

    @property
    def _beside(self) -> tuple[Way, ...]:
        hosts = self.armed.hosts
        others = left_open(ways("one", self.armed.host, hosts), hosts)
        return pairs(visible(self.armed, others, timed=True))

    async def _samples(self, chosen: tuple[Way, ...]) -> dict[Way, PacketSamples]:
        """All at once."""
        count, wait_s = self.requests()
        found = await gather(*(self.witness.echoes(*way, count, wait_s) for way in chosen))
        return dict(zip(chosen, found, strict=True))
