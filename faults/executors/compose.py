"""Carries actions out on a compose project: the engine's own calls, a helper, the agent.

1. Engine calls block, so they run in threads of this executor alone, whatever else waits.
2. A receipt's instants enclose the call that took effect, and nothing that prepared it.
3. Stalls are done and timed by the agent, if it shares this machine's clock (same boot id);
   if it does not, the instants are those around the call to it.
4. What the agent could not resume, a one-shot agent tries again: an undo may not depend on a
   process that may be lost.
5. Cancelling does not stop what was begun: the caller undoes it all the same.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from docker import DockerClient

from faults.executors import packet_filter
from faults.executors.once import OnceAgent
from faults.executors.ports import Agent, AgentCalls, Failures
from faults.executors.project import Project, engine_errors
from faults.model import Action, Cut, FaultError, Join, Kill, Receipt, Resume, Stall, Start

ACTION_LIMIT_S = 60.0
AGENT_LIMIT_S = 15.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
T = TypeVar("T")


class ComposeExecutor:
    """The executor of one project. `failures`: what the agent raises besides FaultError.

    Without an agent (healing), each stall and resume starts a one-shot one.
    """

    def __init__(
        self,
        client: DockerClient,
        project: str,
        agent: AgentCalls | None = None,
        failures: Failures = (),
    ) -> None:
        self._project = Project(client, project)
        self._once = Agent(OnceAgent(self._project), ())
        self._agent = self._once if agent is None else Agent(agent, failures)
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="faults")
        self._same_clock: bool | None = None

    async def perform(self, action: Action) -> Receipt:
        try:
            async with asyncio.timeout(ACTION_LIMIT_S):
                return await self._perform(action)
        except TimeoutError:
            raise FaultError(f"{action}: no end within {ACTION_LIMIT_S:g} s") from None

    async def _perform(self, action: Action) -> Receipt:
        match action:
            case Kill(host=host):
                return await self._in_thread(lambda: self._kill(host))
            case Start(host=host):
                return await self._in_thread(lambda: self._start(host))
            case Cut(host=host, peers=peers, chain=chain):
                return await self._in_thread(lambda: self._cut(host, peers, chain))
            case Join(host=host, chain=chain):
                script = packet_filter.join(chain)
                return await self._in_thread(lambda: self._project.help(host, script).receipt)
            case Stall(proxies=proxies, toxic=toxic):
                return await self._ask(self._agent, "toxic_add", _stall(proxies, toxic))
            case Resume(proxies=proxies, toxic=toxic):
                return await self._resume({"proxies": list(proxies), "toxic": toxic})

    def _kill(self, host: str) -> Receipt:
        processes = self._project.processes(host)
        issued_ns = time.monotonic_ns()
        for process in processes:
            with engine_errors(f"kill {process.name}"):
                process.kill("SIGKILL")
        return Receipt(issued_ns, time.monotonic_ns())

    def _start(self, host: str) -> Receipt:
        processes = self._project.processes(host)
        issued_ns = time.monotonic_ns()
        for process in processes:
            with engine_errors(f"start {process.name}"):
                process.start()
        return Receipt(issued_ns, time.monotonic_ns())

    def _cut(self, host: str, peers: tuple[str, ...], chain: str) -> Receipt:
        addresses = [address for peer in peers for address in self._project.addresses(peer)]
        return self._project.help(host, packet_filter.cut(chain, addresses)).receipt

    async def _resume(self, arguments: dict[str, Any]) -> Receipt:
        try:
            return await self._ask(self._agent, "toxic_remove", arguments)
        except FaultError:
            if self._agent is self._once:
                raise
        return await self._ask(self._once, "toxic_remove", arguments)

    async def _ask(self, agent: Agent, name: str, arguments: dict[str, Any]) -> Receipt:
        if self._same_clock is None:
            clock = await agent.call("clock", AGENT_LIMIT_S)
            self._same_clock = clock["boot_id"] == _BOOT_ID.read_text().strip()
        issued_ns = time.monotonic_ns()
        value = await agent.call(name, AGENT_LIMIT_S, **arguments)
        if not self._same_clock:
            return Receipt(issued_ns, time.monotonic_ns())
        return Receipt(value["issued_ns"], value["returned_ns"])

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _stall(proxies: tuple[str, ...], toxic: str) -> dict[str, Any]:
    """Bandwidth 0 in both directions: the only toxic that holds bytes and gives them back."""
    return {
        "proxies": list(proxies),
        "toxic": toxic,
        "type": "bandwidth",
        "streams": ["upstream", "downstream"],
        "attributes": {"rate": 0},
    }
