"""`stop`: SIGTERM, as by an operator or a package manager."""

from faults.core.actions import ENDING_S, Start, Stop
from faults.core.kind import Compiled, ResolvedFault
from faults.core.model import Proof
from faults.kinds.families import process_fault
from faults.kinds.processes import rules
from faults.kinds.processes.commanded import CommandedKill
from faults.kinds.processes.kill import Killed

STOPPED_LIMIT_S = 30.0  # a broker ends in its own time


class Stopped(Killed):
    async def held_at(self, place: str) -> Proof:
        return rules.stop_held(await self.witness.process(place))


def _compile(fault: ResolvedFault) -> Compiled:
    starts = tuple(Start(place, ending_s=ENDING_S, after="stop") for place in fault.places)
    return Compiled(tuple(map(Stop, fault.places)), starts)


STOP = process_fault(
    name="stop",
    title="SIGTERM to every broker process of the host; each shuts down cleanly, however long "
    "that takes",
    undone_by="the processes are started again, on their own data",
    may_stay=True,
    held_limit_s=STOPPED_LIMIT_S,
    waits_for_silence=False,
    silences_peers=False,
    ends_broker=True,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=True,
    actions=(Stop, Start),
    compile=_compile,
    verify=Stopped,
    verify_commanded=CommandedKill,
)
