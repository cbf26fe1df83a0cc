"""`close`: every link ends once, as when a load balancer is reloaded."""

from faults.actions import Disable, Enable
from faults.kind import HELD_LIMIT_S, Compiled, Excludes, Kind, ResolvedFault, Sight
from faults.kinds.client_links import rules
from faults.kinds.client_links.ended import Ended
from faults.mechanisms import TO_CLIENT_LINKS
from faults.model import Proof, Replies
from faults.options import AffectedClients
from faults.targets import CLIENT_LINK


class Closed(Ended):
    def judged(self, canaries: Replies, attempts: Replies) -> Proof:
        return rules.close_held(canaries, attempts, self.armed.proxies)


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled((Disable(fault.proxies), Enable(fault.proxies)), (Enable(fault.proxies),))


CLOSE = Kind(
    name="close",
    title="the links of clients to the host are closed at once (FIN; RST if bytes were in "
    "flight); new ones are accepted",
    applies_to=CLIENT_LINK,
    only_on=(),
    offers=TO_CLIENT_LINKS,
    by_peer_links={},
    why_not={},
    undone_by="nothing remains to be undone",
    options=AffectedClients,
    needs=(),
    needs_all=(),
    may_stay=False,
    strikes_processes=False,
    excludes=Excludes.LISTENERS,
    seen_by=(Sight.CLIENT_LINKS,),
    hides=(),
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
    actions=(Disable, Enable),
    compile=_compile,
    verify=Closed,
    verify_commanded=None,
)
