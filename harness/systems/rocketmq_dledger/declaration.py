"""RocketMQ's groups of three, who elect their leader by Raft (DLedger).

Clusters that somebody else runs are RocketMQ's, or the reference's. In their topology file:

1. The shape checks every key by itself; `problems` checks several keys together.
2. Members are asked who leads at their ports in `dLegerPeers`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from harness.outside.text import brief
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import BROKERS_MAX, TopologyShape
from harness.plan.layouts.topology import Topology
from harness.systems.files import text_in
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.foreign.declaration import rocketmq_foreign
from harness.systems.rocketmq.foreign.file import RocketBrokerTable, RocketTopologyFile, sizes_of
from harness.systems.rocketmq.layout import ASYNC, MAJORITY, RocketMq, ServerProcess
from harness.systems.rocketmq.layout_files import VERSION_HELP, released
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_dledger.layout import (
    MEMBERS_MIN,
    REPLICATED,
    DledgerLayoutFile,
    configuration,
    dledger_guarantees,
    dledger_servers,
)
from harness.systems.rocketmq_dledger.parts import Members, dledger_parts

_ID_MAX = 99


class _MemberTable(RocketBrokerTable):
    id: Annotated[int, Field(ge=0, le=_ID_MAX)] = Field(
        description="the number in `dLegerSelfId`: 0 of n0"
    )
    peer_port: Annotated[int, Field(ge=1, le=65_535)] = Field(
        title="port", description="its port in `dLegerPeers`, at its `address`"
    )

    @property
    def server(self) -> ServerProcess:
        return replace(super().server, votes=self.peer_port)


class _DledgerTopologyFile(RocketTopologyFile):
    broker: Annotated[list[_MemberTable], Field(min_length=1, max_length=BROKERS_MAX)] = Field(
        description="one table per member of a group"
    )

    def topology(self, name: str, source: str) -> Topology:
        # DLedger's log is flushed by a thread of its own, whatever the configuration says.
        declared = RocketMq(self.version, MAJORITY, ASYNC, self.timers)
        return self.of_brokers(name, source, self.broker, declared)

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together; the shape finds missing and ill-typed keys."""
        yield from self.server_problems(self.broker)
        for group, size in sorted(sizes_of(self.broker).items()):
            if size < MEMBERS_MIN:
                text = f"{brief(group)} has {size} members: fewer than {MEMBERS_MIN} survive"
                yield TomlProblem(("broker",), f"{text} nothing")


class RealGroupsFile(_DledgerTopologyFile):
    """One file of RocketMQ's own servers."""

    version: Annotated[str, released("4.9.0", "5")] = Field(description=VERSION_HELP)


class ReferenceGroupsTopology(_DledgerTopologyFile):
    """One file of the reference's servers."""

    version: Literal["reference"] = Field(
        default="reference", description="the reference has no versions"
    )


REFERENCE_GROUPS_FOREIGN = rocketmq_foreign(TopologyShape(file=ReferenceGroupsTopology), Members)
ROCKETMQ_DLEDGER = rocketmq_declaration(
    "rocketmq-dledger",
    layout_file=DledgerLayoutFile,
    guarantees=dledger_guarantees,
    replicated=REPLICATED,
    servers=dledger_servers,
    containers=rocketmq_containers(services(configuration), dledger_parts),
    foreign=rocketmq_foreign(
        TopologyShape(file=RealGroupsFile),
        Members,
        example=text_in("harness.systems.rocketmq_dledger", "topology_example.toml"),
    ),
)
