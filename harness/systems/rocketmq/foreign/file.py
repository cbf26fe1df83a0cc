"""The shape of a topology file of RocketMQ's servers, and the layout that it becomes.

1. The shape checks every key by itself; `problems` checks several keys together.
2. Each broker and name server is a host of its own in scenarios, whichever machines they share.
3. An address is what name servers show, and what clients dial.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import (
    BROKERS_MAX,
    BrokerCommandsTable,
    HostName,
    ProxyTable,
    Text,
    Title,
    TopologyTable,
    Variable,
    Way,
    WorkersTable,
    in_seconds,
)
from harness.plan.files.topology_toml import commands_of, proxy_of
from harness.plan.layouts.layout_values import NO_HANDLING
from harness.plan.layouts.topology import BrokerNode, Topology
from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import (
    NAME_SERVER,
    POLL_DEFAULT_S,
    ForeignHost,
    RocketMq,
    ServerProcess,
    Timers,
)
from harness.systems.rocketmq.foreign.core.own import RocketOwn, own

_GROUP = re.compile(r"[A-Za-z0-9_-]{1,127}")
_ID_MAX = 1_000_000
_BROKERS, _NAME_SERVERS = "broker", "name_server"


def _group(value: object) -> str:
    if isinstance(value, str) and _GROUP.fullmatch(value):
        return value
    raise ValueError(f"must be the brokerName of the group, like broker-a, not {brief(value)}")


def _whole_seconds(least: float, most: float) -> BeforeValidator:
    """Of a key that is a span of whole seconds."""

    def read(value: object) -> int:
        found = in_seconds(value, least, most)
        if found != int(found):
            raise ValueError(f"must be a whole number of seconds, not {brief(value)}")
        return int(found)

    return BeforeValidator(read)


class AccessKeysTable(TopologyTable):
    access_key: Variable = Field(description="the variable with the access key")
    secret_key: Variable = Field(description="the variable with the secret key")


class NameServerTable(TopologyTable):
    host: HostName = Field(description="the name in scenarios and reports")
    address: Way = Field(description="where clients and brokers dial it")

    @property
    def server(self) -> ServerProcess:
        address, port = self.address
        return ServerProcess(self.host, NAME_SERVER, port, address=address)


class RocketBrokerTable(BrokerCommandsTable):
    host: HostName = Field(description="the name in scenarios and reports")
    group: Annotated[str, BeforeValidator(_group)] = Field(
        title="text", description="`brokerName`: a master and its slaves have the same"
    )
    id: Annotated[int, Field(ge=0, le=_ID_MAX)] = Field(
        description="`brokerId`: 0 is the master of its group"
    )
    address: Way = Field(description="as name servers show it (`brokerIP1` and `listenPort`)")

    @property
    def server(self) -> ServerProcess:
        address, port = self.address
        word = f"{self.group}-{self.id}"
        return ServerProcess(self.host, word, port, self.group, self.id, address)


_Place = tuple[str, int, RocketBrokerTable | NameServerTable]  # where in the file a server is


class RocketTopologyFile(TopologyTable):
    """What every topology file of the family has; a system adds brokers and their promises."""

    title: Title = Field(default="A cluster that is there", description="the name in reports")
    system: Text = Field(description="a system whose clusters can be external")
    version: str = Field(description="version of the servers")
    idle: Annotated[int, _whole_seconds(2, 600)] = Field(
        title="length of time",
        description="name servers drop a broker that is silent for so long: T in scenarios. "
        "RocketMQ's own is 120 s",
    )
    poll: Annotated[int, _whole_seconds(1, 600)] = Field(
        default=POLL_DEFAULT_S,
        title="length of time",
        examples=[f"{POLL_DEFAULT_S} s"],
        description="how often clients ask for routes",
    )
    credentials: AccessKeysTable | None = Field(
        default=None, description="names of variables, if brokers have access control (ACL)"
    )
    workers: WorkersTable = Field(default=WorkersTable(), description="where clients run")
    proxy: ProxyTable | None = Field(
        default=None,
        description="client links pass through a Toxiproxy; without it faults of client links "
        "are not allowed",
    )
    name_server: Annotated[list[NameServerTable], Field(min_length=1, max_length=BROKERS_MAX)] = (
        Field(description="one table per name server")
    )

    def server_problems(self, brokers: Sequence[RocketBrokerTable]) -> Iterator[TomlProblem]:
        """Check several keys together; the shape finds missing and ill-typed keys."""
        places: list[_Place] = [
            *((_BROKERS, index, one) for index, one in enumerate(brokers)),
            *((_NAME_SERVERS, index, one) for index, one in enumerate(self.name_server)),
        ]
        yield from _twice(places)
        yield from _addresses(places)
        yield from _ids(brokers)
        sizes = sizes_of(brokers)
        if len(set(sizes.values())) > 1:
            listed = ", ".join(f"{brief(group)} {size}" for group, size in sorted(sizes.items()))
            text = f"groups need as many brokers each as the others, found {listed}"
            yield TomlProblem((_BROKERS,), text)

    @property
    def timers(self) -> Timers:
        return Timers(self.idle, 0, self.poll)

    def of_brokers(
        self, name: str, source: str, brokers: Sequence[RocketBrokerTable], declared: RocketMq
    ) -> Topology:
        """The topology, with what a system says of its brokers."""
        keys = self.credentials
        return Topology(
            name=name,
            title=self.title,
            system=self.system,
            detection_timeout_s=float(self.idle),
            brokers=tuple(_node(one.server, commands_of(one)) for one in brokers),
            user=keys.access_key if keys else "",
            password=keys.secret_key if keys else "",
            proxy=proxy_of(self.proxy),
            own=RocketOwn(
                (
                    *(one.server for one in brokers),
                    *(one.server for one in self.name_server),
                ),
                declared,
            ),
            source=source,
            name_servers=tuple(_node(one.server, {}) for one in self.name_server),
        )


def _node(server: ServerProcess, commands: dict[str, Any]) -> BrokerNode:
    return BrokerNode(
        server.host,
        server.process,
        server.address,
        server.port,
        commands,
        process=server.process,
        votes_at=server.votes,
    )


def layout(topology: Topology) -> Layout:
    """Servers, timers, and what is declared."""
    declared = own(topology)
    sizes = _sizes((one.group, one.id) for one in declared.servers if one.is_broker)
    copies = max(sizes.values())
    return Layout(
        name=topology.name,
        profile=f"T={topology.detection_timeout_s:g}",
        system=topology.system,
        title=topology.title,
        hosts=tuple(
            ForeignHost(one.host, one.address, (one.process,), (one,)) for one in declared.servers
        ),
        detection_timeout_s=topology.detection_timeout_s,
        copies=copies,
        synchronise="automatic" if copies > 1 else "none",
        partition_handling=NO_HANDLING,
        policies=(),
        topology=topology,
        own=declared.declared,
        file_version=declared.declared.version,
    )


def sizes_of(brokers: Sequence[RocketBrokerTable]) -> dict[str, int]:
    """Return how many brokers each group has; none if a broker's group or id cannot be read."""
    members = [(one.given.get("group"), one.given.get("id")) for one in brokers]
    found = [(group, id) for group, id in members if isinstance(group, str) and type(id) is int]
    return _sizes(iter(found)) if len(found) == len(members) else {}


