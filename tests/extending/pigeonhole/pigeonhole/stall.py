"""`stall_disk`: a node's disk takes nothing for a while. mqproof.faults

Done by a word of the node's own, and seen by its answer to a question. Its undo is a word, too,
which lies in the journal, where the healing process finds it.
"""

import json
from dataclasses import dataclass

from faults.core.actions import Say
from faults.core.kind import HELD_LIMIT_S, Compiled, Excludes, Kind, ResolvedFault, Sight
from faults.core.mechanisms import COMPOSE, EXTERNAL, LOCAL
from faults.core.model import Armed, FaultError, Proof
from faults.core.options import FaultOptions, Option
from faults.core.replies import doubt, proven
from faults.core.targets import HOST
from faults.core.witness import SeesAnswers

STALL, FLOW = '{"do":"stall","on":true}\n', '{"do":"stall","on":false}\n'
STATE = '{"do":"state"}\n'
WAITING = Option("waiting", "messages that wait before it counts as active", 1, least=1, most=100)
_ELSEWHERE = "its nodes run as subprocesses only"


@dataclass(frozen=True, slots=True)
class StallOptions(FaultOptions):
    waiting: int = WAITING.field()


@dataclass(slots=True)
class Stalled:
    armed: Armed
    witness: SeesAnswers

    async def ready(self) -> None:
        proof = await self.gone()
        if not proof.ok:
            raise FaultError(proof.doubt)

    async def held(self) -> Proof:
        """That something waits: that the disk is stalled, is only what the node was reported."""
        said = await self._said()
        least, unstored = StallOptions.of(self.armed).waiting, said.get("unstored")
        if said.get("stalled") is not True or not isinstance(unstored, int) or unstored < least:
            return doubt(f"it says {said}")
        return proven("its disk is stalled, and messages wait for it")

    async def gone(self) -> Proof:
        said = await self._said()
        if said.get("stalled") is not False:
            return doubt(f"it says {said}")
        return proven("its disk takes what comes")

    async def _said(self) -> dict[str, object]:
        said = json.loads(await self.witness.said(self.armed.host, STATE))
        return dict(said)


def _compile(fault: ResolvedFault) -> Compiled:
    stall = Say(fault.host, STALL, done='{"say":"stalled"')
    flow = Say(fault.host, FLOW, done='{"say":"flowing"', needed=False)
    return Compiled((stall,), (flow,))


STALL_DISK = Kind(
    name="stall_disk",
    title="the disk of a Pigeonhole node takes nothing: what comes in waits unconfirmed",
    applies_to=HOST,
    only_on=("pigeonhole",),
    offers={LOCAL: "word"},
    by_peer_links={},
    why_not={COMPOSE: _ELSEWHERE, EXTERNAL: _ELSEWHERE},
    undone_by="what waited is stored and confirmed",
    options=StallOptions,
    needs=(),
    needs_all=(),
    may_stay=False,
    strikes_processes=False,
    excludes=Excludes.PLACE,
    seen_by=(),
    hides=(Sight.CLIENT_LINKS,),
    repeats=False,
    canaries_speak=False,
    counts_bytes=False,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=False,
    ends_client=False,
    silences_peers=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(Say,),
    compile=_compile,
    verify=Stalled,
    verify_commanded=None,
)
