"""`reset`: new links are taken and reset, as by a proxy whose server is gone."""

from faults.core.actions import STREAMS, AddToxic, Disable, Enable, RemoveToxic
from faults.core.kind import Compiled, Excludes, ResolvedFault, Sight
from faults.core.model import Proof, Replies
from faults.core.options import AffectedClients
from faults.kinds.client_links import rules
from faults.kinds.client_links.ended import Ended
from faults.kinds.families import client_link_fault


class Reset(Ended):
    def judged(self, canaries: Replies, attempts: Replies) -> Proof:
        return rules.reset_held(canaries, attempts, self.armed.proxies)


def _compile(fault: ResolvedFault) -> Compiled:
    """Toxiproxy resets only links that were made after the reset was added: the others are
    closed."""
    reset = AddToxic(fault.proxies, fault.mark, "reset_peer", STREAMS, (("timeout", 0),))
    arm = (Disable(fault.proxies), reset, Enable(fault.proxies))
    return Compiled(arm, (RemoveToxic(fault.proxies, fault.mark), Enable(fault.proxies)))


RESET = client_link_fault(
    name="reset",
    title="the links of clients to the host are closed (FIN); new ones are accepted, and reset "
    "(RST) at their first byte",
    undone_by="new links stay open",
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
    actions=(AddToxic, Disable, Enable, RemoveToxic),
    compile=_compile,
    verify=Reset,
)
