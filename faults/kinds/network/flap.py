"""`flap`: a partition that comes and goes, as with a bad cable."""

from dataclasses import dataclass, field

from faults.core.actions import AddToxic, Cut, Join, RemoveToxic
from faults.core.interference import visible
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.mechanisms import NO_NETWORK, TO_NETWORK, TO_PEER_LINKS
from faults.core.model import FaultError, Proof
from faults.core.options import Option
from faults.core.targets import HOST
from faults.kinds.families import network_fault
from faults.kinds.network import flap_rules as rules
from faults.kinds.network.partition import Partitioned, PartitionOptions, cut
from faults.kinds.network.ways import link_evidence
from faults.polling import gather, reaches, repeated

ROUND_S = 2.0  # one round of looks; its window can close at most so much later
PAUSE_S = 0.02
WAIT_S = (0.1, 1.0)  # of an attempt: about a third of the shorter phase, within these
PHASE_S_MIN = 0.2  # a change takes 0.03 s by proxy, 0.1 to 0.2 s in containers
DOWN = Option("down", "of a flap: length of each cut", 0.0, least=PHASE_S_MIN)
UP = Option("up", "of a flap: length of each pause between cuts", 0.0, least=PHASE_S_MIN)


@dataclass(frozen=True, slots=True)
class FlapOptions(PartitionOptions):
    down_s: float = DOWN.field()
    up_s: float = UP.field()

    @property
    def rhythm(self) -> tuple[float, float] | None:
        beat = self.down_s, self.up_s
        return beat if all(beat) else None

    def window_problem(self, lasts_s: float) -> str:
        if self.rhythm is None or lasts_s > sum(self.rhythm):
            return ""
        return (
            f"a flap is seen when it was cut, joined and cut again: its window must last longer "
            f"than down and up together ({sum(self.rhythm):g} s)"
        )


@dataclass(slots=True)
class Flapping(Partitioned):
    """Remembers what it has seen. Its end is a partition's."""

    seen: list[rules.Moment] = field(default_factory=list)

    async def held(self) -> Proof:
        return await repeated(self._look, ROUND_S, PAUSE_S)

    async def _look(self) -> Proof:
        self.seen.append(await self._moment())
        return rules.flap_held(self.seen)

    @property
    def _wait_s(self) -> float:
        assert self.armed.rhythm is not None, self.armed
        least, most = WAIT_S
        return min(max(min(self.armed.rhythm) / 3, least), most)

    async def _moment(self) -> rules.Moment:
        ways, wait_s = visible(self.armed, self.ways), self._wait_s
        if not ways:
            return rules.Moment.UNSURE
        if self.by_links:
            found = await link_evidence(self.armed, self.witness, ways, (), wait_s)
            moment = rules.links_moment(found, wait_s)
            return moment if visible(self.armed, ways) == ways else rules.Moment.UNSURE
        attempts, chains = await gather(reaches(self.witness, ways, wait_s), self.chains())
        return rules.filter_moment(self.ways, chains, attempts, wait_s)


def _compile(fault: ResolvedFault) -> Compiled:
    """The first cut and the last join; who performs them plays the rhythm in between."""
    if fault.options.rhythm is None:
        raise FaultError("flap: how long it is cut, or joined, was not given")
    return cut(fault)


FLAP = network_fault(
    name="flap",
    title="a partition that comes and goes, cut for `down` and joined for `up` in turn",
    applies_to=HOST,
    offers=TO_NETWORK,
    by_peer_links=TO_PEER_LINKS,
    why_not=NO_NETWORK,
    undone_by="the filter is removed",
    options=FlapOptions,
    needs_all=("down", "up"),
    excludes=Excludes.NOTHING,
    hides=(Sight.PEER_LINKS,),
    repeats=True,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(Cut, Join, AddToxic, RemoveToxic),
    compile=_compile,
    verify=Flapping,
    verify_commanded=None,
)
