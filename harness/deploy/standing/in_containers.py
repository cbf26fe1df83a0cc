"""A cluster in containers that another process of mqproof started and keeps: attached for a run.

1. The run has an agent of its own in the agents' container.
2. The workers' container mounts the keeper's folder. A run's worker logs lie there during the run;
   its own folder leads to them by links, and gets the files themselves at the end.
"""

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.cluster.port import DeployError
from harness.deploy import engine
from harness.deploy.compose.cluster import ComposeCluster, FoundContainers
from harness.deploy.compose.deployment import Equip, start_agent
from harness.plan.layouts.layout_values import Host
from harness.plan.model import Layout

PROJECT, FOLDER, ADDRESSES, VERSIONS = "project", "folder", "addresses", "versions"
_WORKER_LOGS = "logs-of-runs"


class LinkedLogs:
    """compose.cluster.WorkerLogs of a run whose folder no container mounts."""

    def __init__(self, mounted: Path) -> None:
        self._mounted = mounted

    def folder(self, logs: Path, worker: str) -> Path:
        """Raises OSError."""
        run = logs.parent
        kept = self._mounted / _WORKER_LOGS / run.parent.parent.name / run.name
        kept.mkdir(parents=True, exist_ok=True)
        (logs / worker).symlink_to(kept / worker)
        return kept / worker

    def collect(self, logs: Path) -> None:
        """Replace links by what they lead to. A link stays until that is whole. Raise OSError."""
        for link in [one for one in logs.glob("*") if one.is_symlink()]:
            kept, moved = link.readlink(), logs.parent / f".{link.name}"
            if kept.exists():
                shutil.rmtree(moved, ignore_errors=True)  # an earlier attempt that failed
                shutil.move(kept, moved)
            link.unlink()
            if moved.exists():
                moved.rename(link)


def facts_of(cluster: ComposeCluster, mounted: Path) -> dict[str, Any]:
    """Return what another process needs to attach to it."""
    hosts = (*cluster.layout.hosts, *cluster.layout.spares)
    return {
        PROJECT: cluster.project,
        FOLDER: str(mounted.resolve()),
        ADDRESSES: {host.name: host.address for host in hosts},
        VERSIONS: cluster.versions(),
    }


async def attached(layout: Layout, facts: Mapping[str, Any], equip: Equip) -> ComposeCluster:
    """Raises DeployError."""
    addresses, folder = dict(facts[ADDRESSES]), Path(facts[FOLDER])
    client = await asyncio.to_thread(engine.connect)
    containers = await asyncio.to_thread(FoundContainers.find, client, facts[PROJECT])
    agent = await start_agent(client, containers)
    try:
        cluster = ComposeCluster(
            client,
            facts[PROJECT],
            _placed(layout, addresses),
            folder,
            _network(addresses),
            agent,
            containers.of(addresses.keys()),
            dict(facts[VERSIONS]),
        )
        cluster.worker_logs = LinkedLogs(folder)
        cluster.executor, cluster.witness = equip(cluster)
    except BaseException:
        await agent.close()
        raise
    return cluster


def _network(addresses: Mapping[str, str]) -> str:
    """Return the first three parts, which all addresses share."""
    (network,) = {address.rpartition(".")[0] for address in addresses.values()}
    return network


def _placed(layout: Layout, addresses: Mapping[str, str]) -> Layout:
    """Raises DeployError where the layout has other hosts."""

    def placed(hosts: tuple[Host, ...]) -> tuple[Host, ...]:
        return tuple(replace(host, address=addresses[host.name]) for host in hosts)

    try:
        return replace(layout, hosts=placed(layout.hosts), spares=placed(layout.spares))
    except KeyError as error:
        raise DeployError(f"the running cluster has no host {error}") from error
