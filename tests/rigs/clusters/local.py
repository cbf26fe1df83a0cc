"""Clusters of stand-in nodes for tests of the `local` deployment: real processes, no broker."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from faults.core.model import Armed, Proof
from faults.core.options import FaultOptions
from faults.core.peers import peer_link
from faults.core.shapes import Way
from faults.performing import perform_all
from faults.rhythm import Rhythm
from faults.verification import gone, held, prepare
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.plan.layouts.layout_values import Host
from tests.rigs.clusters.fault_world import CLIENTS, REAL_OPTIONS_OF, compiled_fault
from tests.rigs.runs.plans import LAYOUT

NODE = (sys.executable, "-m", "tests.rigs.brokers.stand_in_node")
HOSTS = ("ref1", "ref2", "ref3")
UNMIRRORED = replace(
    LAYOUT,
    name="unmirrored",
    system="reference-mirrored",
    hosts=tuple(Host(name, name, ("broker",)) for name in HOSTS),
    copies=1,
    synchronise="none",
)
HELD_S, GONE_S = 10.0, 20.0
SILENCE_S = 3.0  # a peer's greeting comes at once


def deployment(*switches: str, **changes: Any) -> LocalDeployment:
    return LocalDeployment(equip, **{"node": (*NODE, *switches), **changes})


@asynccontextmanager
async def standing(folder: Path, **changes: Any) -> AsyncIterator[LocalCluster]:
    cluster = await deployment(**changes).up(UNMIRRORED, folder, lambda _: None)
    try:
        yield cluster
    finally:
        await cluster.down()


def armed(
    cluster: LocalCluster,
    kind: str,
    host: str = "ref2",
    proxies: Any = (),
    options: FaultOptions | None = None,
) -> Armed:
    return compiled_fault(
        kind,
        host,
        cluster.site.hosts,
        proxies,
        mechanism=cluster.executor.mechanism(kind),
        options=options or REAL_OPTIONS_OF[kind],
        clients=CLIENTS,
    )


async def seen(cluster: LocalCluster, fault: Armed) -> tuple[Proof, Proof]:
    """What verification says of the fault while it stands, and after it was undone."""
    assert fault.undo
    await prepare(fault, cluster.witness)
    rhythm = Rhythm(cluster.executor, fault, await perform_all(cluster.executor, fault.actions))
    holding = await held(fault, cluster.witness, HELD_S)
    await rhythm.end()
    assert rhythm.doubt == ""
    await perform_all(cluster.executor, fault.undo)
    leaving = await gone(fault, cluster.witness, GONE_S)
    await cluster.witness.dismiss(fault)
    return holding, leaving


async def silent(cluster: LocalCluster) -> set[Way]:
    """The ways by which a peer's greeting does not come, each as (from, to): the greeting's.

    Asked by plain sockets, not by the witness.
    """
    hosts = cluster.site.hosts
    ways = [(peer, host) for host in hosts for peer in hosts if peer != host]
    heard = await asyncio.gather(*(_greeted(cluster, host, peer) for peer, host in ways))
    return {way for way, found in zip(ways, heard, strict=True) if not found}


async def _greeted(cluster: LocalCluster, host: str, peer: str) -> bool:
    reader, writer = await asyncio.open_connection(*cluster.dial(peer_link(host, peer)))
    try:
        async with asyncio.timeout(SILENCE_S):
            return bool(await reader.read(1))
    except TimeoutError:
        return False
    finally:
        writer.transport.abort()


def listening(pid: int) -> list[str]:
    """The addresses on which a process listens for TCP, one for each socket."""
    links = Path(f"/proc/{pid}/fd").iterdir()
    sockets = {str(link.readlink()) for link in links if link.is_symlink()}
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    rows += [line.split() for line in Path(f"/proc/{pid}/net/tcp6").read_text().splitlines()[1:]]
    return [_dotted(row[1]) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]


def _dotted(entry: str) -> str:
    """Of `0B46407F:1628`; what is no IPv4 address is left as it is."""
    address, _, port = entry.partition(":")
    if len(address) != 8:
        return entry
    return f"{socket.inet_ntoa(bytes.fromhex(address)[::-1])}:{int(port, 16)}"
