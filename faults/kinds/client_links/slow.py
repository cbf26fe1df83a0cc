"""`slow`: links that are late or narrow, as a WAN or a busy switch."""

from dataclasses import dataclass, field

from faults.core.actions import STREAMS, AddToxic, RemoveToxic
from faults.core.kind import Compiled, Excludes, ResolvedFault
from faults.core.model import DOWN, UP, Armed, FaultError, Proof, Replies
from faults.core.options import LATENCY, AffectedClients, Option, milliseconds
from faults.core.replies import is_silent
from faults.core.witness import SeesLinks
from faults.kinds.client_links import flow
from faults.kinds.client_links.canaries import both_ways, reopened
from faults.kinds.families import client_link_fault

RATE_KB_MAX = 5_000  # a broker may not be faster than that by itself
RATE = Option("rate", "KB (1,000 bytes) per second and direction", 0, least=1, most=RATE_KB_MAX)


@dataclass(frozen=True, slots=True)
class SlowOptions(AffectedClients):
    latency_s: float = LATENCY.field()
    rate_kb: int = RATE.field()


@dataclass(slots=True)
class Slowed:
    """As with a hang, held canaries are asked once before fresh ones replace them."""

    armed: Armed
    witness: SeesLinks
    released: Replies = field(default_factory=dict)
    held_checked: bool = False

    async def ready(self) -> None:
        """If a link is slow already, slowness would prove nothing."""
        for way in (UP, DOWN):
            replies = await self.witness.words(self.armed, self.slowness.words(way, flow.ROUNDS))
            if late := [n for n in self.armed.proxies if not self.slowness.quick(replies[n])]:
                raise FaultError(f"slow already, {way}: {flow.timed(replies, late)}")

    @property
    def slowness(self) -> flow.Slowness:
        options = SlowOptions.of(self.armed)
        return flow.Slowness.of(options.latency_s, options.rate_kb)

    async def held(self) -> Proof:
        ways = (self.slowness.words(UP), self.slowness.words(DOWN))
        heard = await both_ways(self.witness, self.armed, *ways)
        return flow.slow_held(heard, self.armed.proxies, self.slowness)

    async def gone(self) -> Proof:
        names, words = self.armed.proxies, self.slowness.words(DOWN, flow.ROUNDS)
        if not self.held_checked:
            replies = await self.witness.words(self.armed, words)
            late = [name for name in names if self.slowness.slow(replies.get(name))]
            if late:
                return Proof(ok=False, detail="", doubt=f"still slow: {', '.join(late)}")
            # Another fault may hold the links: what was held is asked again when that has ended.
            if mute := [name for name in names if is_silent(replies.get(name))]:
                return Proof(ok=False, detail="", doubt=f"still silent: {', '.join(mute)}")
            self.released, self.held_checked = replies, True
        await reopened(self.witness, self.armed)
        fresh = await self.witness.words(self.armed, words)
        return flow.slow_gone(fresh, self.released, names, self.slowness)


def _compile(fault: ResolvedFault) -> Compiled:
    """Each direction has the latency and the rate for itself."""
    options = SlowOptions.of(fault)
    found = {
        fault.mark: ("latency", "latency", milliseconds(options.latency_s)),
        f"{fault.mark}_rate": ("bandwidth", "rate", options.rate_kb),
    }
    slowing = {name: toxic for name, toxic in found.items() if toxic[2]}
    if not slowing:
        raise FaultError("slow: neither a latency nor a rate was given")
    arm = tuple(
        AddToxic(fault.proxies, name, type, STREAMS, ((attribute, value),))
        for name, (type, attribute, value) in slowing.items()
    )
    return Compiled(arm, tuple(RemoveToxic(fault.proxies, name) for name in slowing))


SLOW = client_link_fault(
    name="slow",
    title="data on the links of clients to the host is delayed, in each direction by the "
    "latency (a round trip by twice that), and limited to the rate",
    undone_by="held data is delivered at once, and no data is held any more",
    options=SlowOptions,
    needs=("latency", "rate"),
    excludes=Excludes.NOTHING,
    hides=(),
    canaries_speak=True,
    counts_bytes=False,
    waits_for_silence=True,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(AddToxic, RemoveToxic),
    compile=_compile,
    verify=Slowed,
)
