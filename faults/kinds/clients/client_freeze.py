"""`client_freeze`: clients that stand still, as in a long garbage collection."""

from dataclasses import dataclass

from faults.core.actions import FreezeClients, ThawClients
from faults.core.kind import Compiled, ResolvedFault
from faults.core.model import Armed, Proof
from faults.core.witness import SeesClients
from faults.kinds.clients import rules
from faults.kinds.clients.queries import answers_of, states_of
from faults.kinds.families import client_fault


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


CLIENT_FREEZE = client_fault(
    name="client_freeze",
    title="the processes of the chosen clients are frozen; the kernel keeps TCP alive",
    undone_by="the processes continue, with all their data and connections",
    may_stay=False,
    waits_for_silence=True,
    ends_client=False,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(FreezeClients, ThawClients),
    compile=_compile,
    verify=ClientsFrozen,
)
