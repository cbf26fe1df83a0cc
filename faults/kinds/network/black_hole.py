"""`black_hole`: a host that runs and is cut off from everybody: from its peers, from clients."""

from dataclasses import dataclass

from faults.core.actions import DoCommand, Isolate, Rejoin, UndoCommand, both_ways
from faults.core.interference import undisturbed, visible
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.mechanisms import COMMAND, PROXY, TO_NETWORK_OF_HOST
from faults.core.model import Armed, Drops, Proof, Replies
from faults.core.options import FaultOptions
from faults.core.replies import DIRECT, both, proven
from faults.core.shapes import Way, left_open
from faults.core.targets import HOST
from faults.core.witness import SeesHosts
from faults.kinds.families import network_fault
from faults.kinds.network import isolation_rules as rules
from faults.kinds.network.before import clients_enter, entries, speaking
from faults.kinds.network.commanded import CommandedBlackHole, commanded
from faults.kinds.network.rules import HIDDEN, REMOVED, cut_gone
from faults.kinds.network.ways import hears
from faults.polling import gather, reaches


@dataclass(slots=True)
class Isolated:
    armed: Armed
    witness: SeesHosts

    async def ready(self) -> None:
        """Old silence of links proves nothing new; a packet filter is seen by its own counters."""
        if self.armed.mechanism == PROXY:
            await speaking(self.armed, self.witness.reach)
            await clients_enter(self.armed, self.witness)

    async def held(self) -> Proof:
        if self.armed.host in self.armed.meanwhile().mute:
            return await self.isolated()
        process = rules.runs(await self.witness.process(self.armed.host))
        return both(process, await self.isolated()) if process.ok else process

    async def gone(self) -> Proof:
        joined = await self.joined()
        if not joined.ok:
            return joined
        found, others = await entries(self.armed, self.witness), self.armed.meanwhile()
        if self.armed.mechanism == PROXY and not found and (others.links or others.mute):
            return HIDDEN  # no chain shows that the links of clients are free again
        return both(joined, rules.entered(found))

    async def isolated(self) -> Proof:
        if self.armed.mechanism == PROXY:
            mute, ways = self.armed.meanwhile().mute, visible(self.armed, self._ways)
            isolated = rules.links_isolated(await self._evidence(), mute)
            return undisturbed(isolated, self.armed, ways)
        before = await self._drops()
        if before is None:
            return Proof(ok=False, detail="", doubt="there is no chain of ours")
        evidence = await self._evidence()
        return rules.filter_isolated(evidence, before, await self._drops())

    async def joined(self) -> Proof:
        drops = None if self.armed.mechanism == PROXY else await self._drops()
        if drops is None and not self._ways:
            return proven(REMOVED)
        ways = self._ways_that_speak()
        if drops is None and not ways and self.armed.mechanism != PROXY:
            return proven("our chain is gone; other faults close the ways to peers")
        attempts = {} if drops is not None else await reaches(self.witness, ways)
        return cut_gone({self.armed.host: drops}, attempts)

    def _ways_that_speak(self) -> tuple[Way, ...]:
        """To attempt: of links those whose far end is no broker that another fault keeps mute."""
        if self.armed.mechanism != PROXY:
            return visible(self.armed, self._ways)
        mute = self.armed.meanwhile().mute
        carried = visible(self.armed, self._ways)
        return tuple(way[::-1] for way in carried if way[0] not in mute)

    @property
    def _ways(self) -> tuple[Way, ...]:
        host = self.armed.host
        return both_ways(host, tuple(peer for peer in self.armed.hosts if peer != host))

    async def _drops(self) -> Drops | None:
        (chain,) = (one.chain for one in self.armed.actions if isinstance(one, Isolate))
        return await self.witness.drops(self.armed.host, chain)

    async def _evidence(self) -> rules.IsolationEvidence:
        hosts = self.armed.hosts
        proxied = self.armed.mechanism == PROXY
        ask = hears if proxied else reaches
        attempts, found, beside, direct = await gather(
            ask(self.witness, visible(self.armed, self._ways)),
            self._entries(),
            ask(self.witness, visible(self.armed, left_open(self._ways, hosts))),
            reaches(self.witness, [(host, host) for host in hosts] if proxied else []),
        )
        direct_by_host = {host: reply for (host, _), reply in direct.items()}
        takes_clients = not proxied or (await self.witness.greets(self.armed.host)).answered
        return rules.IsolationEvidence(
            self.armed.host, attempts, found if takes_clients else {}, beside, direct_by_host
        )

    async def _entries(self) -> Replies:
        """Clients' ways that no other fault closes; and past every proxy, where that is no way
        around the fault."""
        if self.armed.mechanism == PROXY:
            return await entries(self.armed, self.witness)
        found, direct = await gather(
            entries(self.armed, self.witness), self.witness.greets(self.armed.host)
        )
        return {**found, DIRECT: direct}


def isolate(fault: ResolvedFault) -> Compiled:
    """Of a reboot: what comes before the kill, and is undone before the start."""
    return Compiled((Isolate(fault.host, fault.mark),), (Rejoin(fault.host, fault.mark),))


def _compile(fault: ResolvedFault) -> Compiled:
    return commanded(fault, "black_hole") if fault.mechanism == COMMAND else isolate(fault)


BLACK_HOLE = network_fault(
    name="black_hole",
    title="every packet of the host is dropped, clients' too; its processes run",
    applies_to=HOST,
    offers=TO_NETWORK_OF_HOST,
    by_peer_links={},
    why_not={},
    undone_by="the filter is removed",
    options=FaultOptions,
    needs_all=(),
    excludes=Excludes.NOTHING,
    hides=(Sight.PEER_LINKS, Sight.CLIENT_LINKS, Sight.BROKER),
    repeats=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=True,
    spares_disk=True,
    actions=(Isolate, Rejoin, DoCommand, UndoCommand),
    compile=_compile,
    verify=Isolated,
    verify_commanded=CommandedBlackHole,
)
