"""What a local cluster is, as a value that outlives the harness: addresses, files, commands.

1. It lies in the cluster's folder as JSON, so that a guardian can start a node as the harness did.
2. Every process of a cluster is started here, in a session of its own, with an environment that
   says whose it is: it is found by that, whatever becomes of its parent.
3. Nodes and the proxy end with their parent, by a pipe that only it holds, unless the cluster is
   to outlive it.
4. Brokers and the proxy get less of the processor than workers, where that can be had without
   being root; what was got is told.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from faults.executors import local_processes
from faults.peers import peer_link
from faults.toxiproxy import TOKEN
from harness.deploy.local.block import PROXY_PORT, Block
from harness.plan.misbehave import Misbehave
from harness.plan.model import Layout
from harness.systems.files import PACKAGES, own_folder
from harness.systems.port import Node, Processes

FILES = "deployments"
PLAN = "cluster.json"
PROXY_NAME = "toxiproxy"
NICER_BY = 5  # brokers and proxy than the harness, agent and workers
_NICE_MAX = 19
TOXIPROXY = "MQPROOF_TOXIPROXY"  # where the agent finds the proxy's API
LISTEN = "MQPROOF_LISTEN"  # where it makes listeners


@dataclass(frozen=True, slots=True)
class Site:
    """One cluster. A node's command is followed by the path of its configuration."""

    cluster: str
    experiment: str
    block: Block
    hosts: tuple[str, ...]
    client_port: int  # standard ports: the block may have shifted them
    peer_port: int
    owner: str
    keep: bool
    node: tuple[str, ...]
    proxy: tuple[str, ...]
    token: str = field(default="", repr=False)  # what the proxy's API asks for

    @property
    def folder(self) -> Path:
        return folder_of(Path(self.experiment), self.cluster)

    @property
    def data(self) -> Path:
        return data_of(self.folder)

    @property
    def toxiproxy(self) -> str:
        return f"{self.block.proxy}:{self.block.port(PROXY_PORT)}"

    def address(self, host: str) -> str:
        return self.block.host(self.hosts.index(host))

    def broker(self, host: str) -> tuple[str, int]:
        """Where its node speaks to clients."""
        return self.address(host), self.block.port(self.client_port)

    def peer(self, host: str) -> tuple[str, int]:
        """Where its node is dialled by others, past every proxy."""
        return self.address(host), self.block.port(self.peer_port)

    def config(self, host: str) -> Path:
        return self.folder / f"{host}.json"

    def log(self, host: str) -> Path:
        """What the broker logs."""
        return self.folder / f"{host}.log"

    def truth(self, host: str) -> Path:
        """What its node did wrong, where it was told to."""
        return self.folder / f"{host}.truth.jsonl"

    def output(self, name: str) -> Path:
        """What a process writes to its standard streams."""
        return self.folder / f"{name}.out"

    def save(self) -> None:
        """Raises OSError."""
        own_folder(self.folder)
        (self.folder / PLAN).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    def environment(self, role: str, name: str) -> dict[str, str]:
        """The proxy's token is for itself and the agent."""
        calls = role in (local_processes.PROXY, local_processes.AGENT)
        return {
            **os.environ,
            **({TOKEN: self.token} if calls else {}),
            local_processes.CLUSTER: self.cluster,
            local_processes.FOLDER: str(self.folder),
            local_processes.EXPERIMENT: self.experiment,
            local_processes.OWNER: self.owner,
            local_processes.KEEP: "1" if self.keep else "0",
            local_processes.ROLE: role,
            local_processes.HOST: name,
            TOXIPROXY: self.toxiproxy,
            LISTEN: self.block.proxy,
        }


def folder_of(experiment: Path, cluster: str) -> Path:
    return experiment / FILES / cluster


def data_of(folder: Path) -> Path:
    """What the nodes of a cluster store: it goes with the cluster."""
    return folder / "data"


def load(folder: Path) -> Site:
    """Raises OSError where there is none that can be read."""
    try:
        document = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        lists = {key: tuple(value) for key, value in document.items() if isinstance(value, list)}
        return Site(**{**document, **lists, "block": Block(**document["block"])})
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"{folder / PLAN} is none of ours: {error}") from error


def configure(
    site: Site,
    layout: Layout,
    processes: Processes,
    links: Mapping[str, tuple[str, int]],
    misbehave: Misbehave | None,
    cookie: str,
) -> None:
    """Writes each node's configuration. `links`: peer links by name; `cookie`: what only the nodes
    of this cluster are to know. Raises OSError."""
    for host in site.hosts:
        data = site.data / host
        data.mkdir(parents=True, exist_ok=True)
        node = Node(
            layout,
            host,
            site.address(host),
            site.block.port,
            peers={peer: links[peer_link(host, peer)] for peer in site.hosts if peer != host},
            data=str(data),
            log=str(site.log(host)),
            misbehave=(
                {**asdict(misbehave), "truth": str(site.truth(host))} if misbehave else None
            ),
            cookie=cookie,
        )
        document = processes.configuration(node)
        site.config(host).write_text(json.dumps(document, indent=1), encoding="utf-8")


def start_node(site: Site, host: str) -> "subprocess.Popen[bytes]":
    """On its own configuration and data. Raises OSError."""
    return _start(site, local_processes.NODE, host, [*site.node, str(site.config(host))])


def start_proxy(site: Site) -> "subprocess.Popen[bytes]":
    """Raises OSError."""
    address, _, port = site.toxiproxy.partition(":")
    command = [*site.proxy, "--host", address, "--port", port]
    return _start(site, local_processes.PROXY, PROXY_NAME, command)


def _start(site: Site, role: str, name: str, command: list[str]) -> "subprocess.Popen[bytes]":
    with site.output(name).open("ab") as output:
        if site.keep:
            process = _popen(site, role, name, command, subprocess.DEVNULL, output)
        else:
            ending = [*command, "--with-parent"]
            process = _popen(site, role, name, ending, subprocess.PIPE, output)
    lower(process.pid)
    local_processes.seen(process.pid)
    return process


def _popen(
    site: Site, role: str, name: str, command: list[str], stdin: int, output: IO[bytes]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=site.environment(role, name),
        cwd=PACKAGES,
        start_new_session=True,
    )


def lower(pid: int) -> None:
    """Less of the processor for a process that was started in a session of its own.

    Where the kernel shares the processor out by sessions, a nice value counts only inside one, and
    each session has a value of its own.
    """
    nice = min(os.getpriority(os.PRIO_PROCESS, 0) + NICER_BY, _NICE_MAX)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, nice)
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(nice), encoding="ascii")


def priorities(pid: int) -> str:
    """What a process got, for the record."""
    try:
        nice = f"nice {os.getpriority(os.PRIO_PROCESS, pid)}"
    except OSError:
        return "unknown"
    with suppress(OSError):
        session = Path(f"/proc/{pid}/autogroup").read_text(encoding="ascii").strip()
        nice += f", {session.partition(' ')[2]} as a session"
    return nice
