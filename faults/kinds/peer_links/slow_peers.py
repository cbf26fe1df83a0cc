"""`slow_peers`: links between a host and its peers that are late."""

from dataclasses import dataclass

from faults.core import peers
from faults.core.actions import AddToxic, RemoveToxic
from faults.core.interference import undisturbed, visible
from faults.core.kind import Compiled, Excludes, ResolvedFault
from faults.core.mechanisms import COMPOSE, EXTERNAL, LOCAL, PROXY, TO_PEER_LINKS
from faults.core.model import Armed, FaultError, Proof
from faults.core.options import LATENCY, FaultOptions, milliseconds
from faults.core.shapes import Way, left_open, ways
from faults.core.targets import PEER_LINK
from faults.core.witness import SeesWays
from faults.kinds.families import network_fault
from faults.kinds.network.before import quick
from faults.kinds.network.ways import link_evidence
from faults.kinds.peer_links import rules


@dataclass(frozen=True, slots=True)
class SlowPeersOptions(FaultOptions):
    latency_s: float = LATENCY.field()


@dataclass(slots=True)
class PeersSlowed:
    armed: Armed
    witness: SeesWays

    @property
    def latency_s(self) -> float:
        return SlowPeersOptions.of(self.armed).latency_s

    @property
    def slowed(self) -> tuple[Way, ...]:
        return ways("one", self.armed.host, self.armed.hosts)

    async def ready(self) -> None:
        """If a link is slow already, slowness would prove nothing."""
        await quick(self.armed, self.witness.reach, self.latency_s / 2)

    async def held(self) -> Proof:
        slowed = visible(self.armed, self.slowed, timed=True)
        beside = visible(self.armed, left_open(self.slowed, self.armed.hosts), timed=True)
        found = await link_evidence(self.armed, self.witness, slowed, beside)
        slow = rules.peers_slow(found, self.latency_s)
        return undisturbed(slow, self.armed, slowed, timed=True)

    async def gone(self) -> Proof:
        slowed = visible(self.armed, self.slowed, timed=True)
        found = await link_evidence(self.armed, self.witness, slowed)
        return rules.peers_quick(found, self.latency_s)


def _compile(fault: ResolvedFault) -> Compiled:
    if len(fault.hosts) == 1:
        raise FaultError(f"{fault.host} is alone; it has no peers")
    latency_ms = milliseconds(SlowPeersOptions.of(fault).latency_s)
    if not latency_ms:
        raise FaultError("slow_peers: no latency was given")
    slowed = ways("one", fault.host, fault.hosts)
    toxics = peers.delay(slowed, fault.mark, fault.mesh, latency_ms)
    return Compiled(toxics, (peers.release(slowed, fault.mark, fault.mesh),))


SLOW_PEERS = network_fault(
    name="slow_peers",
    title="data between the host and its peers is delayed, in each direction by the latency",
    applies_to=PEER_LINK,
    offers={LOCAL: PROXY},
    by_peer_links=TO_PEER_LINKS,
    why_not={
        COMPOSE: "direct links between peers pass no proxy",
        EXTERNAL: "the brokers' ways to each other pass no proxy of mqproof's",
    },
    undone_by="held data is delivered at once, and no data is held any more",
    options=SlowPeersOptions,
    needs_all=("latency",),
    excludes=Excludes.NOTHING,
    hides=(),
    repeats=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(AddToxic, RemoveToxic),
    compile=_compile,
    verify=PeersSlowed,
    verify_commanded=None,
)
