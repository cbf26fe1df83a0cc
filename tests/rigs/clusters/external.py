"""A reference cluster that no deployment of mqproof started, and its owner's commands.

`mqproof reference mirrored` runs as the program that it is; the scripts find a node by its pid and
its configuration, stop it, and start it again as its owner would.
"""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pika
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from harness.cleanup.external_projects import anything_armed
from harness.deploy.external.deployment import ExternalDeployment
from harness.deploy.external.faults import equip
from harness.plan.declared import declared
from harness.plan.layouts.topology import Topology
from harness.plan.model import RunPlan
from harness.run.interrupts import Interrupt
from harness.run.live.live_run import LiveRun, Outside
from harness.run.preparing import Preparing
from harness.run.run_group import alone
from harness.run_folder.manifest import Manifest
from harness.systems.topologies import read_topology
from tests.rigs.clusters.topologies import HEAD, HOSTS, SYSTEMS, broker, command
from tests.rigs.machine.ports import PORTS, is_free

ROOT = Path(__file__).parents[3]
BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
STARTED = re.compile(r"(ref\d): amqp://[\d.]+:(\d+)/  api (http://[\d.:]+)/  process (\d+)")
OFFSETS = (0, 10_000, 20_000)  # AMQP, API, peers
AUTHORISATION = {"Authorization": "Basic Z3Vlc3Q6Z3Vlc3Q="}
MIRRORED: Mapping[str, str | int] = {"ha-mode": "all", "ha-sync-mode": "automatic"}

# What the owner would write: find the node's process by its file, and signal or start it.
STOPPER = """
import os, signal, subprocess, sys
from pathlib import Path
what, node, config, pids = sys.argv[1:5]
file = Path(pids) / node
flag = Path(pids) / f"{node}.cut"

def state():
    try:
        return Path(f"/proc/{file.read_text()}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"

pid = int(file.read_text())
print(what, node, pid, state())
if what == "boot" and state() == "T":  # as without power, until now
    os.kill(pid, signal.SIGKILL)
    while state() not in ("gone", "Z"):
        pass
if what in ("start", "boot") and state() in ("gone", "Z"):
    with open(Path(pids) / f"{node}.log", "ab") as log:
        new = subprocess.Popen(
            [sys.executable, "-m", "reference_impl", sys.argv[5], config],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )
    file.write_text(str(new.pid))
elif what in ("KILL", "TERM", "STOP", "CONT"):
    if state() not in ("gone", "Z"):
        os.kill(pid, getattr(signal, f"SIG{what}"))
elif what in ("cut", "whole"):
    flag.touch() if what == "cut" else flag.unlink(missing_ok=True)
elif what == "is cut":
    sys.exit(not flag.exists())
elif what == "down":
    sys.exit(state() not in ("gone", "Z"))
elif what == "frozen":
    sys.exit(state() != "T")
"""
TICK = "60"  # a node may stand still for so long without removal
STEPS = {
    "kill": {"do": "KILL", "undo": "start", "verify": "down"},
    "stop": {"do": "TERM", "undo": "start", "verify": "down"},
    "freeze": {"do": "STOP", "undo": "CONT", "verify": "frozen"},
    # A stand-in: nothing is cut, so only the word of `verify` tells of it, as of a real one.
    "partition": {"do": "cut", "undo": "whole", "verify": "is cut"},
    # What is stopped is as silent to clients as a host that is cut off, or without power.
    "black_hole": {"do": "STOP", "undo": "CONT", "verify": "frozen"},
    "reboot": {"do": "STOP", "undo": "boot", "verify": "frozen"},
}


@dataclass(frozen=True)
class Node:
    name: str
    port: int
    api: str
    config: Path
    pid: int  # of the process that it began with


@dataclass
class Owner:
    """Somebody's cluster: three nodes, their pids, and what he has on them."""

    folder: Path
    nodes: list[Node] = field(default_factory=list)

    def pid(self, node: str) -> int:
        return int((self.folder / node).read_text())

    def state(self, node: str) -> str:
        try:
            text = Path(f"/proc/{self.pid(node)}/stat").read_text()
        except OSError:
            return "gone"
        return text.rpartition(")")[2].split()[0]

    def ask(self, path: str, method: str = "GET", body: object = None, node: int = 0) -> Any:
        request = urllib.request.Request(
            f"{self.nodes[node].api}/api/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={**AUTHORISATION, "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=20) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def names(self, what: str) -> list[str]:
        return sorted(str(one["name"]) for one in self.ask(what))

    def declare(self, queue: str) -> None:
        with pika.BlockingConnection(
            pika.ConnectionParameters("127.0.0.1", self.nodes[0].port)
        ) as connection:
            connection.channel().queue_declare(queue, durable=True)

    def mirror(self, pattern: str = "^", definition: Mapping[str, str | int] = MIRRORED) -> None:
        body = {"pattern": pattern, "definition": definition, "apply-to": "queues", "priority": 0}
        self.ask("policies/%2F/owners", "PUT", body)

    def words(self, kind: str, node: Node, steps: Sequence[str]) -> Mapping[str, list[str | Path]]:
        return stopper_words(self.folder, kind, node.name, node.config, steps)

    def text(
        self,
        *tables: str,
        head: str = HEAD.replace("10 s", f"{TICK} s"),
        kinds: Sequence[str] = tuple(STEPS),
        steps: Sequence[str] = ("do", "undo", "verify"),
    ) -> str:
        brokers = [
            broker(
                place,
                f"127.0.0.1:{node.port}",
                node.api,
                "".join(command(kind, self.words(kind, node, steps)) for kind in kinds),
            )
            for place, node in enumerate(self.nodes)
        ]
        return "\n".join([head, *tables, *brokers])

    def topology(self, *tables: str, **parts: Any) -> Topology:
        return read_topology("staging", self.text(*tables, **parts), SYSTEMS)

    def node_of(self, host: str) -> str:
        return self.nodes[HOSTS.index(host)].name


