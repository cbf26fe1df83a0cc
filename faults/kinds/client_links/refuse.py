"""`refuse`: links end, and no process listens any more, as if a listener is down."""

from faults.core.actions import Disable, Enable
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.model import Proof, Replies
from faults.core.options import AffectedClients
from faults.kinds.client_links import rules
from faults.kinds.client_links.ended import Ended
from faults.kinds.families import client_link_fault


class Refused(Ended):
    def judged(self, canaries: Replies, attempts: Replies) -> Proof:
        return rules.refuse_held(canaries, attempts, self.armed.proxies)


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled((Disable(fault.proxies),), (Enable(fault.proxies),))


REFUSE = client_link_fault(
    name="refuse",
    title="the links of clients to the host are closed, and new ones are refused",
    undone_by="new links are accepted again",
    options=AffectedClients,
    needs=(),
    excludes=Excludes.LISTENERS,
    hides=(Sight.CLIENT_LINKS,),
    canaries_speak=False,
    counts_bytes=False,
    waits_for_silence=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(Disable, Enable),
    compile=_compile,
    verify=Refused,
)
