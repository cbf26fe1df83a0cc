"""The shape of a topology file of RabbitMQ's nodes, whatever their queues.

1. The shape checks every key by itself; `mistakes` checks several keys together.
2. What the file does not declare is unknown: the layout has None or "" there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
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
from harness.plan.files.topology_toml import brokers_in, commands_of, proxy_of, twice
from harness.plan.layouts.layout_values import BALANCER, HOSTS, Host, PauseIfAllDown, Policy
from harness.plan.layouts.topology import ROOT, BrokerNode, Topology
from harness.plan.model import Layout
from harness.plan.problems import nearest
from harness.systems.rabbitmq.foreign.arguments import Arguments
from harness.systems.rabbitmq.foreign.own import RabbitOwn, own
from harness.systems.rabbitmq.layouts import DETECTION_TIMEOUT_S, PAUSE, Handling
from harness.systems.rabbitmq.member_layouts import CATCHES_UP

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
    def way(self) -> tuple[str, int] | None:
        return self.amqps or self.amqp


class _BalancerTable(_WayTable):
    def value(self) -> BrokerNode:
        assert self.way is not None, "`mistakes` asks for one"
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
        assert balancer is not None, "`mistakes` asks for one of them"
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


def more_hosts_than(key: str, document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    """A number of replicas that the hosts cannot hold."""
    queues, brokers = document.get("queues"), len(brokers_in(document))
    count = queues.get(key) if isinstance(queues, dict) else None
    if isinstance(count, int) and brokers and count > brokers:
        yield TomlProblem(("queues", key), f"{count} {key} on {brokers} brokers")


def mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    brokers = brokers_in(document)
    for key in ("node", *_WAYS, "management"):
        yield from twice(key, brokers)
    yield from _way_mistakes(document, brokers)
    yield from _pause_mistakes(document, [one.get("host") for one in brokers])
    if brokers and not any("management" in one for one in brokers):
        text = (
            "is missing: at least one broker's API is needed, because it reports who holds a queue"
        )
        yield TomlProblem(("broker", 0, "management"), text)


def _way_mistakes(
    document: Mapping[str, Any], brokers: Sequence[Mapping[str, Any]]
) -> Iterator[TomlProblem]:
    """Of the listeners: each has one, all of the same kind; TLS says whom it trusts."""
    balancer = document.get("balancer")
    places: list[tuple[tuple[str | int, ...], Mapping[str, Any]]] = [
        (("broker", index), one) for index, one in enumerate(brokers)
    ]
    if isinstance(balancer, dict):
        places.append((("balancer",), balancer))
        for index, broker in enumerate(brokers):
            if broker.get("host") == BALANCER:
                text = "is what reports call the balancer: choose another name"
                yield TomlProblem(("broker", index, "host"), text)
    for place, table in places:
        found = [key for key in _WAYS if key in table]
        optional = isinstance(balancer, dict) and place[0] == "broker"
        if len(found) > 1 or not (found or optional):
            text = "needs exactly one of `amqp` and `amqps`" if found else "is missing"
            yield TomlProblem((*place, "amqp"), text, ('amqp = "ADDRESS:PORT"', "amqps"))
    yield from _tls_mistakes(document, [one for one in places if one[1].keys() & set(_WAYS)])


def _tls_mistakes(
    document: Mapping[str, Any],
    reached: Sequence[tuple[tuple[str | int, ...], Mapping[str, Any]]],
) -> Iterator[TomlProblem]:
    encrypted = [place for place, table in reached if "amqps" in table]
    plain = [place for place, table in reached if "amqps" not in table]
    if encrypted and plain:
        text = "all listeners, or none: clients connect in one way to every broker"
        yield TomlProblem((*plain[0], "amqps"), text)
    if encrypted and "tls" not in document:
        text = "needs a table [tls] with `ca`: who is trusted to sign brokers' certificates"
        yield TomlProblem((*encrypted[0], "amqps"), text)
    if reached and "tls" in document and not encrypted:
        text = "is used by no broker: none has `amqps`; take the table out, or write `amqps`"
        yield TomlProblem(("tls",), text)
    if isinstance(tls := document.get("tls"), dict) and "key" in tls and "certificate" not in tls:
        yield TomlProblem(("tls", "key"), "is a key without `certificate`")


def _pause_mistakes(document: Mapping[str, Any], hosts: Sequence[object]) -> Iterator[TomlProblem]:
    pause, pauses = document.get(PAUSE), document.get("partition_handling") == PAUSE
    if pauses and pause is None:
        text = f"needs a table [{PAUSE}] with hosts (who sees none of them pauses) and recover"
        yield TomlProblem(("partition_handling",), text)
    if pause is not None and not pauses:
        yield TomlProblem((PAUSE,), f"is only for partition_handling = {PAUSE!r}")
    known = [host for host in hosts if isinstance(host, str)]
    listed = pause.get("hosts") if isinstance(pause, dict) else None
    for host in listed[:BROKERS_MAX] if isinstance(listed, list) else ():
        if isinstance(host, str) and host not in known:
            text = f"there is no broker's host {brief(host)}"
            yield TomlProblem((PAUSE, "hosts"), text, tuple(known), nearest(host, known))
