"""A reference of RocketMQ that no deployment of mqproof started, and its owner's commands.

`mqproof reference 2m2s` runs as the program that it is: external.py does the same for nodes of
mirrored queues.
"""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.plan.layouts.topology import Topology
from harness.systems.rocketmq.core.cluster_state import groups
from harness.systems.topologies import read_topology
from harness.workers.protocol import Endpoint
from harness.workers.remoting import answers, requests
from harness.workers.rocketmq.connection import Connection
from tests.rigs.clusters.external import ROOT, STOPPER, end, free_ports, stopper_words
from tests.rigs.clusters.topologies import command

SYSTEMS = ("reference-2m2s", "rocketmq-2m2s", "reference-dledger", "rocketmq-dledger")
HOSTS = ("rkt1", "rkt2", "rkt3", "rkt4")  # of broker-a-0, broker-a-1, broker-b-0, broker-b-1
COMPRESSION, IDLE_S = 20, 6  # 120 s, so many times shorter
BROKERS_AFTER, STEP = 1035, 10
STARTED = re.compile(r"(?P<name>[a-z0-9-]+): process (?P<pid>\d+)")
NAME_SERVERS = 2
HOST = "127.0.0.1"
ASK_LIMIT_S = 5.0
HEAD = f"""
system = "reference-2m2s"
replication = "sync"
flush = "async"
idle = "{IDLE_S} s"
poll = "1 s"
"""


def name_server(number: int, address: str) -> str:
    return f'''
[[name_server]]
host = "names{number}"
address = "{address}"
'''


def broker(place: int, address: str, more: str = "", size: int = 2) -> str:
    """The table of one broker of HOSTS, in groups of that size. `more`: keys and commands."""
    return f'''
[[broker]]
host = "{HOSTS[place]}"
group = "broker-{"ab"[place // size]}"
id = {place % size}
address = "{address}"
{more}
'''


def text(*tables: str, head: str = HEAD, commands: str = "") -> str:
    """Servers at addresses that nothing answers."""
    servers = [name_server(number, f"10.0.0.{number}:9876") for number in (1, 2)]
    servers += [broker(place, f"10.0.1.{place}:10911", commands) for place in range(len(HOSTS))]
    return "\n".join([head, *tables, *servers])


@dataclass(frozen=True)
class Playground:
    """A cluster that `mqproof reference WORD` starts: its brokers, and the head of its file."""

    word: str
    head: str
    brokers: int
    peers_after: int = 0  # a broker's port for its peers, above its own; 0: the file has no key

    @property
    def offsets(self) -> tuple[int, ...]:
        """Of all ports above the first: brokers have one more, for their slaves or peers."""
        firsts = [BROKERS_AFTER + STEP * place for place in range(self.brokers)]
        return (0, 1, *firsts, *(first + (self.peers_after or 1) for first in firsts))


MASTERS = Playground("2m2s", HEAD, len(HOSTS))
GROUP = Playground(
    "dledger", f'system = "reference-dledger"\nidle = "{IDLE_S} s"\npoll = "1 s"\n', 3, 5
)


@dataclass
class RocketOwner:
    """Somebody's cluster: its first port, and the processes that it began with."""

    folder: Path
    port: int
    playground: Playground = MASTERS
    configs: dict[str, Path] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)  # the process that each began with

    @property
    def brokers(self) -> list[str]:
        return [name for name in self.configs if name.startswith("broker-")]

    def pid(self, name: str) -> int:
        return int((self.folder / name).read_text())

    def address(self, place: int) -> str:
        return f"{HOST}:{self.broker_port(place)}"

    def broker_port(self, place: int) -> int:
        return self.port + BROKERS_AFTER + STEP * place

    def topics_and_groups(self) -> set[str]:
        """The names that brokers have."""
        places = range(self.playground.brokers)
        return {name for place in places for name in asyncio.run(self._names(place))}

    async def _names(self, place: int) -> list[str]:
        endpoint, topics = Endpoint("", HOST, self.broker_port(place)), requests.topic_configs()
        connection = await Connection.connect(endpoint, ASK_LIMIT_S)
        try:
            listed = answers.topics(topics, await connection.ask(topics, ASK_LIMIT_S))
            found = await connection.ask(requests.subscription_groups(), ASK_LIMIT_S)
            return [*(one.name for one in listed), *groups(found.body)]
        finally:
            connection.close()

    def text(
        self,
        *tables: str,
        kinds: Sequence[str] = ("kill", "freeze"),
        steps: Sequence[str] = ("do", "undo", "verify"),
    ) -> str:
        servers = [name_server(one, f"{HOST}:{self.port + one - 1}") for one in (1, 2)]
        for place, name in enumerate(self.brokers):
            commands = "".join(
                command(
                    kind,
                    stopper_words(self.folder, kind, name, self.configs[name], steps, "broker"),
                )
                for kind in kinds
            )
            servers.append(self._broker(place, commands))
        return "\n".join([self.playground.head, *tables, *servers])

    def _broker(self, place: int, commands: str) -> str:
        if not self.playground.peers_after:
            return broker(place, self.address(place), commands)
        port = self.broker_port(place) + self.playground.peers_after
        return broker(place, self.address(place), f"peer_port = {port}\n{commands}", size=3)

    def topology(self, *tables: str, **parts: Sequence[str]) -> Topology:
        return read_topology("staging", self.text(*tables, **parts), SYSTEMS)


@contextmanager
def standing(folder: Path, playground: Playground = MASTERS) -> Iterator[RocketOwner]:
    """Its servers; whatever becomes of them, they are ended."""
    folder.mkdir()
    (folder / "stopper.py").write_text(STOPPER)
    owner = RocketOwner(folder, free_ports(playground.offsets), playground)
    words = [
        "reference",
        playground.word,
        "--port",
        str(owner.port),
        "--compression",
        str(COMPRESSION),
    ]
    playing = subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert playing.stdout is not None
        assert playing.stdout.readline().startswith(f"{HOST}:{owner.port};")
        for _ in range(NAME_SERVERS + playground.brokers):
            started = STARTED.match(playing.stdout.readline())
            assert started is not None, "a server did not start"
            _note(owner, started["name"], started["pid"])
        yield owner
    finally:
        end(playing, {first: owner.pid(name) for name, first in owner.first.items()})


def _note(owner: RocketOwner, name: str, pid: str) -> None:
    (owner.folder / name).write_text(pid)
    owner.first[name] = int(pid)
    argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    owner.configs[name] = next(Path(one.decode()) for one in argv if one.endswith(b".conf"))
