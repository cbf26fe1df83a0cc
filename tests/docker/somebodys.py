"""Somebody's brokers: three RabbitMQ nodes and a Toxiproxy that no deployment of mqproof started.

1. `docker run`, with names and a label of their owner's own: nothing tells mqproof of them but a
   topology file. This machine dials their addresses, as it would dial machines in a rack.
2. The user that mqproof gets may do what the example of a topology file says, and no more.
3. Beside what mqproof makes there are a queue and a policy that are none of its business.
4. A node that has spoilt the cluster is no test's fault: all of it is replaced.
"""

import json
import subprocess
import time
import urllib.error
import urllib.request
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from harness.deploy import engine, images
from harness.deploy.compose.subnets import free_network
from harness.plan.layouts.topology import Topology
from harness.systems.topologies import read_topology
from tests.rigs.clusters.topologies import HOSTS, SYSTEMS, broker, command

NODES = (
    "ref1",
    "ref2",
    "ref3",
)  # rabbit@ref1 and so on, as tests.rigs.clusters.topologies calls them
TICK_S = 60  # a node may stand still for a moment without removal
UP_LIMIT_S = 120.0
CLEAN_LIMIT_S = 60.0
LABEL = "somebodys"
USER, PASSWORD = "rack", "a-long-swordfish"
HEAD = f"""
system = "rabbitmq-mirrored"
net_ticktime = "{TICK_S} s"
partition_handling = "pause_minority"
[credentials]
user = "RACK_USER"
password = "RACK_PASSWORD"
[queues]
policies = "set"
copies = 3
synchronise = "automatic"
"""
THEIRS = "mqproof.somebody.elses"  # a queue: begins as ours do, and is of no run of ours
THEIR_POLICY = {
    "pattern": "^",
    "definition": {"ha-mode": "exactly", "ha-params": 1},
    "apply-to": "queues",
    "priority": 7,
}
# What the owner would write; `$1` is the container. An undo must be harmless where nothing is.
_STATE = 'test "$(docker inspect -f "{{.State.%s}}" "$1")" = %s'
# On a busy machine the kernel may need longer than the engine waits, which thaws it again.
_FREEZE = " || ".join(['docker pause "$1"'] * 3)
_THAW = f'docker unpause "$1" || {_STATE % ("Paused", "false")}'
# Without a proxy: the environment's are for the world outside.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def docker(*words: str) -> str:
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"docker {words[0]}: {done.stderr}"
    return done.stdout.strip()


