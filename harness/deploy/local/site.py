"""The plan of a local cluster, a value that outlives the harness: addresses, files, commands.

1. It is in the cluster's folder as JSON, so that a guardian can start a node as the harness did.
2. Every process of a cluster is started here, in its own session, with an environment that names
   its cluster: it is found by that, even without its parent.
3. Nodes and the proxy end with their parent, by a pipe that only it holds, unless the cluster is
   to outlive it.
4. Brokers and the proxy get less CPU than workers, if that is possible without root; the result is
   recorded.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from faults.core.peers import peer_link
from faults.core.places import host_of, place, process_of
from faults.executors import local_processes
from faults.toxiproxy import TOKEN
from harness.deploy.loopback_block import PROXY_PORT, Block, Place
from harness.plan.misbehave import Misbehave
from harness.plan.model import Layout
from harness.systems.files import PACKAGES, own_folder
from harness.systems.port import Node, Processes, Unit
from spark_analysis.files.regular import json_of
from spark_analysis.files.writing import write_whole

FILES = "deployments"
PLAN = "cluster.json"
PLAN_BYTES_MAX = 1 << 24
PROXY_NAME = "toxiproxy"
NICER_BY = 5  # brokers and proxy than the harness, agent and workers
_NICE_MAX = 19
TOXIPROXY = "MQPROOF_TOXIPROXY"  # where the agent finds the proxy's API
LISTEN = "MQPROOF_LISTEN"  # where it makes listeners


@dataclass(frozen=True, slots=True)
class Site:
    """One cluster. Ports are standard ones: the block may have shifted them."""

    cluster: str
    experiment: str
    block: Block
    units: tuple[Unit, ...]
    peer_port: int | None  # None: hosts dial each other past the proxy
    owner: str
    keep: bool
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

    @property
    def proxy_place(self) -> Place:
        return self.block.proxy, self.block.port(PROXY_PORT)

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(unit.host for unit in self.units))

    @property
    def names(self) -> tuple[str, ...]:
        """Of all units, as their files are called."""
        return tuple(map(self.name, self.units))

    @property
    def addresses(self) -> dict[str, str]:
        return {host: self.block.host(number) for number, host in enumerate(self.hosts)}

    def address(self, host: str) -> str:
        return self.addresses[host]

    def of(self, place: str) -> tuple[Unit, ...]:
        """Of a host, or the one of it that the place names."""
        host, word = host_of(place), process_of(place)
        return tuple(one for one in self.units if one.host == host and word in ("", one.word))

    @property
    def places(self) -> tuple[str, ...]:
        """All that a fault can mean: hosts, and each process of one."""
        return (*self.hosts, *(place(unit.host, unit.word) for unit in self.units))

    def unit(self, host: str, word: str) -> Unit:
        (found,) = self.of(place(host, word))
        return found

    def alone(self, unit: Unit) -> bool:
        """Whether its host has no other process."""
        return len(self.of(unit.host)) == 1

    def name(self, unit: Unit) -> str:
        """Of one that is alone on its host it is the host's."""
        return unit.host if self.alone(unit) else f"{unit.host}-{unit.word}"

    def met_at(self, unit: Unit) -> str:
        """Return the place to report its end by: its host, if it is alone there."""
        return unit.host if self.alone(unit) else place(unit.host, unit.word)

    def ways(self, place: str) -> tuple[tuple[str, int], ...]:
        """Return where each process of a place answers queries."""
        return tuple(
            (self.address(unit.host), self.block.port(unit.speaks_at)) for unit in self.of(place)
        )

    def unit_places(self, unit: Unit) -> tuple[Place, ...]:
        """Return all that a process binds."""
        address = self.address(unit.host)
        return tuple((address, self.block.port(port)) for port in unit.ports)

    def broker(self, place: str) -> tuple[str, int]:
        """Where to knock: at the first process of several."""
        return self.ways(place)[0]

    def peer(self, host: str) -> tuple[str, int]:
        """Where its node is dialled by others, past every proxy."""
        assert self.peer_port is not None, "no peer connects to it through the proxy"
        return self.address(host), self.block.port(self.peer_port)

    def config(self, unit: Unit) -> Path:
        return self.folder / f"{self.name(unit)}.conf"

    def log(self, name: str) -> Path:
        """What the broker logs."""
        return self.folder / f"{name}.log"

    def truth(self, name: str) -> Path:
        """Return the file in which a misbehaving unit records each defect."""
        return self.folder / f"{name}.truth.jsonl"

    def output(self, name: str) -> Path:
        """What a process writes to its standard streams."""
        return self.folder / f"{name}.out"

    def save(self) -> None:
        """Raises OSError."""
        own_folder(self.folder)
        write_whole(self.folder / PLAN, json.dumps(asdict(self), indent=1))

    def environment(self, role: str, name: str, process: str = "") -> dict[str, str]:
        """`name`: a node's host, and `process` its word; another process's own. The proxy's token
        is for itself and the agent."""
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
            local_processes.PROCESS: process,
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
        document = json_of(folder / PLAN, PLAN_BYTES_MAX)
        units = tuple(
            Unit(**{**unit, "command": tuple(unit["command"]), "ports": tuple(unit["ports"])})
            for unit in document["units"]
        )
        parts = {"proxy": tuple(document["proxy"]), "block": Block(**document["block"])}
        return Site(**{**document, **parts, "units": units})
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
    """Writes each unit's configuration. `links`: peer links by name, if there are any; `cookie`:
    what only the nodes of this cluster are to know. Raises OSError."""
    for unit in site.units:
        name, others = site.name(unit), [host for host in site.hosts if host != unit.host]
        data = site.data / name
        data.mkdir(parents=True, exist_ok=True)
        node = Node(
            layout,
            unit.host,
            unit.word,
            site.addresses,
            site.block.port,
            peers={peer: links[peer_link(unit.host, peer)] for peer in others if links},
            data=str(data),
            log=str(site.log(name)),
            misbehave=(
                {**asdict(misbehave), "truth": str(site.truth(name))} if misbehave else None
            ),
            cookie=cookie,
        )
        write_whole(site.config(unit), processes.configuration(node).encode())


def start_unit(site: Site, unit: Unit) -> "subprocess.Popen[bytes]":
    """On its own configuration and data. Raises OSError."""
    command = [*unit.command, str(site.config(unit))]
    marks = site.environment(local_processes.NODE, unit.host, unit.word)
    return _start(site, site.name(unit), command, marks)


def runs(site: Site, unit: Unit) -> bool:
    """Whether there is a process of it, however it is doing."""
    own = place(unit.host, unit.word)
    return bool(local_processes.of(site.cluster, local_processes.NODE, own))


def start_proxy(site: Site) -> "subprocess.Popen[bytes]":
    """Raises OSError."""
    address, _, port = site.toxiproxy.partition(":")
    command = [*site.proxy, "--host", address, "--port", port]
    marks = site.environment(local_processes.PROXY, PROXY_NAME)
    return _start(site, PROXY_NAME, command, marks)


def _start(
    site: Site, name: str, command: list[str], marks: dict[str, str]
) -> "subprocess.Popen[bytes]":
    with site.output(name).open("ab") as output:
        if site.keep:
            process = _popen(command, marks, subprocess.DEVNULL, output)
        else:
            process = _popen([*command, "--with-parent"], marks, subprocess.PIPE, output)
    lower(process.pid)
    local_processes.seen(process.pid)
    return process


def _popen(
    command: list[str], marks: dict[str, str], stdin: int, output: IO[bytes]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=marks,
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
        nice += f", autogroup {session.partition(' ')[2]}"
    return nice
