"""`kill`: SIGKILL, as by the OOM killer."""

from faults.core.actions import Kill, Start
from faults.core.kind import HELD_LIMIT_S, Compiled, ResolvedFault
from faults.core.model import Proof
from faults.kinds.families import process_fault
from faults.kinds.processes import rules
from faults.kinds.processes.commanded import CommandedKill
from faults.kinds.processes.everywhere import EveryPlace


class Killed(EveryPlace):
    async def held_at(self, place: str) -> Proof:
        return rules.kill_held(await self.witness.process(place))

    async def gone_at(self, place: str) -> Proof:
        state = await self.witness.process(place)
        greets = await self.witness.greets(place) if state.running else None
        return rules.kill_gone(state, greets)


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled(tuple(map(Kill, fault.places)), tuple(map(Start, fault.places)))


KILL = process_fault(
    name="kill",
    title="SIGKILL to every broker process of the host",
    undone_by="the processes are started again, on their own data",
    may_stay=True,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=False,
    silences_peers=False,
    ends_broker=True,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=True,
    actions=(Kill, Start),
    compile=_compile,
    verify=Killed,
    verify_commanded=CommandedKill,
)
