"""`client_crash`: clients that die without a word."""

from dataclasses import dataclass

from faults.core.actions import KillClients, ReplaceClients
from faults.core.kind import Compiled, ResolvedFault
from faults.core.model import Armed, Proof
from faults.core.witness import SeesClients
from faults.kinds.clients import rules
from faults.kinds.clients.queries import states_of
from faults.kinds.families import client_fault
from faults.polling import gather


@dataclass(slots=True)
class ClientsCrashed:
    armed: Armed
    witness: SeesClients

    async def ready(self) -> None:
        """The load has shown that they run."""

    async def held(self) -> Proof:
        clients = self.armed.clients
        states = await states_of(self.witness, clients)
        return rules.crash_held(states, await self.witness.connected(clients))

    async def gone(self) -> Proof:
        clients = self.armed.clients
        found = await gather(*(self.witness.successor(client) for client in clients))
        return rules.crash_gone(dict(zip(clients, found, strict=True)))


def _compile(fault: ResolvedFault) -> Compiled:
    return Compiled((KillClients(fault.clients),), (ReplaceClients(fault.clients),))


CLIENT_CRASH = client_fault(
    name="client_crash",
    title="SIGKILL to the processes of the chosen clients; their connections are closed",
    undone_by="new clients replace them: the same queues and endpoints, new numbers",
    may_stay=True,
    waits_for_silence=False,
    ends_client=True,
    ends_broker=False,
    takes_page_cache=False,
    silences_clients=False,
    spares_disk=None,
    actions=(KillClients, ReplaceClients),
    compile=_compile,
    verify=ClientsCrashed,
)
