"""The shape of a topology file of RabbitMQ's nodes, whatever their queues.

1. The shape checks every key by itself; `problems` checks several keys together.
2. What the file does not declare is unknown: the layout has None or "" there.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import (
    BROKERS_MAX,
    BrokerCommandsTable,
    CredentialsTable,
    HostName,
    ProxyTable,
    ServerName,
    Text,
    Title,
    TlsTable,
    TopologyTable,
    Url,
    VirtualHost,
    Way,
    WorkersTable,
    seconds,
)
from harness.plan.files.topology_toml import commands_of, proxy_of, twice
from harness.plan.layouts.layout_values import BALANCER, HOSTS, Host, PauseIfAllDown, Policy
from harness.plan.layouts.topology import ROOT, BrokerNode, Topology
from harness.plan.model import Layout
from harness.plan.problems import nearest
from harness.systems.rabbitmq.core.layouts import DETECTION_TIMEOUT_S, PAUSE, Handling
from harness.systems.rabbitmq.core.member_layouts import CATCHES_UP
from harness.systems.rabbitmq.foreign.core.arguments import Arguments
from harness.systems.rabbitmq.foreign.core.own import RabbitOwn, own

_NODE = re.compile(r"[^\s@]{1,255}@[^\s@]{1,255}")
_WAYS = ("amqp", "amqps")


def _node(value: object) -> str:
    if isinstance(value, str) and _NODE.fullmatch(value):
        return value
    raise ValueError(
        f"must be what the cluster calls the node, like rabbit@rmq1, not {brief(value)}"
    )


class _WayTable(TopologyTable):
    """A listener that clients can dial."""

    amqp: Way | None = Field(
        default=None, title="`ADDRESS:PORT`", description="the listener without TLS"
    )
    amqps: Way | None = Field(
        default=None,
        title="`ADDRESS:PORT`",
        description="the listener with TLS, instead of `amqp`; needs `[tls]`",
    )
    server_name: ServerName | None = Field(
        default=None,
        description="the name that the certificate must hold, if it is not the address; TLS "
        "requests it (SNI)",
    )

    @property
    def given_ways(self) -> list[str]:
        """Return the keys of its listeners that the file has."""
        return [key for key in _WAYS if key in self.given]

    @property
    def way(self) -> tuple[str, int] | None:
        return self.amqps or self.amqp


class _BalancerTable(_WayTable):
    def value(self) -> BrokerNode:
        assert self.way is not None, "`problems` asks for one"
        return BrokerNode(BALANCER, "", *self.way, server_name=self.server_name or "")


class RabbitBrokerTable(BrokerCommandsTable, _WayTable):
    host: HostName = Field(description="the name in scenarios and reports")
    node: Annotated[str, BeforeValidator(_node)] = Field(
        title="`NAME@HOST`", description="the name in the cluster, such as `rabbit@rmq1`"
    )
    management: Url | None = Field(
        default=None,
        description="the management API. At least one broker has it; what only another broker's "
        "own API would report is unknown",
    )

    def broker(self, balancer: BrokerNode | None) -> BrokerNode:
        """`balancer`: how it is reached if it has no address of its own."""
        commands, name = commands_of(self), self.server_name or ""
        if self.way is not None:
            return BrokerNode(self.host, self.node, *self.way, commands, name)
        assert balancer is not None, "`problems` asks for one of them"
        where, name = (balancer.address, balancer.port), balancer.server_name
        return BrokerNode(self.host, self.node, *where, commands, name, reached=False)


class _PauseTable(TopologyTable):
    hosts: Annotated[list[Text], Field(min_length=1, max_length=BROKERS_MAX)] = Field(
        description="a node pauses if it sees none of these hosts"
    )
    recover: Literal["ignore", "autoheal"] = Field(description="when the partition ends")


class QueuesTable(TopologyTable):
    """What tables of all kinds of queues have."""

    arguments: Arguments = Field(
        default_factory=dict,
        title="table",
        description="arguments of each queue's declaration, such as `x-queue-mode`. Those by "
        "which a broker drops or expires messages are refused",
    )


class RabbitTopologyFile(TopologyTable):
    """What every topology file of nodes has; a family adds `queues`."""

    title: Title = Field(default="A cluster that is there", description="the name in reports")
    system: Text = Field(description="a system whose clusters can be external")
    net_ticktime: Annotated[float, seconds(*DETECTION_TIMEOUT_S)] = Field(
        title="length of time", description="the cluster's net tick time: T in scenarios"
    )
    partition_handling: Handling | None = Field(
        default=None, description="as the cluster is configured; without it unknown"
    )
    pause_if_all_down: _PauseTable | None = Field(
        default=None, description="required by that partition handling"
    )
    virtual_host: VirtualHost = Field(default=ROOT, description="where mqproof's queues are made")
    credentials: CredentialsTable = Field(description="names of variables, never values")
    tls: TlsTable | None = Field(default=None, description="required by `amqps`")
    workers: WorkersTable = Field(default=WorkersTable(), description="where clients run")
    proxy: ProxyTable | None = Field(
        default=None,
        description="client links pass through a Toxiproxy; without it faults of client links "
        "are not allowed",
    )
    balancer: _BalancerTable | None = Field(
        default=None,
        description="a load balancer, which is the one address that clients get. Brokers need no "
        "`amqp` then",
    )
    broker: Annotated[list[RabbitBrokerTable], Field(min_length=1, max_length=BROKERS_MAX)] = (
        Field(description="one table per node")
    )

    def of_queues(self, name: str, source: str, own: RabbitOwn) -> Topology:
        """The topology, with what a kind of queue says of itself."""
        balancer = self.balancer.value() if self.balancer else None
        return Topology(
            name=name,
            title=self.title,
            system=self.system,
            detection_timeout_s=self.net_ticktime,
            brokers=tuple(one.broker(balancer) for one in self.broker),
            user=self.credentials.user,
            password=self.credentials.password,
            proxy=proxy_of(self.proxy),
            own=own,
            source=source,
            tls=self.tls.value() if self.tls else None,
            virtual_host=self.virtual_host,
            balancer=balancer,
        )

    def of_members(self, name: str, source: str, queues: QueuesTable, copies: int) -> Topology:
        """The same where mqproof declares replicas itself, and sets no policy."""
        own = RabbitOwn(
            management=self.management,
            sets=False,
            copies=copies,
            synchronise=CATCHES_UP,
            partition_handling=self.partition_handling or "",
            pause=self.pause,
            arguments=tuple(queues.arguments.items()),
            without_api=self.without_api,
        )
        return self.of_queues(name, source, own)

    @property
    def management(self) -> dict[str, str]:
        """By host, of those that have one."""
        return {one.host: one.management for one in self.broker if one.management}

    @property
    def without_api(self) -> tuple[str, ...]:
        """Hosts without one."""
        return tuple(one.host for one in self.broker if not one.management)

    @property
    def pause(self) -> PauseIfAllDown | None:
        found = self.pause_if_all_down
        return PauseIfAllDown(tuple(found.hosts), found.recover) if found else None

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together; the shape finds missing and ill-typed keys."""
        for key in ("node", *_WAYS, "management"):
            yield from twice(key, self.broker)
        yield from self._way_problems()
        yield from self._pause_problems()
        if self.broker and not any("management" in one.given for one in self.broker):
            text = "is missing: at least one broker's API is needed, because it reports who holds "
            yield TomlProblem(("broker", 0, "management"), f"{text}a queue")

    def replica_problems(self, key: str, count: int | None) -> Iterator[TomlProblem]:
        """Check a number of replicas, which the hosts must hold. `key`: of [queues]."""
        if count is not None and 0 < len(self.broker) < count:
            yield TomlProblem(("queues", key), f"{count} {key} on {len(self.broker)} brokers")

    def _way_problems(self) -> Iterator[TomlProblem]:
        """Check the listeners: each has one, all of the same kind; TLS says whom it trusts."""
        places: list[tuple[Path, _WayTable]] = [
            (("broker", index), one) for index, one in enumerate(self.broker)
        ]
        # A family may refuse the table; that brokers need no listener then stays true.
        balanced = isinstance(self.given.get("balancer"), dict)
        if balanced:
            places.append((("balancer",), _BalancerTable.readable(self.given["balancer"])))
        for index, broker in enumerate(self.broker if balanced else ()):
            if broker.host == BALANCER:
                text = "is what reports call the balancer: choose another name"
                yield TomlProblem(("broker", index, "host"), text)
        for place, table in places:
            found = table.given_ways
            optional = balanced and place[0] == "broker"
            if len(found) > 1 or not (found or optional):
                text = "needs exactly one of `amqp` and `amqps`" if found else "is missing"
                yield TomlProblem((*place, "amqp"), text, ('amqp = "ADDRESS:PORT"', "amqps"))
        yield from self._tls_problems([one for one in places if one[1].given_ways])

    def _tls_problems(self, reached: Sequence[tuple[Path, _WayTable]]) -> Iterator[TomlProblem]:
        encrypted = [place for place, table in reached if "amqps" in table.given]
        plain = [place for place, table in reached if "amqps" not in table.given]
        if encrypted and plain:
            text = "all listeners, or none: clients connect in one way to every broker"
            yield TomlProblem((*plain[0], "amqps"), text)
        if encrypted and "tls" not in self.given:
            text = "needs a table [tls] with `ca`: who is trusted to sign brokers' certificates"
            yield TomlProblem((*encrypted[0], "amqps"), text)
        if reached and "tls" in self.given and not encrypted:
            text = "is used by no broker: none has `amqps`; take the table out, or write `amqps`"
            yield TomlProblem(("tls",), text)
        given = self.tls.given if self.tls is not None else {}
        if "key" in given and "certificate" not in given:
            yield TomlProblem(("tls", "key"), "is a key without `certificate`")

    def _pause_problems(self) -> Iterator[TomlProblem]:
        pause, pauses = self.pause_if_all_down, self.partition_handling == PAUSE
        if pauses and pause is None:
            text = f"needs a table [{PAUSE}] with hosts (who sees none of them pauses) and recover"
            yield TomlProblem(("partition_handling",), text)
        if pause is not None and not pauses:
            yield TomlProblem((PAUSE,), f"is only for partition_handling = {PAUSE!r}")
        hosts = [one.given.get("host") for one in self.broker]
        known = [host for host in hosts if isinstance(host, str)]
        listed = pause.given.get("hosts") if pause is not None else None
        for host in listed[:BROKERS_MAX] if isinstance(listed, list) else ():
            if isinstance(host, str) and host not in known:
                text = f"there is no broker's host {brief(host)}"
                yield TomlProblem((PAUSE, "hosts"), text, tuple(known), nearest(host, known))


def layout(topology: Topology, policies: tuple[Policy, ...] = ()) -> Layout:
    """Hosts, timer, and what is declared."""
    declared = own(topology)
    return Layout(
        name=topology.name,
        profile=f"T={topology.detection_timeout_s:g}",
        system=topology.system,
        title=topology.title,
        hosts=tuple(Host(one.host, one.address, (one.node,)) for one in topology.brokers),
        detection_timeout_s=topology.detection_timeout_s,
        copies=declared.copies,
        synchronise=declared.synchronise,
        partition_handling=declared.partition_handling,
        pause_if_all_down=declared.pause,
        policies=policies,
        client_endpoint=HOSTS if topology.balancer is None else BALANCER,
        topology=topology,
    )
