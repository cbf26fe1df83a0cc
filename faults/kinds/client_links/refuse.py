"""`refuse`: links end, and no process listens any more, as if a listener is down."""

from faults.actions import Disable, Enable
from faults.kind import HELD_LIMIT_S, Compiled, Excludes, Kind, ResolvedFault, Sight
from faults.kinds.client_links import rules
from faults.kinds.client_links.ended import Ended
from faults.mechanisms import TO_CLIENT_LINKS
from faults.model import Proof, Replies
from faults.options import AffectedClients
from faults.targets import CLIENT_LINK


class Refused(Ended):
    def judged(self, canaries: Replies, attempts: Replies) -> Proof:
        return rules.refuse_held(canaries, attempts, self.armed.proxies)


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled((Disable(fault.proxies),), (Enable(fault.proxies),))


REFUSE = Kind(
    name="refuse",
    title="the links of clients to the host are closed, and new ones are refused",
    applies_to=CLIENT_LINK,
    only_on=(),
    offers=TO_CLIENT_LINKS,
    by_peer_links={},
    why_not={},
    undone_by="new links are accepted again",
    options=AffectedClients,
    needs=(),
    needs_all=(),
    may_stay=False,
    strikes_processes=False,
    excludes=Excludes.LISTENERS,
    seen_by=(Sight.CLIENT_LINKS,),
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
    actions=(Disable, Enable),
    compile=_compile,
    verify=Refused,
    verify_commanded=None,
)
