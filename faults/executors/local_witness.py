"""Looks at a cluster from outside with this machine's means: /proc, exit states, the agent's
questions; of hosts that are not ours, by their owner's commands.

1. A process is what /proc says of it; how it ended is known to its parent alone, and passed in.
2. A way across a cut is one new connection through the link of that direction: a node's peer port
   speaks first and at once, so silence is the link's. Past every proxy the same port is dialled
   directly.
3. A cut is not begun where a link is silent already: silence would prove nothing.
4. There are no packet filters here.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from faults.core.model import (
    Armed,
    Drops,
    FaultError,
    Impairment,
    PacketSamples,
    ProcessState,
    Replies,
    Reply,
    Successor,
    VerifyResult,
    Words,
)
from faults.core.peers import peer_link
from faults.executors import listeners
from faults.executors import local_processes as processes
from faults.executors.canaries import (
    WAIT_S,
    Canaries,
    Dial,
    Listed,
    and_listed,
    greets,
    reply_of,
    said,
)
from faults.executors.commands import Commands
from faults.executors.ports import Agent, AgentCalls, Clients, Failures
from faults.executors.service_ports import ServicePorts, worst


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses to dial, as (address, port): all that speaks to clients at each place (none:
    it cannot be dialled), and each host's peer port."""

    brokers: Mapping[str, tuple[tuple[str, int], ...]]
    peers: Mapping[str, tuple[str, int]]


class LocalWitness:
    """The witness of one cluster. `exit_code`: how what was started last at a place ended, None
    while it runs, or if its processes ended in different ways.

    `dial`: listeners by name, of workers and of peer links. `failures`: what the agent and
    `listed` raise in addition to FaultError. `commands`: a user's, for hosts that are not ours;
    their processes and the ways between them cannot be observed then.
    """

    def __init__(
        self,
        cluster: str,
        agent: AgentCalls,
        addresses: Addresses,
        dial: Dial,
        listed: Listed,
        service_ports: ServicePorts,
        exit_code: Callable[[str], int | None],
        failures: Failures = (),
        clients: Clients | None = None,
        commands: Commands | None = None,
    ) -> None:
        self._cluster = cluster
        self._agent = Agent(agent, failures)
        self._canaries = Canaries(self._agent, dial, service_ports)
        self._greeting = service_ports.greeting
        self._addresses = addresses
        self._dial = dial
        self._listed = listed
        self._exit_code = exit_code
        self._failures = failures
        self._clients = clients
        self._commands = commands

    async def prepare(self, armed: Armed) -> None:
        if armed.proxies:
            await self._canaries.open(armed, self._first(armed.places[0]))

    async def process(self, place: str) -> ProcessState:
        found = processes.of(self._cluster, processes.NODE, place)
        if not found:
            return ProcessState(running=False, exit_code=self._exit_code(place))
        frozen = all(running.stopped for running in found)
        return ProcessState(running=True, exit_code=None, frozen=frozen)

    async def drops(self, host: str, chain: str) -> Drops | None:  # noqa: ARG002  (the port's)
        return None

    async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
        way = self._addresses.peers[peer] if host == peer else self._dial(peer_link(host, peer))
        address, port = way
        return reply_of(await self._agent.call("hear", wait_s or WAIT_S, host=address, port=port))

    async def echoes(
        self,
        host: str,
        peer: str,  # noqa: ARG002  (the port's)
        count: int,  # noqa: ARG002
        wait_s: float,  # noqa: ARG002
    ) -> PacketSamples:
        raise FaultError(f"{host} has no network namespace of ours")

    async def impairments(self, host: str) -> dict[str, Impairment]:
        raise FaultError(f"{host} has no network namespace of ours")

    async def entries(self, host: str) -> Replies:
        address, port = self._first(host)
        found = await listeners.upstreams(self._agent)
        ways = [name for name, upstream in found.items() if upstream == f"{address}:{port}"]
        return await listeners.entries(self._agent, self._dial, ways, self._greeting)

    async def canaries(self, armed: Armed) -> Replies:
        return await self._canaries.ask(armed)

    async def words(self, armed: Armed, words: Words) -> Replies:
        return await self._canaries.say(armed, words)

    async def attempts(self, armed: Armed) -> Replies:
        return await self._canaries.attempts(armed, self._first(armed.places[0]))

    async def client(self, client: str) -> ProcessState:
        assert self._clients is not None, "a witness of a run gets its clients"
        found = processes.of(self._cluster, processes.WORKER, client)
        if not found:
            exit_code = await self._clients.exit_code(client)
            return ProcessState(running=False, exit_code=exit_code)
        frozen = all(running.stopped for running in found)
        return ProcessState(running=True, exit_code=None, frozen=frozen)

    async def answers(self, client: str) -> Reply:
        assert self._clients is not None, "a witness of a run gets its clients"
        return await self._clients.answers(client)

    async def connected(self, clients: tuple[str, ...]) -> tuple[str, ...]:
        assert self._clients is not None, "a witness of a run gets its clients"
        return await self._clients.connected(clients)

    async def successor(self, client: str) -> Successor | None:
        assert self._clients is not None, "a witness of a run gets its clients"
        return await self._clients.successor(client)

    async def alarms(self, resource: str) -> dict[str, dict[str, bool]]:  # noqa: ARG002
        return {}

    async def verify_result(self, armed: Armed) -> VerifyResult | None:
        if self._commands is None:
            return None
        return await self._commands.verify_result(armed.host, armed.kind)

    async def greets(self, place: str) -> Reply:
        """All of its processes answer, or it does not. What cannot be dialled is known by the
        word of the others."""
        ways = self._addresses.brokers[place]
        if not ways:
            return await self._as_listed(place)
        replies = (greets(self._agent, way, self._greeting) for way in ways)
        return worst(await asyncio.gather(*replies))

    async def serves(self, place: str) -> Reply:
        return await and_listed(await self.greets(place), place, self._listed, self._failures)

    async def said(self, host: str, words: str) -> str:
        return await said(self._agent, self._first(host), words)

    async def dismiss(self, armed: Armed) -> None:
        await self._canaries.close(armed)

    async def _as_listed(self, host: str) -> Reply:
        try:
            found = await self._listed(host)
        except self._failures as error:
            raise FaultError(f"{host} has no address of its own, and {error}") from error
        word = "lists it as running" if found else "does not list it as running"
        return Reply(found, 0.0, f"it has no address of its own; the cluster {word}")

    def _first(self, place: str) -> tuple[str, int]:
        """Return the address to dial: that of the first process of several."""
        return self._addresses.brokers[place][0]
