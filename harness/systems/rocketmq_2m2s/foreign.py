"""Groups of a master and its slaves that somebody else runs: RocketMQ's, or the reference's."""

from harness.plan.model import Layout
from harness.plan.topology_shape import TopologyShape
from harness.systems.files import text_in
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.foreign.declaration import rocketmq_foreign
from harness.systems.rocketmq_2m2s.fixed_roles import FixedRoles
from harness.systems.rocketmq_2m2s.topology_file import (
    RealTopologyFile,
    ReferenceTopologyFile,
    mistakes,
)


def _leads(layout: Layout, _: RocketApi) -> FixedRoles:
    return FixedRoles(layout)


ROCKETMQ_FOREIGN = rocketmq_foreign(
    TopologyShape(file=RealTopologyFile, mistakes=mistakes),
    _leads,
    example=text_in("harness.systems.rocketmq_2m2s", "topology_example.toml"),
)
REFERENCE_FOREIGN = rocketmq_foreign(
    TopologyShape(file=ReferenceTopologyFile, mistakes=mistakes), _leads
)
