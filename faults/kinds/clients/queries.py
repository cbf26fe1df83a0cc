"""Queries to several clients at once."""

import asyncio
from collections.abc import Iterable

from faults.model import ProcessState, Replies
from faults.witness import SeesClients


async def states_of(witness: SeesClients, clients: tuple[str, ...]) -> dict[str, ProcessState]:
    states = await asyncio.gather(*(witness.client(client) for client in clients))
    return dict(zip(clients, states, strict=True))


async def answers_of(witness: SeesClients, clients: Iterable[str]) -> Replies:
    clients = tuple(clients)
    replies = await asyncio.gather(*(witness.answers(client) for client in clients))
    return dict(zip(clients, replies, strict=True))
