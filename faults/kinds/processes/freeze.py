"""`freeze`: SIGSTOP, as a machine that swaps or a virtual one that is moved."""

from faults.actions import Freeze, Thaw
from faults.kind import HELD_LIMIT_S, Compiled, Excludes, Kind, ResolvedFault, Sight
from faults.kinds.processes import rules
from faults.kinds.processes.commanded import CommandedFreeze
from faults.kinds.processes.everywhere import EveryPlace
from faults.mechanisms import TO_PROCESSES
from faults.model import Proof
from faults.options import FaultOptions
from faults.targets import HOST


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


FREEZE = Kind(
    name="freeze",
    title="every broker process of the host is frozen; its kernel keeps TCP alive",
    applies_to=HOST,
    only_on=(),
    offers=TO_PROCESSES,
    by_peer_links={},
    why_not={},
    undone_by="the processes continue, with all their data and connections",
    options=FaultOptions,
    needs=(),
    needs_all=(),
    may_stay=False,
    strikes_processes=True,
    excludes=Excludes.PLACE,
    seen_by=(),
    hides=(Sight.CLIENT_LINKS, Sight.BROKER),
    repeats=False,
    canaries_speak=False,
    counts_bytes=False,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=True,
    ends_client=False,
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
