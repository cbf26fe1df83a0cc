"""`cut_after`: links that break after so many bytes, in the middle of what they carry."""

from dataclasses import dataclass

from faults.core.actions import STREAMS, AddToxic, RemoveToxic
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.model import DOWN, Armed, FaultError, Proof, Words
from faults.core.options import AffectedClients, Option
from faults.core.witness import SeesLinks
from faults.kinds.client_links import flow, rules
from faults.kinds.client_links.canaries import reopened
from faults.kinds.families import client_link_fault

BYTES_MAX = 10_000_000  # a canary has to send more through the broker
BYTES = Option(
    "bytes",
    "bytes that a connection may carry before it is closed",
    0,
    least=1,
    most=BYTES_MAX,
)
BYTES_A_SECOND = 1_000_000  # a large word may take so long, on its way through a broker


@dataclass(frozen=True, slots=True)
class CutAfterOptions(AffectedClients):
    bytes: int = BYTES.field()


@dataclass(slots=True)
class CutAfter:
    armed: Armed
    witness: SeesLinks

    async def ready(self) -> None:
        """Opening the canaries has shown that the links work."""

    @property
    def limit(self) -> int:
        return CutAfterOptions.of(self.armed).bytes

    @property
    def words(self) -> Words:
        """One more byte than may pass."""
        octets = self.limit + 1
        return Words(DOWN, octets, wait_s=octets / BYTES_A_SECOND)

    async def held(self) -> Proof:
        replies = await self.witness.words(self.armed, self.words)
        return flow.cut_after_held(replies, self.armed.proxies, self.limit)

    async def gone(self) -> Proof:
        await reopened(self.witness, self.armed)
        fresh = await self.witness.words(self.armed, self.words)
        return rules.answering(fresh, self.armed.proxies)


def _compile(fault: ResolvedFault) -> Compiled:
    limit = CutAfterOptions.of(fault).bytes
    if not limit:
        raise FaultError("cut_after: no number of bytes was given")
    cut = AddToxic(fault.proxies, fault.mark, "limit_data", STREAMS, (("bytes", limit),))
    return Compiled((cut,), (RemoveToxic(fault.proxies, fault.mark),))


CUT_AFTER = client_link_fault(
    name="cut_after",
    title="each link of clients to the host, existing or new, is closed (FIN) once `bytes` bytes "
    "have passed in one direction",
    undone_by="links carry any amount again; closed links stay closed",
    options=CutAfterOptions,
    needs=("bytes",),
    excludes=Excludes.NOTHING,
    hides=(Sight.CLIENT_LINKS,),
    canaries_speak=True,
    counts_bytes=True,
    waits_for_silence=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(AddToxic, RemoveToxic),
    compile=_compile,
    verify=CutAfter,
)
