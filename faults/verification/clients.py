"""Looks at clients: their processes, and whether they answer the harness."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from faults.model import Armed, ProcessState, Proof, Replies, Witness
from faults.verify import clients as rules


@dataclass(slots=True)
class ClientCrashLook:
    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        clients = self.armed.clients
        states = await _states(self.witness, clients)
        return rules.crash_held(states, await self.witness.connected(clients))

    async def gone(self) -> Proof:
        clients = self.armed.clients
        found = await asyncio.gather(*(self.witness.successor(client) for client in clients))
        return rules.crash_gone(dict(zip(clients, found, strict=True)))


@dataclass(slots=True)
class ClientFreezeLook:
    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        states = await _states(self.witness, self.armed.clients)
        still = [client for client, state in states.items() if state.frozen]
        return rules.freeze_held(states, await _answers(self.witness, still))

    async def gone(self) -> Proof:
        states = await _states(self.witness, self.armed.clients)
        running = [client for client, state in states.items() if not state.frozen]
        return rules.freeze_gone(states, await _answers(self.witness, running))


async def _states(witness: Witness, clients: tuple[str, ...]) -> dict[str, ProcessState]:
    states = await asyncio.gather(*(witness.client(client) for client in clients))
    return dict(zip(clients, states, strict=True))


async def _answers(witness: Witness, clients: Iterable[str]) -> Replies:
    clients = tuple(clients)
    replies = await asyncio.gather(*(witness.answers(client) for client in clients))
    return dict(zip(clients, replies, strict=True))
