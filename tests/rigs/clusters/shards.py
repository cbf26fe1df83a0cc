"""A family of brokers that only tests know, as somebody else may run them: shards, each by itself.

Their protocol is a word, and another one back. What was asked of them is written down.
"""

import socketserver
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from faults.executors.service_ports import Greeting, ServicePorts
from harness.cluster.agent import AgentClient, AgentRefused
from harness.cluster.port import DeployError, Health
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import (
    BrokerCommandsTable,
    CredentialsTable,
    HostName,
    ProxyTable,
    Text,
    TopologyShape,
    TopologyTable,
    Way,
    WorkersTable,
)
from harness.plan.files.topology_toml import commands_of, proxy_of, twice
from harness.plan.layouts.layout_values import Host
from harness.plan.layouts.topology import BrokerNode, Topology
from harness.plan.model import Layout
from harness.plan.problems import Problem
from harness.systems.foreign import Access, ClientsDoor, Examined, Foreign

NAME = "acme-shards"
_REFUSED = "the login was refused"


@dataclass(frozen=True)
class Own:
    sets: bool
    summary: str = "shards: as they are"


class _Shard(BrokerCommandsTable):
    host: HostName
    door: Way


class _Shards(TopologyTable):
    system: Text
    sets: bool = False
    credentials: CredentialsTable
    workers: WorkersTable = WorkersTable()
    proxy: ProxyTable | None = None
    broker: list[_Shard]

    def problems(self) -> Iterator[TomlProblem]:
        return twice("door", self.broker)

    def topology(self, name: str, source: str) -> Topology:
        nodes = []
        for one in self.broker:
            address, port = one.door
            nodes.append(BrokerNode(one.host, one.host, address, port, commands_of(one)))
        return Topology(
            name=name,
            title="shards",
            system=self.system,
            detection_timeout_s=1.0,
            brokers=tuple(nodes),
            user=self.credentials.user,
            password=self.credentials.password,
            proxy=proxy_of(self.proxy),
            own=Own(self.sets),
            source=source,
        )


def _layout(topology: Topology) -> Layout:
    return Layout(
        name=topology.name,
        profile="T=1",
        system=NAME,
        title=topology.title,
        hosts=tuple(Host(one.host, one.address, (one.node,)) for one in topology.brokers),
        detection_timeout_s=topology.detection_timeout_s,
        copies=None,
        synchronise="",
        partition_handling="",
        policies=(),
        topology=topology,
    )


SHAPE = TopologyShape(file=_Shards)
SHARDS = """
system = "acme-shards"
[credentials]
user = "SHARDS_USER"
password = "SHARDS_PASSWORD"
[[broker]]
host = "one"
door = "10.0.0.1:7"
[broker.freeze]
do = ["ice"]
undo = ["sun"]
[[broker]]
host = "two"
door = "10.0.0.2:7"
"""


# --- brokers that are there -------------------------------------------------------------------


@dataclass
class Shards:
    """foreign.ForeignBrokers, and what becomes of them: what they refuse, whether they answer."""

    refused: tuple[str, ...] = ()
    untried: tuple[str, ...] = ()  # rights that the user lacks
    silent: bool = False
    unwilling: bool = False  # to have anything set
    calls: list[str] = field(default_factory=list)
    logins: set[tuple[str, str]] = field(default_factory=set)

    @property
    def broker(self) -> Any:
        return SimpleNamespace(
            greets=self._greets,
            health=self._health,
            versions=self._versions,
            set_policies=self._set,
            connections=None,
            listed=None,
        )

    async def refusals(self) -> tuple[Problem, ...]:
        return tuple(Problem("", one) for one in self.refused)

    async def rights(self) -> tuple[Problem, ...]:
        return tuple(Problem("shards.toml, [credentials]", one) for one in self.untried)

    async def contradictions(self) -> tuple[str, ...]:
        return ()

    async def examined(self) -> AsyncIterator[Examined]:
        yield Examined("shards", "one of them is cracked", "glue it")

    async def remove_queues(self) -> None:
        self.calls.append("queues removed")

    async def remove_settings(self) -> None:
        self.calls.append("settings removed")

    async def _greets(self, _host: str) -> bool:
        return not self.silent

    async def _health(self, _limit_s: float) -> Health:
        return Health(clean=True, doubts=())

    async def _versions(self) -> dict[str, str]:
        return {"shards": "7"}

    async def _set(self) -> None:
        self.calls.append("set")
        if self.unwilling:
            raise DeployError("they cannot be set")


async def _enter(broker: BrokerNode, agent: AgentClient, limit_s: float) -> None:
    way = {"host": broker.address, "port": broker.port}
    said = await agent.call("words_ask", limit_s, **way, says="let me in\n")
    if said["text"] != "come":
        raise AgentRefused(_REFUSED)


def foreign(shards: Shards) -> Foreign:
    def brokers(access: Access) -> Shards:
        shards.logins.add(access.login)
        return shards

    greeting = Greeting(says="knock\n", begins="who")
    return Foreign(
        shape=SHAPE,
        layout=_layout,
        clients=ClientsDoor(
            key_of=lambda _: "door",
            speaks="Shardish",
            service_ports=ServicePorts(
                hello=greeting, canaries=None, peer_word=None, usual=7, to_peers=None, ports={}
            ),
            enter=_enter,
            refuses=lambda error: str(error) == _REFUSED,
            remedy=lambda _topology, _reason: "is it locked?",
        ),
        brokers=brokers,
        other_ways=lambda _topology, _host: (),
        from_compose=None,
        example=None,
        driven_by=(),
    )


class _Door(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        words = {b"knock\n": b"who is there\n", b"let me in\n": b"come\n"}
        self.wfile.write(words.get(self.rfile.readline(), b"what?\n"))


@contextmanager
def door() -> Iterator[int]:
    """The port of a shard that answers, on loopback."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Door) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
