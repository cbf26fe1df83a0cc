"""Looks at a compose project from outside: engine, helper, host namespaces, agent.

1. A process is what the engine says of its container; several of a host are judged as one.
2. Packets are our chain's own counters, read by a helper. An attempt is made from inside a
   host's namespace, by its own container, and timed there; where peer links pass the proxy it is
   a word on the link that the host's broker has (core/peer_canary.py).
3. Canaries and protocol questions are the agent's.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TypeVar

from docker import DockerClient

from faults.core.mechanisms import DIRECT, TOXIPROXY
from faults.core.model import (
    ANYBODY,
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
from faults.core.places import host_of
from faults.core.shapes import Way
from faults.core.witness import ECHO_INTERVAL_S
from faults.executors import echoes, listeners
from faults.executors.canaries import (
    WAIT_S,
    Alarms,
    Canaries,
    Dial,
    Listed,
    and_listed,
    host_greets,
    said,
)
from faults.executors.core import client_processes, echo_packets, netem, packet_filter, peer_canary
from faults.executors.ports import Agent, AgentCalls, Clients, Failures
from faults.executors.project import Project
from faults.executors.service_ports import ServicePorts, worst

TIMED_OUT = 124  # the status of `timeout`
T = TypeVar("T")


class ComposeWitness:
    """The witness of one project.

    `failures`: what the agent, `listed` and `alarms` raise in addition to FaultError.
    `service_ports`: where processes of the project are spoken to. `peer_links`: the layout's,
    DIRECT or TOXIPROXY.
    """

    def __init__(
        self,
        client: DockerClient,
        project: str,
        agent: AgentCalls,
        dial: Dial,
        listed: Listed,
        service_ports: ServicePorts,
        failures: Failures = (),
        alarms: Alarms | None = None,
        clients: Clients | None = None,
        peer_links: str = DIRECT,
    ) -> None:
        self._project = Project(client, project)
        self._agent = Agent(agent, failures)
        self._canaries = Canaries(self._agent, dial, service_ports)
        self._dial = dial
        self._listed = listed
        self._failures = failures
        self._service_ports = service_ports
        self._names: dict[str, str] = {}  # by address
        self._alarms = alarms
        self._by_proxy = peer_links == TOXIPROXY
        self._clients = clients
        self._threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="witness")

    async def prepare(self, armed: Armed) -> None:
        await self._canaries.open(armed, self._service_port(armed.places[0]))

    async def process(self, place: str) -> ProcessState:
        return await self._in_thread(lambda: self._process(place))

    async def drops(self, host: str, chain: str) -> Drops | None:
        return await self._in_thread(lambda: self._drops(host, chain))

    async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
        if not self._by_proxy:
            return await self._in_thread(lambda: self._reach(host, peer, wait_s or WAIT_S))
        name, _, port = peer.partition(":")
        ports = (int(port),) if port else self._service_ports.spoken_to(name)
        return worst(
            await asyncio.gather(
                *(
                    self._in_thread(partial(self._say, host, name, one, wait_s or WAIT_S))
                    for one in ports
                )
            )
        )

    async def echoes(self, host: str, peer: str, count: int, wait_s: float) -> PacketSamples:
        return await self._in_thread(lambda: self._echoes(host, peer, count, wait_s))

    async def impairments(self, host: str) -> dict[str, Impairment]:
        output = await self._in_thread(lambda: self._project.help(host, netem.show()))
        return netem.impairments(output.text)

    async def entries(self, host: str) -> Replies:
        addresses = {host, *await self._in_thread(lambda: self._project.addresses(host))}
        ways = listeners.leading_to(addresses, await listeners.upstreams(self._agent))
        return await listeners.entries(self._agent, self._dial, ways, self._service_ports.greeting)

    async def canaries(self, armed: Armed) -> Replies:
        return await self._canaries.ask(armed)

    async def words(self, armed: Armed, words: Words) -> Replies:
        return await self._canaries.say(armed, words)

    async def attempts(self, armed: Armed) -> Replies:
        return await self._canaries.attempts(armed, self._service_port(armed.places[0]))

    async def client(self, client: str) -> ProcessState:
        assert self._clients is not None, "a witness of a run gets its clients"
        state = await self._in_thread(lambda: self._client(client))
        if state.running:
            return state
        return replace(state, exit_code=await self._clients.exit_code(client))

    async def answers(self, client: str) -> Reply:
        assert self._clients is not None, "a witness of a run gets its clients"
        return await self._clients.answers(client)

    async def connected(self, clients: tuple[str, ...]) -> tuple[str, ...]:
        assert self._clients is not None, "a witness of a run gets its clients"
        return await self._clients.connected(clients)

    async def successor(self, client: str) -> Successor | None:
        assert self._clients is not None, "a witness of a run gets its clients"
        return await self._clients.successor(client)

    async def alarms(self, resource: str) -> dict[str, dict[str, bool]]:
        if self._alarms is None:
            return {}
        try:
            return await self._alarms(resource)
        except self._failures as error:
            raise FaultError(str(error)) from error

    async def verify_result(self, armed: Armed) -> VerifyResult | None:  # noqa: ARG002
        return None

    async def greets(self, place: str) -> Reply:
        return await host_greets(self._agent, place, self._service_ports)

    async def serves(self, place: str) -> Reply:
        return await and_listed(await self.greets(place), place, self._listed, self._failures)

    async def said(self, host: str, words: str) -> str:
        return await said(self._agent, self._service_port(host), words)

    async def dismiss(self, armed: Armed) -> None:
        await self._canaries.close(armed)

    def _service_port(self, place: str) -> tuple[str, int]:
        """Return the address to dial: that of the first process of several."""
        return host_of(place), self._service_ports.of(place)[0]

    def _client(self, client: str) -> ProcessState:
        command = client_processes.states(client)
        return client_processes.state_of(
            self._project.execute(self._project.workers(), command).text
        )

    def _process(self, place: str) -> ProcessState:
        states = [process.attrs["State"] for process in self._project.processes(place)]
        if any(state["Running"] for state in states):
            frozen = all(state["Paused"] for state in states)
            return ProcessState(running=True, exit_code=None, frozen=frozen)
        codes = {int(state["ExitCode"]) for state in states}
        return ProcessState(running=False, exit_code=codes.pop() if len(codes) == 1 else None)

    def _drops(self, host: str, chain: str) -> Drops | None:
        output = self._project.help(host, packet_filter.count(chain))
        dropping = packet_filter.dropping(output.text)
        if dropping is None:
            return None
        found: Counter[Way] = Counter()
        for rule in dropping:
            found[self._way(rule, host)] += rule.packets
        return dict(found)

    def _way(self, rule: packet_filter.Dropping, host: str) -> Way:
        """Return the way that a rule of a chain in `host` drops, in names. If it names a peer, its
        other end is the host itself; if it names the host, or none, that is ANYBODY."""
        source, destination = self._name(rule.source), self._name(rule.destination)
        named = {source, destination} - {""}
        beyond = host if named - {host} else ANYBODY
        return source or beyond, destination or beyond

    def _name(self, address: str) -> str:
        """Hosts keep their addresses as long as the project stands."""
        if address == packet_filter.ANYWHERE:
            return ""
        if not self._names:
            hosts = self._project.hosts()
            self._names = {one: host for host in hosts for one in self._project.addresses(host)}
        return self._names.get(address, address)

    def _echoes(self, host: str, peer: str, count: int, wait_s: float) -> PacketSamples:
        address = self._project.addresses(peer)[0]
        script = echoes.command(address, count, ECHO_INTERVAL_S, wait_s)
        output = self._project.help(host, script)
        return echo_packets.samples_of(output.text, f"{host} -> {peer} ({address})")

    def _reach(self, host: str, peer: str, wait_s: float) -> Reply:
        address = self._project.addresses(peer)[0]
        _, port = self._service_port(peer)
        command = ["bash", "-c", _ATTEMPT, "attempt", address, str(port), f"{wait_s:g}"]
        output = self._project.execute(self._project.host(host), command)
        return _attempted(output.text, f"{host} -> {peer} ({address}:{port})")

    def _say(self, host: str, peer: str, port: int, wait_s: float) -> Reply:
        """Send a word through a proxy of peer links. A host's own name is its own address."""
        command = peer_canary.command(peer, wait_s, port, self._service_ports.peer_word)
        output = self._project.execute(self._project.host(host), command)
        return peer_canary.reply_of(output.text, f"{host} -> {peer}:{port}")

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


# Times by /proc/uptime, a clock that is never set; the last line is `status seconds-before
# seconds-after`, and what stands before it is the shell's own error.
_ATTEMPT = """
read -r before _ </proc/uptime
timeout "$3" bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>&1
status=$?
read -r after _ </proc/uptime
echo "$status $before $after"
"""


def _attempted(text: str, way: str) -> Reply:
    lines = text.strip().splitlines()
    try:
        status, before, after = lines[-1].split()
        seconds = float(after) - float(before)
        code = int(status)
    except (IndexError, ValueError):
        raise FaultError(f"{way}: the attempt said {text.strip()!r}") from None
    if code == 0:
        return Reply(True, seconds, "connected")
    if code == TIMED_OUT:
        return Reply(False, seconds, f"silent for {seconds:.2f} s")
    return Reply(False, seconds, f"{way}: {' '.join(lines[:-1]) or f'status {code}'}")
