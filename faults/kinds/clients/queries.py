"""Queries to several clients at once."""

from collections.abc import Iterable

from faults.core.model import ProcessState, Replies
from faults.core.witness import SeesClients
from faults.polling import gather


async def states_of(witness: SeesClients, clients: tuple[str, ...]) -> dict[str, ProcessState]:
    states = await gather(*(witness.client(client) for client in clients))
    return dict(zip(clients, states, strict=True))


async def answers_of(witness: SeesClients, clients: Iterable[str]) -> Replies:
    clients = tuple(clients)
    replies = await gather(*(witness.answers(client) for client in clients))
    return dict(zip(clients, replies, strict=True))
