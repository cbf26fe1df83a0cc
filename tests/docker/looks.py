"""Looks at a cluster that ask neither executor nor witness: what is in force, what still runs."""

import asyncio
import json
from typing import Any

from faults.core.compile import MARK
from faults.executors.project import Project
from harness.deploy import labels
from harness.deploy.compose.cluster import ComposeCluster
from harness.systems.rabbitmq.core.service_ports import EPMD_PORT


async def in_force(cluster: ComposeCluster) -> list[str]:
    """Every fault that is in force anywhere in the cluster."""
    hosts = _containers(cluster, "host")  # first and at once: what comes and goes goes soon
    rules = await asyncio.gather(*(asyncio.to_thread(rules_of, cluster, host) for host in hosts))
    found = [
        f"{host.name}: {rule}" for host, own in zip(hosts, rules, strict=True) for rule in own
    ]
    queues = await asyncio.gather(*(asyncio.to_thread(netem_of, cluster, host) for host in hosts))
    found += [
        f"{host.name}: {line}" for host, own in zip(hosts, queues, strict=True) for line in own
    ]
    processes = _containers(cluster, "process")
    found += [f"{c.name} is {c.status}" for c in processes if c.status != "running"]
    found += [f"toxic {name}" for name in await toxics(cluster)]
    found += [f"{name} is disabled" for name in await disabled(cluster)]
    found += [f"frozen: {line}" for line in workers_running(cluster) if line.startswith("T")]
    found += [f"{host} has an alarm" for host in await _in_alarm(cluster)]
    return found


async def toxics(cluster: ComposeCluster) -> list[str]:
    found = await _proxies(cluster)
    return [toxic["name"] for proxy in found.values() for toxic in proxy["toxics"]]


async def disabled(cluster: ComposeCluster) -> list[str]:
    return [name for name, proxy in (await _proxies(cluster)).items() if not proxy["enabled"]]


async def _proxies(cluster: ComposeCluster) -> dict[str, Any]:
    said = await cluster.agent.call(
        "http", 5.0, method="GET", url="http://toxiproxy:8474/proxies", headers={}, body=""
    )
    return dict(json.loads(said["body"]))


async def _in_alarm(cluster: ComposeCluster) -> set[str]:
    """By the word of any broker that answers, of any."""
    if cluster.alarms is None:
        return set()
    said = [await cluster.alarms(resource) for resource in ("memory", "disk")]
    answers = [alarms for each in said for alarms in each.values()]
    return {host for alarms in answers for host, alarm in alarms.items() if alarm}


def rules_of(cluster: ComposeCluster, host: Any) -> list[str]:
    """The rules of ours in a host's packet filter, told by a container of the test's own."""
    return [line for line in _beside(cluster, host, ["iptables", "-S"]) if MARK in line]


def netem_of(cluster: ComposeCluster, host: Any) -> list[str]:
    """Every netem of a host's interfaces, as a container of the test's own sees it."""
    return [line for line in _beside(cluster, host, ["tc", "qdisc", "show"]) if "netem" in line]


def _beside(cluster: ComposeCluster, host: Any, command: list[str]) -> list[str]:
    said = cluster.client.containers.run(
        Project(cluster.client, cluster.project).agent().image,
        entrypoint=command,
        network_mode=f"container:{host.id}",
        cap_add=["NET_ADMIN"],
        remove=True,
    )
    return list(said.decode().splitlines())


def workers_running(cluster: ComposeCluster) -> list[str]:
    """The worker processes of the cluster, by state and command line."""
    (container,) = _containers(cluster, "workers")
    processes = container.top(ps_args="-eo pid,stat,args")["Processes"] or []
    lines = [" ".join(row[1:]) for row in processes]
    return [line for line in lines if "harness.workers" in line]


def said(cluster: ComposeCluster, host: str, script: str) -> str:
    """What a shell inside the broker's own container prints."""
    marks = {labels.PROJECT: cluster.project, labels.ROLE: "process", labels.HOST: host}
    words = [f"{name}={value}" for name, value in marks.items()]
    (process,) = cluster.client.containers.list(filters={"label": words})
    return str(process.exec_run(["bash", "-c", script]).output.decode())


def epmd_answers(cluster: ComposeCluster, host: str, peer: str) -> bool:
    """Whether a peer's epmd answers what is asked in a host's own container."""
    ask = f'exec 3<>/dev/tcp/{peer}/{EPMD_PORT}; printf "\\0\\1n" >&3; head -c 8 <&3 | wc -c'
    return said(cluster, host, f"timeout 2 bash -c '{ask}'").strip() == "8"


def _containers(cluster: ComposeCluster, role: str) -> list[Any]:
    words = [f"{labels.PROJECT}={cluster.project}", f"{labels.ROLE}={role}"]
    return list(
        cluster.client.containers.list(all=True, filters={"label": words}, ignore_removed=True)
    )
