"""Clusters of stand-in nodes for tests of the `local` deployment: real processes, no broker."""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from faults.compile import compile as compile_fault
from faults.model import Armed, Options, Proof
from faults.performing import perform_all
from faults.rhythm import Rhythm
from faults.verification import gone, held
from harness.deploy.local import LocalDeployment
from harness.deploy.local_cluster import LocalCluster
from harness.deploy.local_faults import equip
from harness.plan.model import Host
from tests.fault_world import CLIENTS, REAL_OPTIONS_OF
from tests.plans import LAYOUT

NODE = (sys.executable, "-m", "tests.harness.deploy.stand_in_node")
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
    options: Options | None = None,
) -> Armed:
    return compile_fault(
        kind,
        host,
        host,
        "",
        HOSTS,
        proxies,
        1,
        "run",
        returns=True,
        mechanism=cluster.executor.mechanism(kind),
        options=options or REAL_OPTIONS_OF[kind],
        clients=CLIENTS,
    )


async def seen(cluster: LocalCluster, fault: Armed) -> tuple[Proof, Proof]:
    """What verification says of the fault while it stands, and after it was undone."""
    assert fault.undo
    await cluster.witness.prepare(fault)
    rhythm = Rhythm(cluster.executor, fault, await perform_all(cluster.executor, fault.actions))
    holding = await held(fault, cluster.witness, HELD_S)
    await rhythm.end()
    assert rhythm.doubt == ""
    await perform_all(cluster.executor, fault.undo)
    leaving = await gone(fault, cluster.witness, GONE_S)
    await cluster.witness.dismiss(fault)
    return holding, leaving


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