@dataclass
class Somebodys:
    """One cluster at a time."""

    name: str = ""
    network: str = ""  # the first three parts of its addresses

    # --- up and down ----------------------------------------------------------------------------

    def clean(self) -> "Somebodys":
        """A cluster that is well; another one where it cannot be had of this one."""
        if self.name and self._well():
            return self
        self.down()
        self._up()
        return self

    def down(self) -> None:
        if not self.name:
            return
        if found := docker("ps", "-aq", "--filter", f"label={LABEL}={self.name}").split():
            docker("rm", "-f", "-v", *found)
        docker("network", "rm", self.name)
        self.name = ""

    def _up(self) -> None:
        self.name = f"somebodys-{time.monotonic_ns():x}"
        client = engine.connect()
        found = images.ensure(client, "rabbitmq-mirrored", lambda _: None, balanced=False)
        self.network = free_network(client)
        marked = ("--label", f"{LABEL}={self.name}")
        docker("network", "create", "--subnet", f"{self.network}.0/24", *marked, self.name)
        for node in NODES:
            self._start(node, found.broker, *_environment())
        self._start("toxiproxy", found.proxy)
        assert until_agreed(self), f"three nodes did not agree within {UP_LIMIT_S:g} s"
        self._furnish()

    def _start(self, node: str, image: str, *words: str) -> None:
        place = ("--network", self.name, "--ip", self.address(node), "--network-alias", node)
        names = ("--name", self.container(node), "--hostname", node)
        docker("run", "-d", *names, "--label", f"{LABEL}={self.name}", *place, *words, image)

    def permit(self, **other: str) -> None:
        """Give mqproof's user what the documentation asks for, or something else."""
        allowed = {
            "configure": "^mqproof[.-]",
            "write": r"^(mqproof[.-].*|amq\.default)$",
            "read": "^mqproof[.-]",
        }
        self.ask(f"permissions/%2F/{USER}", "PUT", {**allowed, **other})

    def _furnish(self) -> None:
        """A user for mqproof, and what is not mqproof's."""
        self.ask(f"users/{USER}", "PUT", {"password": PASSWORD, "tags": "monitoring,policymaker"})
        self.permit()
        self.ask(f"queues/%2F/{THEIRS}", "PUT", {"durable": True})
        self.ask("policies/%2F/theirs", "PUT", THEIR_POLICY)

    def _well(self) -> bool:
        return until_agreed(self, CLEAN_LIMIT_S)

    # --- what it is -----------------------------------------------------------------------------

    def container(self, node: str) -> str:
        return f"{self.name}-{node}"

    def address(self, node: str) -> str:
        return f"{self.network}.{11 + (*NODES, 'toxiproxy').index(node)}"

    @property
    def proxy(self) -> str:
        """The table of the Toxiproxy that is there."""
        return f'[proxy]\nat = "{self.address("toxiproxy")}:8474"\n'

    def text(self, *tables: str, verified: bool = True) -> str:
        brokers = [
            broker(
                place,
                f"{self.address(node)}:5672",
                f"http://{self.address(node)}:15672",
                _commands(self.container(node), verified),
            )
            for place, node in enumerate(NODES)
        ]
        return "\n".join([HEAD, *tables, *brokers])

    def topology(self, *tables: str, verified: bool = True) -> Topology:
        return read_topology("rack", self.text(*tables, verified=verified), SYSTEMS)

    # --- what exists, seen by its owner ----------------------------------------------------------

    def ask(self, path: str, method: str = "GET", body: object = None, node: str = "ref1") -> Any:
        request = urllib.request.Request(
            f"http://{self.address(node)}:15672/api/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": _basic("guest", "guest"),
                "Content-Type": "application/json",
            },
            method=method,
        )
        with _DIRECTLY.open(request, timeout=20) as reply:
            said = reply.read()
        return json.loads(said) if said else None

    def names(self, what: str) -> list[str]:
        return sorted(str(one["name"]) for one in self.ask(what))

    def connections(self) -> list[str]:
        return [str(one.get("user_provided_name")) for one in self.ask("connections")]

    def listeners(self) -> dict[str, Any]:
        """The proxies of the Toxiproxy that is there."""
        url = f"http://{self.address('toxiproxy')}:8474/proxies"
        with _DIRECTLY.open(url, timeout=20) as reply:
            return dict(json.loads(reply.read()))

    def states(self) -> dict[str, str]:
        """Container states by host: running, paused, exited."""
        containers = [self.container(node) for node in NODES]
        said = docker("inspect", "-f", "{{.State.Status}}", *containers)
        return dict(zip(HOSTS, said.split(), strict=True))

    def agrees(self) -> bool:
        """Every node runs, lists all three as running, and sees no partition."""
        try:
            said = [self.ask("nodes", node=node) for node in NODES]
        except (OSError, urllib.error.HTTPError):
            return False
        return all(
            len(listed) == len(NODES)
            and all(one.get("running") and not one.get("partitions") for one in listed)
            for listed in said
        )


def until_agreed(cluster: Somebodys, limit_s: float = UP_LIMIT_S) -> bool:
    looking = retry(
        stop=stop_after_delay(limit_s),
        wait=wait_fixed(0.5),
        retry=retry_if_result(lambda agreed: not agreed),
        retry_error_callback=lambda _: False,
    )
    return bool(looking(cluster.agrees)())


def _environment() -> list[str]:
    """What the image's entry point makes a configuration of."""
    words = {
        "MQPROOF_COOKIE": "somebodys",
        "MQPROOF_NODES": " ".join(NODES),
        "MQPROOF_NET_TICKTIME": str(TICK_S),
        "MQPROOF_PARTITION_HANDLING": "pause_minority",
        "MQPROOF_MEMORY_HIGH_WATERMARK": "2GB",
    }
    return [word for name, value in words.items() for word in ("-e", f"{name}={value}")]


def _commands(container: str, verified: bool) -> str:
    killed = _shell(_STATE % ("Running", "false"), container)
    paused = _shell(_STATE % ("Paused", "true"), container)
    kill = {"do": ["docker", "kill", container], "undo": ["docker", "start", container]}
    freeze = {"do": _shell(_FREEZE, container), "undo": _shell(_THAW, container)}
    return command("kill", {**kill, **({"verify": killed} if verified else {})}, "60 s") + command(
        "freeze", {**freeze, **({"verify": paused} if verified else {})}, "30 s"
    )


def _shell(script: str, container: str) -> list[str | Path]:
    return ["sh", "-c", script, "owner", container]


def _basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
