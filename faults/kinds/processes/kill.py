"""`kill`: SIGKILL, as by the OOM killer."""

from faults.actions import Kill, Start
from faults.kind import HELD_LIMIT_S, Compiled, Excludes, Kind, ResolvedFault, Sight
from faults.kinds.processes import rules
from faults.kinds.processes.commanded import CommandedKill
from faults.kinds.processes.everywhere import EveryPlace
from faults.mechanisms import TO_PROCESSES
from faults.model import Proof
from faults.options import FaultOptions
from faults.targets import HOST


class Killed(EveryPlace):
    async def held_at(self, place: str) -> Proof:
        return rules.kill_held(await self.witness.process(place))

    async def gone_at(self, place: str) -> Proof:
        state = await self.witness.process(place)
        greets = await self.witness.greets(place) if state.running else None
        return rules.kill_gone(state, greets)


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled(tuple(map(Kill, fault.places)), tuple(map(Start, fault.places)))


KILL = Kind(
    name="kill",
    title="SIGKILL to every broker process of the host",
    applies_to=HOST,
    only_on=(),
    offers=TO_PROCESSES,
    by_peer_links={},
    why_not={},
    undone_by="the processes are started again, on their own data",
    options=FaultOptions,
    needs=(),
    needs_all=(),
    may_stay=True,
    strikes_processes=True,
    excludes=Excludes.PLACE,
    seen_by=(),
    hides=(Sight.CLIENT_LINKS, Sight.BROKER),
    repeats=False,
    canaries_speak=False,
    counts_bytes=False,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=False,
    ends_client=False,
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
