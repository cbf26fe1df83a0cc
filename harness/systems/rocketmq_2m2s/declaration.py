"""RocketMQ's groups of a master and its slaves; no slave is ever elected.

Clusters that somebody else runs are RocketMQ's, or the reference's. The shape of their topology
file checks every key by itself; `problems` checks several keys together.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from harness.outside.text import brief
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import BROKERS_MAX, TopologyShape
from harness.plan.layouts.topology import Topology
from harness.plan.model import Layout
from harness.systems.files import text_in
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.foreign.declaration import rocketmq_foreign
from harness.systems.rocketmq.foreign.file import RocketBrokerTable, RocketTopologyFile, sizes_of
from harness.systems.rocketmq.layout import ASYNC, MASTER_ID, SYNC, RocketMq
from harness.systems.rocketmq.layout_files import VERSION_HELP, Flush, released
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_2m2s.fixed_roles import FixedRoles
from harness.systems.rocketmq_2m2s.layout import (
    REPLICATED,
    RocketLayoutFile,
    configuration,
    master_slave_guarantees,
    master_slave_servers,
)
from harness.systems.rocketmq_2m2s.parts import master_slave_parts


class _MasterSlaveFile(RocketTopologyFile):
    replication: Literal["sync", "async"] = Field(
        description="`brokerRole` of masters: with `sync` a confirm waits for a slave"
    )
    flush: Flush = Field(description="`flushDiskType`: with `sync` a confirm waits for the disk")
    broker: Annotated[list[RocketBrokerTable], Field(min_length=1, max_length=BROKERS_MAX)] = (
        Field(description="one table per broker, masters and slaves alike")
    )

    def topology(self, name: str, source: str) -> Topology:
        declared = RocketMq(self.version, self.replication, self.flush, self.timers)
        return self.of_brokers(name, source, self.broker, declared)

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together; the shape finds missing and ill-typed keys."""
        yield from self.server_problems(self.broker)
        sizes = sizes_of(self.broker)
        led = {one.given.get("group") for one in self.broker if one.id == MASTER_ID}
        for group in sizes.keys() - led:
            text = f"no broker of {brief(group)} has id = {MASTER_ID}: the master of its group"
            yield TomlProblem(("broker",), text)
        if self.replication == SYNC and set(sizes.values()) == {1}:
            text = f"{SYNC!r} on groups without a slave: no slave would acknowledge"
            yield TomlProblem(("replication",), text, (ASYNC,))


class RealTopologyFile(_MasterSlaveFile):
    """One file of RocketMQ's own servers."""

    version: Annotated[str, released("4.9.0")] = Field(description=VERSION_HELP)


class ReferenceTopologyFile(_MasterSlaveFile):
    """One file of the reference's servers."""

    version: Literal["reference"] = Field(
        default="reference", description="the reference has no versions"
    )


def _leads(layout: Layout, _: RocketApi) -> FixedRoles:
    return FixedRoles(layout)


REFERENCE_FOREIGN = rocketmq_foreign(TopologyShape(file=ReferenceTopologyFile), _leads)
ROCKETMQ_2M2S = rocketmq_declaration(
    "rocketmq-2m2s",
    layout_file=RocketLayoutFile,
    guarantees=master_slave_guarantees,
    replicated=REPLICATED,
    servers=master_slave_servers,
    containers=rocketmq_containers(services(configuration), master_slave_parts),
    foreign=rocketmq_foreign(
        TopologyShape(file=RealTopologyFile),
        _leads,
        example=text_in("harness.systems.rocketmq_2m2s", "topology_example.toml"),
    ),
)
