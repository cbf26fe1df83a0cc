"""Carries actions out on a compose project: the engine's own calls, a helper, the agent.

1. Engine calls block, so they run in threads of this executor alone, whatever else waits.
2. A receipt's instants enclose the call that took effect, and nothing that prepared it.
3. Stalls are the agent's; what it could not resume, a one-shot agent tries again.
4. Cancelling does not stop what was begun: the caller undoes it all the same.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from docker import DockerClient
from docker.errors import APIError
from docker.models.containers import Container
from tenacity import (
    AsyncRetrying,
    RetryError,
    retry,
    retry_if_exception,
    retry_if_result,
    stop_after_attempt,
    stop_after_delay,
    wait_fixed,
)

from faults.core.actions import (
    Action,
    AddToxic,
    ClearAlarm,
    ClearImpairment,
    Cut,
    Disable,
    Enable,
    Freeze,
    FreezeClients,
    Impair,
    Isolate,
    Join,
    Kill,
    KillClients,
    RaiseAlarm,
    Rejoin,
    RemoveToxic,
    ReplaceClients,
    Start,
    Stop,
    Thaw,
    ThawClients,
)
from faults.core.mechanisms import COMPOSE, DIRECT
from faults.core.model import FaultError, Receipt
from faults.core.shapes import Way, droppers
from faults.executors.core import client_processes, netem, packet_filter
from faults.executors.once import OnceAgent
from faults.executors.ports import Agent, AgentCalls, Failures
from faults.executors.project import PAUSED, RUNNING, Project, engine_errors
from faults.executors.toxics import Toxics
from faults.kinds import mechanism

ACTION_LIMIT_S = 60.0
INTERVAL_S = 0.25
PAUSE_TRIES = 5
T = TypeVar("T")


class ComposeExecutor:
    """The executor of one project. `failures`: what the agent raises in addition to FaultError.
    `peer_links`: the layout's, DIRECT or TOXIPROXY: it selects the mechanism; undoing does not
    need it.

    Without an agent (healing), each stall and resume starts a one-shot one.
    """

    def __init__(
        self,
        client: DockerClient,
        project: str,
        agent: AgentCalls | None = None,
        failures: Failures = (),
        peer_links: str = DIRECT,
    ) -> None:
        self._peer_links = peer_links
        self._project = Project(client, project)
        once = Agent(OnceAgent(self._project), ())
        self._toxics = Toxics(once if agent is None else Agent(agent, failures), once)
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="faults")

    async def perform(self, action: Action) -> Receipt:
        try:
            async with asyncio.timeout(ACTION_LIMIT_S):
                return await self._perform(action)
        except TimeoutError:
            raise FaultError(f"{action}: no end within {ACTION_LIMIT_S:g} s") from None

    def mechanism(self, kind: str) -> str:
        return mechanism(kind, COMPOSE, self._peer_links)

    async def _perform(self, action: Action) -> Receipt:
        match action:
            case Kill(host=host):
                return await self._in_thread(lambda: self._signal(host, "SIGKILL"))
            case Stop(host=host):
                return await self._in_thread(lambda: self._signal(host, "SIGTERM"))
            case Start(host=host, ending_s=ending_s):
                await self._ended(host, ending_s)
                return await self._in_thread(lambda: self._start(host))
            case Freeze(host=host):
                return await self._in_thread(lambda: self._freeze(host))
            case Thaw(host=host):
                return await self._in_thread(lambda: self._thaw(host))
            case Cut(ways=ways, chain=chain):
                return await self._cut(ways, chain)
            case Join(ways=ways, chain=chain):
                script = packet_filter.join(chain)
                return await self._help(dict.fromkeys(droppers(ways), script))
            case Isolate(host=host, chain=chain):
                own = await self._in_thread(lambda: self._project.addresses(host))
                return await self._help({host: packet_filter.isolate(chain, own)})
            case Rejoin(host=host, chain=chain):
                return await self._help({host: packet_filter.join(chain)})
            case Impair(host=host):
                return await self._help({host: netem.impair(action)})
            case ClearImpairment(host=host):
                return await self._help({host: netem.clear()})
            case KillClients(clients=clients):
                command = client_processes.signal("KILL", clients)
                return await self._in_thread(lambda: self._to_clients(command))
            case ReplaceClients():
                return Receipt(time.monotonic_ns(), time.monotonic_ns())
            case FreezeClients(clients=clients):
                command = client_processes.signal("STOP", clients)
                return await self._in_thread(lambda: self._to_clients(command))
            case ThawClients(clients=clients):
                command = client_processes.signal("CONT", clients, needed=False)
                return await self._in_thread(lambda: self._to_clients(command))
            case RaiseAlarm(host=host, command=own):
                return await self._in_thread(lambda: self._command(host, list(own)))
            case ClearAlarm(host=host, command=own):
                return await self._in_thread(lambda: self._clear_alarm(host, list(own)))
            case AddToxic():
                return await self._toxics.do(action)
            case RemoveToxic() | Enable() | Disable():
                return await self._toxics.undo(action)
        raise FaultError(f"{action}: this executor does not know this action")

    def _signal(self, host: str, name: str) -> Receipt:
        """The engine returns when it has delivered the signal, not when the process has ended."""
        return self._each(host, f"{name} to", lambda process: process.kill(name))

    def _start(self, host: str) -> Receipt:
        return self._each(host, "start", lambda process: process.start())

    def _freeze(self, host: str) -> Receipt:
        return self._each(host, "pause", _pause)

    def _thaw(self, host: str) -> Receipt:
        return self._each(host, "unpause", _unpause)

    def _clear_alarm(self, host: str, command: list[str]) -> Receipt:
        """Of a process that does not run nothing is left to be cleared."""
        if any(self._running(host)):
            return self._command(host, command)
        now_ns = time.monotonic_ns()
        return Receipt(now_ns, now_ns)

    def _to_clients(self, command: list[str]) -> Receipt:
        output = self._project.execute(self._project.workers(), command)
        if output.status:
            raise FaultError(f"signal to clients: {output.text.strip()}")
        return output.receipt

    def _command(self, host: str, command: list[str]) -> Receipt:
        """Runs it beside the one process of the host. Raises FaultError where it fails."""
        output = self._project.execute(self._project.processes(host)[0], command)
        if output.status:
            said = f"status {output.status}: {output.text.strip()}"
            raise FaultError(f"{' '.join(command[:2])} on {host}: {said}")
        return output.receipt

    def _each(self, host: str, what: str, act: Callable[[Container], object]) -> Receipt:
        processes = self._project.processes(host)
        issued_ns = time.monotonic_ns()
        for process in processes:
            with engine_errors(f"{what} {process.name}"):
                act(process)
        return Receipt(issued_ns, time.monotonic_ns())

    async def _ended(self, host: str, limit_s: float) -> None:
        """Wait for the end of processes that got SIGTERM; one that runs on is left alone."""
        attempts = AsyncRetrying(
            stop=stop_after_delay(limit_s), wait=wait_fixed(INTERVAL_S), retry=retry_if_result(any)
        )
        with suppress(RetryError):
            await attempts(self._in_thread, lambda: self._running(host))

    def _running(self, host: str) -> list[bool]:
        return [process.status == RUNNING for process in self._project.processes(host)]

    async def _cut(self, ways: tuple[Way, ...], chain: str) -> Receipt:
        hosts = {end for way in ways for end in way}
        at = await self._in_thread(lambda: {host: self._project.addresses(host) for host in hosts})
        scripts = {}
        for host, own in droppers(ways).items():
            sources = [address for start, end in own if end == host for address in at[start]]
            destinations = [address for start, end in own if start == host for address in at[end]]
            scripts[host] = packet_filter.cut(chain, sources, destinations)
        return await self._help(scripts)

    async def _help(self, scripts: dict[str, str]) -> Receipt:
        """Runs a script in the namespace of each host, side by side; the receipt has them all.

        Every one is waited for before the first failure is raised.
        """
        done = await asyncio.gather(
            *(
                self._in_thread(partial(self._project.help, host, script))
                for host, script in scripts.items()
            ),
            return_exceptions=True,
        )
        for one in done:
            if isinstance(one, BaseException):
                raise one
        outputs = [one for one in done if not isinstance(one, BaseException)]
        found = {
            host: packet_filter.dropping(one.text)
            for host, one in zip(scripts, outputs, strict=True)
        }
        return Receipt(
            min(one.receipt.issued_ns for one in outputs),
            max(one.receipt.returned_ns for one in outputs),
            tuple(
                (host, sum(rule.packets for rule in rules))
                for host, rules in found.items()
                if rules is not None
            ),
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _not_frozen(error: BaseException) -> bool:
    return isinstance(error, APIError) and "unable to freeze" in str(error)


@retry(retry=retry_if_exception(_not_frozen), stop=stop_after_attempt(PAUSE_TRIES), reraise=True)
def _pause(process: Container) -> None:
    """On a busy machine the kernel may need longer than the engine waits, which thaws it again."""
    process.pause()


def _unpause(process: Container) -> None:
    """The engine refuses to unpause what is not paused."""
    if process.status == PAUSED:
        process.unpause()
