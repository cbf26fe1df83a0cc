"""Groups that elect their leader and that somebody else runs: RocketMQ's, or the reference's."""

from harness.plan.topology_shape import TopologyShape
from harness.systems.files import text_in
from harness.systems.rocketmq.foreign.declaration import rocketmq_foreign
from harness.systems.rocketmq_dledger.parts import Members
from harness.systems.rocketmq_dledger.topology_file import (
    RealGroupsFile,
    ReferenceGroupsTopology,
    mistakes,
)

DLEDGER_FOREIGN = rocketmq_foreign(
    TopologyShape(file=RealGroupsFile, mistakes=mistakes),
    Members,
    example=text_in("harness.systems.rocketmq_dledger", "topology_example.toml"),
)
REFERENCE_GROUPS_FOREIGN = rocketmq_foreign(
    TopologyShape(file=ReferenceGroupsTopology, mistakes=mistakes), Members
)