def stopper_words(
    folder: Path, kind: str, name: str, config: Path, steps: Sequence[str], program: str = "node"
) -> Mapping[str, list[str | Path]]:
    """The commands of one server by step. `program`: the word that starts it again."""
    own = [name, config, folder, program]
    return {
        step: [sys.executable, folder / "stopper.py", STEPS[kind][step], *own] for step in steps
    }


@contextmanager
def standing(folder: Path) -> Iterator[Owner]:
    """Three nodes; whatever becomes of them, they are ended."""
    folder.mkdir()
    (folder / "stopper.py").write_text(STOPPER)
    # Of three nodes: AMQP, the API and peers.
    port = free_ports([place + offset for place in range(3) for offset in OFFSETS])
    words = ["reference", "mirrored", "--nodes", "3", "--port", str(port)]
    playing = subprocess.Popen(
        [sys.executable, "-m", "harness", *words, "--net-ticktime", TICK],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    owner = Owner(folder)
    try:
        assert playing.stdout is not None
        for _ in range(3):
            started = STARTED.match(playing.stdout.readline())
            assert started is not None, "a node did not start"
            owner.nodes.append(_node(owner, started))
        _agree(owner)
        yield owner
    finally:
        end(playing, {node.pid: owner.pid(node.name) for node in owner.nodes})


def end(playing: "subprocess.Popen[str]", servers: Mapping[int, int]) -> None:
    """End a playground. `servers`: the first process of each, and the present one.

    A server that an owner's command started is no child of the playground, and ends first: it
    would write into the folder that the playground removes.
    """
    for first, present in servers.items():
        with suppress(ProcessLookupError):
            os.kill(present, signal.SIGCONT if present == first else signal.SIGKILL)
    playing.terminate()  # SIGINT would be ignored where the tests run in the background
    try:
        assert playing.wait(30) == 0, "it did not end on request"
    finally:
        for present in servers.values():
            with suppress(ProcessLookupError):
                os.kill(present, signal.SIGKILL)


async def performed(
    of: RunPlan, folder: Path, happen: Callable[[Manifest], None] = lambda _: None
) -> None:
    """A run on the cluster of the plan's topology, recorded below `folder`."""
    manifest = Manifest.of(of)
    manifest.state = dict(declared(of))
    run_folder = folder / "runs" / of.name
    (run_folder / "logs").mkdir(parents=True)
    deployment = ExternalDeployment(equip, armed=anything_armed)
    cluster = await deployment.up(of.layout, folder, lambda _: None)
    try:
        prepared = await Preparing(
            of, cluster, run_folder, BOOT_ID, lambda _: None, alone()
        ).begin()

        def save(saved: Manifest) -> None:
            saved.save(run_folder)
            happen(saved)

        outside = Outside(Interrupt(), lambda _: None, save, print)
        await LiveRun(prepared, manifest, outside).perform()
        await cluster.fetch_logs(run_folder)
    finally:
        await cluster.down()


def _node(owner: Owner, started: "re.Match[str]") -> Node:
    name, port, api, pid = started.groups()
    (owner.folder / name).write_text(pid)
    argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    config = next(Path(word.decode()) for word in argv if word.endswith(b".json"))
    return Node(name, int(port), api, config, int(pid))


@retry(stop=stop_after_delay(30), wait=wait_fixed(0.1), retry=retry_if_result(lambda ok: not ok))
def _agree(owner: Owner) -> bool:
    """Every node lists all three."""
    return all(len(owner.ask("nodes", node=place)) == 3 for place in range(3))


def free_ports(offsets: Sequence[int]) -> int:
    """The first port of those that lie so far above it. Each process begins its search elsewhere:
    two that look at once would both find the same ones free."""
    firsts = range(8_500, PORTS.start - max(offsets), 17)
    begin = os.getpid() % len(firsts)
    for first in (*firsts[begin:], *firsts[:begin]):
        if all(is_free(first + offset) for offset in offsets):
            return first
    raise AssertionError("no free ports")
