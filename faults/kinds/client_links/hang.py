"""`hang`: a link that lives and carries nothing, as behind a firewall that lost its table."""

from dataclasses import dataclass, field

from faults.core.actions import STREAMS, AddToxic, RemoveToxic
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.model import DOWN, ROUND, UP, Armed, Proof, Replies, Words
from faults.core.options import AffectedClients, Option
from faults.core.replies import silent
from faults.core.witness import SeesLinks
from faults.kinds.client_links import rules
from faults.kinds.client_links.canaries import both_ways, reopened
from faults.kinds.families import client_link_fault

DIRECTION = Option(
    "direction",
    "of a hang: the direction that passes nothing",
    "both",
    ("both", "to_broker", "to_client"),
)
_STREAMS_OF = {"both": STREAMS, "to_broker": STREAMS[:1], "to_client": STREAMS[1:]}


@dataclass(frozen=True, slots=True)
class HangOptions(AffectedClients):
    direction: str = DIRECTION.field()

    @property
    def needs_greeting(self) -> str:
        if self.direction != "to_broker":
            return ""
        return "direction = 'to_broker' cannot be verified; use direction = 'both'"


@dataclass(slots=True)
class Hung:
    """The first check of its end replaces the canaries by fresh ones. The old ones are checked
    once, before that."""

    armed: Armed
    witness: SeesLinks
    released: Replies = field(default_factory=dict)
    held_checked: bool = False

    async def ready(self) -> None:
        """Opening the canaries has shown that the links work."""

    async def held(self) -> Proof:
        heard = await both_ways(self.witness, self.armed, Words(UP), Words(DOWN))
        return rules.hang_held(heard, self.armed.proxies, HangOptions.of(self.armed).direction)

    async def gone(self) -> Proof:
        names = self.armed.proxies
        if not self.held_checked:
            replies = await self.witness.words(self.armed, Words(ROUND))
            stuck = [name for name in names if name in replies and silent(replies[name])]
            if stuck:
                return Proof(ok=False, detail="", doubt=f"still silent: {', '.join(stuck)}")
            self.released, self.held_checked = replies, True
        await reopened(self.witness, self.armed)
        fresh = await self.witness.words(self.armed, Words(ROUND))
        return rules.hang_gone(fresh, self.released, names)


def _compile(fault: ResolvedFault) -> Compiled:
    """A bandwidth of 0: the only toxic that holds bytes and gives them back."""
    streams = _STREAMS_OF[HangOptions.of(fault).direction]
    stall = AddToxic(fault.proxies, fault.mark, "bandwidth", streams, (("rate", 0),))
    return Compiled((stall,), (RemoveToxic(fault.proxies, fault.mark),))


HANG = client_link_fault(
    name="hang",
    title="the links of clients to the host stay open but carry no data, one way or both ways",
    undone_by="the links carry data again; held data is delivered",
    options=HangOptions,
    needs=(),
    excludes=Excludes.NOTHING,
    hides=(Sight.CLIENT_LINKS,),
    canaries_speak=True,
    counts_bytes=False,
    waits_for_silence=True,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=True,
    spares_disk=None,
    actions=(AddToxic, RemoveToxic),
    compile=_compile,
    verify=Hung,
)
