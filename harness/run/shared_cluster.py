"""A cluster that several runs are played on at once, as one of them sees it.

1. Queues, connections and listeners have their run's name already; workers have not: beside the
   cluster one goes by its own name and its run's.
2. Who is asked for a client by name knows those of this run alone.
3. A fetch of logs begins where the last one ended, whichever run fetched: what was fetched is kept
   until the last of them has its copy.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

from faults.core.model import Executor
from faults.core.witness import Witness
from harness.cluster.log_tails import LeftOut
from harness.cluster.orders import Operator
from harness.cluster.port import (
    Broker,
    Channel,
    Cluster,
    DeadBroker,
    DeployError,
    Ended,
    Health,
    HostSample,
    Link,
)
from harness.cluster.started_clients import StartedClients
from harness.plan.model import Layout, RunPlan
from harness.workers.protocol import Endpoint


class KeptLogs:
    """What brokers logged since the runs of a group began, in a folder of its own, made late.

    `apart`: does what takes seconds, as asyncio.to_thread.
    """

    def __init__(
        self, folder: Path, apart: Callable[[Callable[[], object]], Awaitable[object]]
    ) -> None:
        self._folder = folder
        self._apart = apart
        self._one_by_one = asyncio.Lock()
        self._left_out: Counter[str] = Counter()

    async def fetch(self, cluster: Cluster, run_folder: Path) -> LeftOut:
        """Raises DeployError, OSError."""
        async with self._one_by_one:
            self._folder.mkdir(exist_ok=True)
            self._left_out.update(await cluster.fetch_logs(self._folder))
            copy = partial(shutil.copytree, self._folder, run_folder, dirs_exist_ok=True)
            await self._apart(copy)
        return dict(self._left_out)

    def forget(self) -> None:
        """Every run has its copy."""
        shutil.rmtree(self._folder, ignore_errors=True)


class SharedCluster:
    """port.Cluster for one run."""

    def __init__(self, cluster: Cluster, run: str, logs: KeptLogs) -> None:
        self._cluster = cluster
        self._run = run
        self._logs = logs
        self.started_clients = StartedClients(cluster.broker.connections, (DeployError,))

    @property
    def layout(self) -> Layout:
        return self._cluster.layout

    @property
    def broker(self) -> Broker:
        return self._cluster.broker

    @property
    def operator(self) -> Operator:
        return self._cluster.operator

    @property
    def executor(self) -> Executor:
        return self._cluster.executor

    @property
    def witness(self) -> Witness:
        """Of clients it knows nothing: no fault means them where runs are played together."""
        return self._cluster.witness

    async def health(self, limit_s: float) -> Health:
        return await self._cluster.health(limit_s)

    async def dead_broker(self, place: str) -> DeadBroker | None:
        return await self._cluster.dead_broker(place)

    def versions(self) -> dict[str, str]:
        return self._cluster.versions()

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        return await self._cluster.link(run, self._named(worker))

    async def unlink(self, run: RunPlan) -> None:
        await self._cluster.unlink(run)

    async def direct(self, host: str) -> Endpoint:
        return await self._cluster.direct(host)

    async def entered(self) -> tuple[str, ...]:
        return await self._cluster.entered()

    async def spawn(self, worker: str) -> Channel:
        return await self._cluster.spawn(self._named(worker))

    def log_folder(self, run_folder: Path, worker: str) -> str:
        return self._cluster.log_folder(run_folder, worker)

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        return await self._logs.fetch(self._cluster, run_folder)

    def resources(self) -> AsyncIterator[HostSample]:
        return self._cluster.resources()

    def process_ends(self) -> AsyncIterator[Ended]:
        return self._cluster.process_ends()

    async def down(self) -> None:
        """Do nothing: the code that started the cluster removes it, when no run needs it."""

    def _named(self, worker: str) -> str:
        """Return the worker's name in the cluster. Its role comes first, as listeners need."""
        return f"{worker}-of-{self._run}"
