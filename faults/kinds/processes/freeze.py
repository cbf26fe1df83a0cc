"""`freeze`: SIGSTOP, as a machine that swaps or a virtual one that is moved."""

from faults.core.actions import Freeze, Thaw
from faults.core.kind import HELD_LIMIT_S, Compiled, ResolvedFault
from faults.core.model import Proof
from faults.kinds.families import process_fault
from faults.kinds.processes import rules
from faults.kinds.processes.commanded import CommandedFreeze
from faults.kinds.processes.everywhere import EveryPlace


class Frozen(EveryPlace):
    async def held_at(self, place: str) -> Proof:
        state = await self.witness.process(place)
        greets = await self.witness.greets(place) if state.frozen else None
        return rules.freeze_held(state, greets)

    async def gone_at(self, place: str) -> Proof:
        state = await self.witness.process(place)
        runs_on = state.running and not state.frozen
        greets = await self.witness.greets(place) if runs_on else None
        return rules.freeze_gone(state, greets)


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled(tuple(map(Freeze, fault.places)), tuple(map(Thaw, fault.places)))


FREEZE = process_fault(
    name="freeze",
    title="every broker process of the host is frozen; its kernel keeps TCP alive",
    undone_by="the processes continue, with all their data and connections",
    may_stay=False,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=True,
    silences_peers=True,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=True,
    spares_disk=True,
    actions=(Freeze, Thaw),
    compile=_compile,
    verify=Frozen,
    verify_commanded=CommandedFreeze,
)
