"""Carries actions out on a cluster of subprocesses: signals, starts, and the proxy's stalls.

1. Kill, stop, freeze and thaw are signals to each process of a place, a host or one process of it;
   starting is passed in.
2. A cut stalls every link between a host and its peers, in both directions, by the chain's name.
3. A receipt's instants enclose the signals alone: processes are looked up before.
4. Where no proxy runs, no link exists: nothing stands still, and there is nothing to resume.
"""

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from faults.core.actions import (
    STREAMS,
    Action,
    AddToxic,
    Cut,
    Disable,
    Enable,
    Freeze,
    FreezeClients,
    Isolate,
    Join,
    Kill,
    KillClients,
    Rejoin,
    RemoveToxic,
    ReplaceClients,
    Say,
    Start,
    Stop,
    Thaw,
    ThawClients,
)
from faults.core.mechanisms import LOCAL, PROXY
from faults.core.model import FaultError, Receipt
from faults.core.peers import Mesh, peer_link, release, stall
from faults.core.shapes import Way
from faults.executors import listeners
from faults.executors import local_processes as processes
from faults.executors.canaries import said
from faults.executors.ports import Agent, AgentCalls, Failures
from faults.executors.toxics import Toxics
from faults.kinds import KINDS

ACTION_LIMIT_S = 60.0
INTERVAL_S = 0.02
DYING_S = 5.0
PROXY_ENDING_S = 2.0
_STALL = (("rate", 0),)


