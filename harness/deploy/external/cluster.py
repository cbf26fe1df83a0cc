"""A cluster that stands without us, ready for runs: port.Cluster for external.

1. Ours are the agent, workers, a proxy that we start, listeners, and queues and policies whose
   names begin `mqproof.`: only these are made, and removed. Nothing is reset, stopped or started
   but by the owner's own commands.
2. Workers are processes of this user on this machine.
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from faults.core.actions import Kill, Start
from faults.core.model import Executor
from faults.core.witness import Witness
from faults.executors import local_processes as processes
from faults.kinds import KINDS
from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.links import Links
from harness.cluster.log_tails import BYTES_MAX, LeftOut, append_new, those_cut
from harness.cluster.orders import Operator, Order
from harness.cluster.polling import until
from harness.cluster.port import (
    Channel,
    DeadBroker,
    DeployError,
    Ended,
    Health,
    HostSample,
    Link,
    WrongInput,
    wrong_input,
)
from harness.cluster.started_clients import StartedClients
from harness.deploy.external.links import DirectLinks
from harness.deploy.external.removal import end_processes, remove_listeners, remove_named
from harness.deploy.external.site import Site, brokers_of, forget
from harness.deploy.local.channel import PipeChannel
from harness.deploy.local.site import PROXY_NAME
from harness.deploy.local.usage import watch
from harness.plan.layouts.topology import BrokerNode
from harness.plan.model import Layout, RunPlan
from harness.plan.problems import Problem
from harness.systems.files import PACKAGES
from harness.systems.topologies import foreign_of
from harness.workers import own_ways
from harness.workers.protocol import Endpoint, Role

VERSION_LIMIT_S = 4.0
LOGIN_LIMIT_S = 4.0
_LOGS = "logs"
_BROKER_LOGS = "broker_logs"


class _Owner:
    """An orders.Operator that refuses: the owner operates these brokers. No plan reaches it."""

    async def carry_out(self, order: Order) -> str:
        raise DeployError(f"{type(order).__name__}: these brokers are operated by their owner")


class ExternalCluster:
    """A port.Cluster of external brokers; the caller sets `executor` and `witness`.

    `links`: through listeners of a proxy, or direct. `proxy`: the one that we started; it ends
    when its last handle is closed. `armed`: whether a fault of the experiment is still active.
    """

    executor: Executor
    witness: Witness

    def __init__(
        self,
        layout: Layout,
        site: Site,
        agent: AgentClient,
        links: Links | DirectLinks,
        proxy: "subprocess.Popen[bytes] | None" = None,
        armed: Callable[[Path], bool] = lambda _: False,
    ) -> None:
        self.layout = layout
        self.site = site
        self.agent = agent
        self.clients = foreign_of(site.topology).clients
        self._theirs = brokers_of(site, agent)
        self.broker = self._theirs.broker
        self.operator: Operator = _Owner()
        self.started_clients = StartedClients(self.broker.connections, (DeployError,))
        self._links = links
        self._proxy = proxy
        self._armed = armed
        self._hosts = tuple(host.name for host in layout.hosts)
        self._versions = {
            "python": sys.version.partition(" ")[0],
            **{f"agent {k}": str(v) for k, v in dict(agent.hello.get("versions", {})).items()},
        }
        self._fetched: dict[Path, int] = {}  # bytes of each log
        self._ways: dict[str, dict[str, str]] = {}  # worker -> its own, by brokers' addresses

    async def spawn(self, worker: str) -> Channel:
        command = [sys.executable, "-m", "harness.workers", worker]
        environment = self.site.environment(processes.WORKER, worker)
        environment |= own_ways.variables(self._ways.get(worker, {}))
        return await PipeChannel.start(worker, command, environment, PACKAGES)

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        links = await self._links.make(run.name, worker)
        if self.site.topology.name_servers:  # they show brokers' addresses past the proxy
            self._ways[worker] = {
                self.site.topology.node(link.host).upstream: own_ways.text(link.endpoint)
                for link in links
                if link.proxy
            }
        return (*links, *self._votes(worker))

    def _votes(self, worker: str) -> Iterator[Link]:
        """Yield a prober's ways to voters: past every proxy, for no fault means them."""
        if worker.startswith(f"{Role.PROBER.value}-"):
            for node in self.site.topology.nodes:
                if node.votes_at:
                    end = Endpoint(node.host, node.address, node.votes_at)
                    yield Link(worker, node.host, "", end, node.process, votes=True)

    async def unlink(self, run: RunPlan) -> None:
        await self._links.remove(run.name)

    async def direct(self, host: str) -> Endpoint:
        """Past every proxy: listeners are made for runs alone."""
        return Endpoint(host, *self.site.way(host))

    def dial(self, proxy: str) -> tuple[str, int]:
        """A proxy's listener, as the agent and workers dial it."""
        return self._links.dial(proxy)

    async def entered(self) -> tuple[str, ...]:
        return ()  # only compose has balancers

    async def health(self, limit_s: float) -> Health:
        return await self.broker.health(limit_s)

    async def dead_broker(self, place: str) -> DeadBroker | None:
        """Return the owner's start command. The process is hidden; a start is harmless."""
        commands = self.site.topology.commands
        commanded = (kind for kind in KINDS.values() if kind.verify_commanded is not None)
        ending = [kind for kind in commanded if kind.ends_broker]
        ending.sort(key=lambda kind: Kill in kind.actions)  # the gentlest first
        kinds = [kind.name for kind in ending if (place, kind.name) in commands]
        start = tuple(Start(place, after=kind) for kind in kinds[:1])
        why = "it does not answer" if start else "it does not answer, and no command starts it"
        return DeadBroker(why, start)

    def log_folder(self, run_folder: Path, worker: str) -> str:
        folder = run_folder.resolve() / _LOGS
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder / worker)

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        """Workers' logs are there already, brokers' are not ours; what commands said goes on
        where the last fetch ended."""
        try:
            return await asyncio.to_thread(self._fetch_all, run_folder)
        except OSError as error:
            raise DeployError(f"a log could not be fetched: {error}") from error

    def resources(self) -> AsyncIterator[HostSample]:
        """Yield samples of our own processes; the brokers' use is unknown."""
        return watch(self.site.cluster, ())

    async def process_ends(self) -> AsyncIterator[Ended]:
        """Yield nothing: only the owner can watch the brokers' processes."""
        for never in tuple[Ended, ...]():
            yield never

    def versions(self) -> dict[str, str]:
        return dict(self._versions)

    async def down(self) -> None:
        """Remove what is ours; what fails stays noted for `heal`, which reports it."""
        doubts = await remove_named(self._theirs)
        await self.agent.close()
        doubts += await remove_listeners(self.site)
        doubts += await end_processes(self.site)
        if self._proxy is not None:
            release(self._proxy)
        if not doubts and not self._armed(Path(self.site.experiment)):
            forget(self.site.cluster)

    async def look(self, limit_s: float) -> None:
        """Waits until every broker answers and nothing contradicts the file, or DeployError.

        WrongInput if brokers refuse the user. Only a queue of our own is declared, and deleted.
        """
        await self._agrees(limit_s)
        silent = await until(self._silent, lambda silent: not silent, limit_s)
        if silent:
            ways = ", ".join(f"{host} ({_text(self.site.way(host))})" for host in silent)
            raise DeployError(f"no {self.clients.speaks} answer from {ways} in {limit_s:g} s")
        health = await self.health(limit_s)
        if not health.clean:
            raise DeployError(f"not clean after {limit_s:g} s: {'; '.join(health.doubts)}")
        if wrong := await self._refused_logins() or await self._theirs.rights():
            raise wrong_input(wrong)
        self._versions |= await self.broker.versions()
        self._versions |= await self._proxy_version()

    async def begin(self) -> None:
        """Sets what the file asks for. Raises DeployError, and may have set it all the same."""
        await self.broker.set_policies()

    async def _agrees(self, limit_s: float) -> None:
        """Raises DeployError, and WrongInput with everything that contradicts the file."""
        if wrong := await self._theirs.refusals():
            raise wrong_input(wrong)
        found = await until(self._theirs.contradictions, lambda found: not found, limit_s)
        if found:
            name = f"{self.site.topology.name}.toml"
            raise WrongInput(f"{name} contradicts the cluster: {'; '.join(found)}")

    async def _refused_logins(self) -> tuple[Problem, ...]:
        """Return where clients are refused; another failure is none."""
        topology, places = self.site.topology, self.site.topology.entrances
        if not topology.variables:
            return ()
        errors = await asyncio.gather(*map(self._why_refused, places))
        names = " and ".join(f"${name}" for name in topology.variables)
        return tuple(
            Problem(
                topology.place("[credentials]"),
                f"{one.host} refuses the login of clients ({self.clients.speaks}): {error}",
                expected=f"a login in {names} that every broker accepts",
                advice=self.clients.remedy(topology, error),
            )
            for one, error in zip(places, errors, strict=True)
            if error is not None
        )

    async def _why_refused(self, node: BrokerNode) -> AgentError | None:
        try:
            await self.clients.enter(node, self.agent, LOGIN_LIMIT_S)
        except AgentError as error:
            return error if self.clients.refuses(error) else None
        return None

    async def _silent(self) -> tuple[str, ...]:
        answers = await asyncio.gather(*map(self.broker.greets, self._hosts))
        return tuple(host for host, answer in zip(self._hosts, answers, strict=True) if not answer)

    async def _proxy_version(self) -> dict[str, str]:
        if self.site.topology.proxy is None:
            return {}
        url = f"http://{self.site.proxy}/version"
        answer = await self.agent.call(
            "http", VERSION_LIMIT_S, method="GET", url=url, headers={}, body=""
        )
        return {"toxiproxy": str(answer["body"]).strip()}

    def _fetch_all(self, run_folder: Path) -> LeftOut:
        """In a thread: agent and workers end by themselves if the event loop is silent."""
        folder = run_folder / _BROKER_LOGS
        folder.mkdir(parents=True, exist_ok=True)
        logs = (self.site.commands_log, self.site.output(PROXY_NAME))
        return those_cut((log.name, self._fetch(log, folder / log.name)) for log in logs)

    def _fetch(self, source: Path, target: Path) -> int:
        """Appends what is new; how many bytes of it are left out."""
        known = self._fetched.get(source, 0)
        self._fetched[source], left_out = append_new(source, target, known, BYTES_MAX)
        return left_out


def release(proxy: "subprocess.Popen[bytes]") -> None:
    """Lets go of a proxy that ends, or has ended."""
    if proxy.stdin is not None:
        proxy.stdin.close()
    proxy.poll()


def _text(way: tuple[str, int]) -> str:
    return f"{way[0]}:{way[1]}"
