"""`partition`: hosts that lose each other, by a cut of some shape."""

from dataclasses import dataclass

from faults.core import peers
from faults.core.actions import (
    AddToxic,
    Cut,
    Disable,
    DoCommand,
    Enable,
    Join,
    RemoveToxic,
    UndoCommand,
)
from faults.core.interference import undisturbed, visible
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.mechanisms import (
    COMMAND,
    PACKET_FILTER,
    TO_NETWORK_OF_HOST,
    TO_PEER_LINKS,
    TOXIPROXY,
)
from faults.core.model import Armed, Drops, FaultError, Proof, Reply
from faults.core.options import FaultOptions, Option
from faults.core.shapes import SHAPES, Way, droppers, left_open, pairs, ways
from faults.core.targets import HOST
from faults.core.witness import SeesWays
from faults.kinds.families import network_fault
from faults.kinds.network import rules
from faults.kinds.network.before import speaking
from faults.kinds.network.commanded import CommandedPartition, commanded
from faults.kinds.network.ways import LINK_PROBES, chains, link_evidence
from faults.polling import gather, reaches

COMMANDED = "one"  # the shape that the owner's command for a partition of a host has
SHAPE = Option("shape", "of a partition: which hosts are separated", "one", tuple(SHAPES))


@dataclass(frozen=True, slots=True)
class PartitionOptions(FaultOptions):
    shape: str = SHAPE.field()

    @property
    def beyond_commands(self) -> str:
        if self.shape == COMMANDED:
            return ""
        return (
            f"a command cuts one host off from all others, so shape = {self.shape!r} "
            f"cannot be done here, only {COMMANDED!r}"
        )

    def layout_problem(self, kind: str, hosts: int) -> str:
        least = SHAPES[self.shape].hosts_min
        if hosts < 2:
            return f"a {kind} needs peers, and there is one host"
        if hosts < least:
            return f"the shape {self.shape} needs {least} hosts, and there are {hosts}"
        return ""


@dataclass(slots=True)
class Partitioned:
    armed: Armed
    witness: SeesWays

    @property
    def ways(self) -> tuple[Way, ...]:
        """Return the ways that are meant to be cut."""
        armed = self.armed
        return ways(PartitionOptions.of(armed).shape, armed.host, armed.hosts)

    @property
    def beside(self) -> tuple[Way, ...]:
        return left_open(self.ways, self.armed.hosts)

    @property
    def by_links(self) -> bool:
        return self.armed.mechanism != PACKET_FILTER

    async def ready(self) -> None:
        """Old silence of links proves nothing new; a packet filter is seen by its own counters."""
        if self.by_links:
            await speaking(self.armed, self.witness.reach)

    async def held(self) -> Proof:
        ways, beside = visible(self.armed, self.ways), visible(self.armed, self.beside)
        if not ways:
            return rules.HIDDEN
        if self.by_links:
            found = await link_evidence(self.armed, self.witness, ways, beside)
            return undisturbed(rules.links_cut(found), self.armed, ways)
        return await self._filter_cut(ways, beside)

    async def gone(self) -> Proof:
        if self.by_links:
            probe, mute = LINK_PROBES[self.armed.mechanism], self.armed.meanwhile().mute
            seen = [way for way in visible(self.armed, self.ways) if way[probe.end] not in mute]
            return rules.cut_gone({}, await probe.ask(self.witness, seen))
        found = await self.chains()
        chains = any(drops is not None for drops in found.values())
        ways = pairs(visible(self.armed, self.ways))
        return rules.cut_gone(found, {} if chains else await reaches(self.witness, ways))

    async def chains(self) -> dict[str, Drops | None]:
        return await chains(self.witness, droppers(self.ways), self.armed.mark)

    async def _filter_cut(self, ways: tuple[Way, ...], beside: tuple[Way, ...]) -> Proof:
        before = await self.chains()
        if any(drops is None for drops in before.values()):
            return Proof(ok=False, detail="", doubt="there is no chain of ours")
        # A handshake needs both directions.
        attempts, untouched, alive = await gather(
            reaches(self.witness, ways),
            reaches(self.witness, pairs(tuple(way for way in beside if way[::-1] in beside))),
            self._alive(ways),
        )
        after = await self.chains()
        hidden = tuple(way for way in self.ways if way not in ways)
        mute = self.armed.meanwhile().mute
        return rules.filter_cut(
            rules.CutEvidence(before, after, attempts, alive, untouched, hidden, mute)
        )

    async def _alive(self, ways: tuple[Way, ...]) -> dict[str, Reply]:
        """Return what the hosts that are attempted say to a host that the cut leaves them."""
        hosts = {to for _, to in ways}
        found = await reaches(self.witness, {(self._uncut_from(host), host) for host in hosts})
        return {to: reply for (_, to), reply in found.items()}

    def _uncut_from(self, host: str) -> str:
        cut = {frozenset(way) for way in (*self.ways, *self.armed.meanwhile().closed)}
        others = (other for other in self.armed.hosts if other != host)
        return next((other for other in others if frozenset((other, host)) not in cut), host)


def cut(fault: ResolvedFault) -> Compiled:
    """Of a flap: its first cut, and the last join."""
    shape, count = PartitionOptions.of(fault).shape, len(fault.hosts)
    if count == 1:
        raise FaultError(f"{fault.host} is alone; there is nothing to cut it from")
    if count < SHAPES[shape].hosts_min:
        raise FaultError(f"{count} hosts are too few for the shape {shape}")
    if fault.mechanism == COMMAND:
        return commanded(fault, "partition")
    closed = ways(shape, fault.host, fault.hosts)
    if fault.mechanism != TOXIPROXY:
        return Compiled((Cut(closed, fault.mark),), (Join(closed, fault.mark),))
    stalls = peers.stall(closed, fault.mark, fault.mesh)
    # What a short cut of a flap held comes late, as what the kernel sends again.
    assert fault.serving is not None, "the mesh has asked for it"
    if fault.serving.renewed and fault.options.rhythm is None:
        return Compiled(stalls, peers.renew(closed, fault.mark, fault.mesh))
    return Compiled(stalls, (peers.release(closed, fault.mark, fault.mesh),))


PARTITION = network_fault(
    name="partition",
    title="packets between hosts are dropped; `shape` says between which, and in which direction "
    "(default: the target and all others, both ways)",
    applies_to=HOST,
    offers=TO_NETWORK_OF_HOST,
    by_peer_links=TO_PEER_LINKS,
    why_not={},
    undone_by="the filter is removed",
    options=PartitionOptions,
    needs_all=(),
    excludes=Excludes.NOTHING,
    hides=(Sight.PEER_LINKS,),
    repeats=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(Cut, Join, AddToxic, RemoveToxic, Disable, Enable, DoCommand, UndoCommand),
    compile=cut,
    verify=Partitioned,
    verify_commanded=CommandedPartition,
)
