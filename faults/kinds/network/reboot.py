"""`reboot`: a host that loses its network, then its processes, without any notice to its peers."""

from faults.core.actions import DoCommand, Isolate, Kill, Rejoin, Start, UndoCommand
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.mechanisms import COMMAND, COMPOSE, CONTAINER, EXTERNAL, LOCAL, PACKET_FILTER
from faults.core.model import Proof
from faults.core.options import FaultOptions
from faults.core.replies import both
from faults.core.targets import HOST
from faults.kinds.families import network_fault
from faults.kinds.network.black_hole import Isolated, isolate
from faults.kinds.network.commanded import CommandedReboot, commanded
from faults.kinds.processes.rules import kill_gone, kill_held
from faults.polling import gather


class Rebooted(Isolated):
    """Cut off and killed; back when it is reached, runs and answers."""

    async def held(self) -> Proof:
        killed = kill_held(await self.witness.process(self.armed.host))
        return both(killed, await self.isolated()) if killed.ok else killed

    async def gone(self) -> Proof:
        joined, state, greets = await gather(
            Isolated.gone(self),
            self.witness.process(self.armed.host),
            self.witness.greets(self.armed.host),
        )
        started = kill_gone(state, greets)
        return both(joined, started) if joined.ok else joined


def _compile(fault: ResolvedFault) -> Compiled:
    """Cut off first: no FIN or RST of what the kernel closes leaves the host."""
    if fault.mechanism == COMMAND:
        return commanded(fault, "reboot")
    network = isolate(fault)
    kills, starts = tuple(map(Kill, fault.places)), tuple(map(Start, fault.places))
    return Compiled((*network.actions, *kills), (*network.undo, *starts))


REBOOT = network_fault(
    name="reboot",
    title="the host drops every packet, then SIGKILL to its processes, without any notice",
    applies_to=HOST,
    offers={COMPOSE: f"{PACKET_FILTER}, {CONTAINER}", EXTERNAL: COMMAND},
    by_peer_links={},
    why_not={
        LOCAL: "a host without power does not answer, but the kernel of this machine refuses "
        "connections to a dead process at once; only a network namespace could prevent that",
    },
    undone_by="the filter is removed, then the processes are started again",
    options=FaultOptions,
    needs_all=(),
    excludes=Excludes.PLACE,
    hides=(Sight.PEER_LINKS, Sight.CLIENT_LINKS, Sight.BROKER),
    repeats=False,
    ends_broker=True,
    takes_page_cache=False,
    silences_clients=True,
    spares_disk=True,
    actions=(Isolate, Rejoin, Kill, Start, DoCommand, UndoCommand),
    compile=_compile,
    verify=Rebooted,
    verify_commanded=CommandedReboot,
)