class LocalExecutor:
    """The executor of one cluster.

    `start` starts what of a place does not run, and raises OSError; `broker`: where it is spoken
    to.
    `agent` raises FaultError or `failures`; `spare` is asked where it fails to resume.
    """

    def __init__(
        self,
        cluster: str,
        start: Callable[[str], None],
        broker: Callable[[str], tuple[str, int]],
        agent: AgentCalls,
        spare: AgentCalls,
        failures: Failures = (),
    ) -> None:
        self._cluster = cluster
        self._start_node = start
        self._broker = broker
        self._agent, self._spare = Agent(agent, failures), Agent(spare, failures)
        self._toxics = Toxics(self._agent, self._spare)

    async def perform(self, action: Action) -> Receipt:
        try:
            async with asyncio.timeout(ACTION_LIMIT_S):
                return await self._perform(action)
        except TimeoutError:
            raise FaultError(f"{action}: no end within {ACTION_LIMIT_S:g} s") from None

    def mechanism(self, kind: str) -> str:
        return KINDS[kind].offers[LOCAL]

    async def _perform(self, action: Action) -> Receipt:
        match action:
            case Kill(host=host):
                receipt = self._signal(host, signal.SIGKILL)
                # A start that came before its end would find that it runs.
                await self._gone(processes.NODE, host, DYING_S)
                return receipt
            case Stop(host=host):
                return self._signal(host, signal.SIGTERM)
            case Freeze(host=host):
                return self._signal(host, signal.SIGSTOP)
            case Thaw(host=host):
                return self._signal(host, signal.SIGCONT, needed=False)
            case Start(host=host, ending_s=ending_s):
                await self._gone(processes.NODE, host, ending_s)
                return self._start(host)
            case KillClients(clients=clients):
                return self._signal_clients(clients, signal.SIGKILL)
            case ReplaceClients():
                return Receipt(time.monotonic_ns(), time.monotonic_ns())
            case FreezeClients(clients=clients):
                return self._signal_clients(clients, signal.SIGSTOP)
            case ThawClients(clients=clients):
                return self._signal_clients(clients, signal.SIGCONT, needed=False)
            case AddToxic() | Disable():
                return await self._toxics.do(action)
            case RemoveToxic() | Enable():
                return await self._resume(action)
            case Cut(ways=ways, chain=chain):
                return await self._cut(ways, chain)
            case Join(ways=ways, chain=chain):
                return await self._resume(release(ways, chain, Mesh(PROXY, None)))
            case Isolate(host=host, chain=chain):
                return await self._isolate(host, chain)
            case Rejoin(chain=chain):
                return await self._rejoin(chain)
            case Say():
                return await self._say(action)
        raise FaultError(f"{action}: this executor does not know this action")

    def _signal(self, host: str, number: int, needed: bool = True) -> Receipt:
        found = processes.of(self._cluster, processes.NODE, host)
        if needed and not found:
            raise FaultError(f"{signal.Signals(number).name}: no process of {host} runs")
        issued_ns = time.monotonic_ns()
        for running in found:
            running.signal(number)
        return Receipt(issued_ns, time.monotonic_ns())

    def _signal_clients(
        self, clients: tuple[str, ...], number: int, needed: bool = True
    ) -> Receipt:
        """All are found before the first is signalled."""
        found = {one: processes.of(self._cluster, processes.WORKER, one) for one in clients}
        missing = [client for client, running in found.items() if not running]
        if needed and missing:
            raise FaultError(f"{signal.Signals(number).name}: no process of {missing[0]} runs")
        issued_ns = time.monotonic_ns()
        for running in found.values():
            for process in running:
                process.signal(number)
        return Receipt(issued_ns, time.monotonic_ns())

    async def _gone(self, role: str, host: str, limit_s: float) -> None:
        """Waits for what is ending; where it runs on, it is left to itself."""
        attempts = AsyncRetrying(
            stop=stop_after_delay(limit_s),
            wait=wait_fixed(INTERVAL_S),
            retry=retry_if_result(bool),
        )

        async def look() -> bool:
            return bool(processes.of(self._cluster, role, host))

        with suppress(RetryError):
            await attempts(look)

    def _start(self, host: str) -> Receipt:
        issued_ns = time.monotonic_ns()
        try:
            self._start_node(host)
        except OSError as error:
            raise FaultError(f"start of {host}: {error}") from error
        return Receipt(issued_ns, time.monotonic_ns())

    async def _cut(self, ways: tuple[Way, ...], chain: str) -> Receipt:
        receipts = [
            await self._toxics.do(toxic) for toxic in stall(ways, chain, Mesh(PROXY, None))
        ]
        return Receipt(receipts[0].issued_ns, receipts[-1].returned_ns)

    async def _isolate(self, host: str, chain: str) -> Receipt:
        """The links by which clients and peers dial the host, and those that it dials."""
        found = await listeners.upstreams(self._agent)
        leading = listeners.leading_to({self._broker(host)[0]}, found)
        dialled = [name for name in sorted(found) if name.startswith(peer_link(host, ""))]
        links = tuple(dict.fromkeys([*leading, *dialled]))
        if not links:
            raise FaultError(f"{host} has no link that could be stalled")
        return await self._toxics.do(AddToxic(links, chain, "bandwidth", STREAMS, _STALL))

    async def _rejoin(self, chain: str) -> Receipt:
        """Resume every link that carries the chain's name: it need not be known which were
        stalled."""
        issued_ns = time.monotonic_ns()
        found: dict[str, str] = {}
        for agent in (self._agent, self._spare):
            with suppress(FaultError):
                found = found or await listeners.upstreams(agent)
        if not found and not processes.of(self._cluster, processes.PROXY):
            return Receipt(issued_ns, time.monotonic_ns())
        return await self._resume(RemoveToxic(tuple(sorted(found)), chain))

    async def _say(self, action: Say) -> Receipt:
        issued_ns = time.monotonic_ns()
        if action.needed or processes.of(self._cluster, processes.NODE, action.host):
            answer = await self._answer(action)
            if not answer.startswith(action.done):
                raise FaultError(f"{action.host}: {action.words.strip()}: it said {answer!r}")
        return Receipt(issued_ns, time.monotonic_ns())

    async def _answer(self, action: Say) -> str:
        way = self._broker(action.host)
        try:
            return await said(self._agent, way, action.words)
        except FaultError:
            if action.needed:
                raise
        return await said(self._spare, way, action.words)  # an undo must not depend on one agent

    async def _resume(self, action: RemoveToxic | Enable) -> Receipt:
        issued_ns = time.monotonic_ns()
        try:
            return await self._toxics.undo(action)
        except FaultError:
            # The proxy ends with its harness: it may have been on its way just now.
            await self._gone(processes.PROXY, "", PROXY_ENDING_S)
            if processes.of(self._cluster, processes.PROXY):
                raise
        return Receipt(issued_ns, time.monotonic_ns())
