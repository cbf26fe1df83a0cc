"""`client_freeze`: clients that stand still, as in a long garbage collection."""

from dataclasses import dataclass

from faults.actions import FreezeClients, ThawClients
from faults.kind import HELD_LIMIT_S, Compiled, Excludes, Kind, ResolvedFault
from faults.kinds.clients import rules
from faults.kinds.clients.queries import answers_of, states_of
from faults.mechanisms import TO_CLIENTS
from faults.model import Armed, Proof
from faults.options import AffectedClients
from faults.targets import CLIENT
from faults.witness import SeesClients


@dataclass(slots=True)
class ClientsFrozen:
    armed: Armed
    witness: SeesClients

    async def ready(self) -> None:
        """The load has shown that they run."""

    async def held(self) -> Proof:
        states = await states_of(self.witness, self.armed.clients)
        still = [client for client, state in states.items() if state.frozen]
        return rules.freeze_held(states, await answers_of(self.witness, still))

    async def gone(self) -> Proof:
        states = await states_of(self.witness, self.armed.clients)
        running = [client for client, state in states.items() if not state.frozen]
        return rules.freeze_gone(states, await answers_of(self.witness, running))


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled((FreezeClients(fault.clients),), (ThawClients(fault.clients),))


CLIENT_FREEZE = Kind(
    name="client_freeze",
    title="the processes of the chosen clients are frozen; the kernel keeps TCP alive",
    applies_to=CLIENT,
    only_on=(),
    offers=TO_CLIENTS,
    by_peer_links={},
    why_not={},
    undone_by="the processes continue, with all their data and connections",
    options=AffectedClients,
    needs=(),
    needs_all=(),
    may_stay=False,
    strikes_processes=False,
    excludes=Excludes.CLIENTS,
    seen_by=(),
    hides=(),
    repeats=False,
    canaries_speak=False,
    counts_bytes=False,
    held_limit_s=HELD_LIMIT_S,
    waits_for_silence=True,
    ends_client=False,
    silences_peers=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(FreezeClients, ThawClients),
    compile=_compile,
    verify=ClientsFrozen,
    verify_commanded=None,
)
