"""`close`: every link ends once, as when a load balancer is reloaded."""

from faults.core.actions import Disable, Enable
from faults.core.kind import Compiled, Excludes, ResolvedFault
from faults.core.model import Proof, Replies
from faults.core.options import AffectedClients
from faults.kinds.client_links import rules
from faults.kinds.client_links.ended import Ended
from faults.kinds.families import client_link_fault


class Closed(Ended):
    def judged(self, canaries: Replies, attempts: Replies) -> Proof:
        return rules.close_held(canaries, attempts, self.armed.proxies)


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled((Disable(fault.proxies), Enable(fault.proxies)), (Enable(fault.proxies),))


CLOSE = client_link_fault(
    name="close",
    title="the links of clients to the host are closed at once (FIN; RST if bytes were in "
    "flight); new ones are accepted",
    undone_by="nothing remains to be undone",
    options=AffectedClients,
    needs=(),
    excludes=Excludes.LISTENERS,
    hides=(),
    canaries_speak=False,
    counts_bytes=False,
    waits_for_silence=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(Disable, Enable),
    compile=_compile,
    verify=Closed,
)