def _twice(places: Sequence[_Place]) -> Iterator[TomlProblem]:
    """Check hosts and addresses. Two brokers of one host are found for all families."""
    seen: set[tuple[str, str]] = set()
    for key, index, one in places:
        for word in ("host", "address"):
            value = one.given.get(word)
            if not isinstance(value, str):
                continue
            if (word, value) in seen and (word, key) != ("host", _BROKERS):
                text = f"{brief(value)} is another server's already"
                yield TomlProblem((key, index, word), text)
            seen.add((word, value))


def _addresses(places: Sequence[_Place]) -> Iterator[TomlProblem]:
    for key, index, one in places:
        address = one.given.get("address")
        if isinstance(address, str) and _is_ipv6(address.rpartition(":")[0]):
            text = "is an IPv6 address, which RocketMQ's clients cannot read in a route"
            yield TomlProblem((key, index, "address"), text)


def _is_ipv6(word: str) -> bool:
    try:
        IPv6Address(word.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _ids(brokers: Sequence[RocketBrokerTable]) -> Iterator[TomlProblem]:
    seen: set[tuple[str, int]] = set()
    for index, one in enumerate(brokers):
        group, id = one.given.get("group"), one.given.get("id")
        if not isinstance(group, str) or type(id) is not int:
            continue
        if (group, id) in seen:
            text = f"{id} is another broker's of {brief(group)} already"
            yield TomlProblem((_BROKERS, index, "id"), text)
        seen.add((group, id))


def _sizes(members: Iterator[tuple[str, int]]) -> dict[str, int]:
    """How many brokers each group has."""
    found: dict[str, set[int]] = defaultdict(set)
    for group, id in members:
        found[group].add(id)
    return {group: len(ids) for group, ids in found.items()}
