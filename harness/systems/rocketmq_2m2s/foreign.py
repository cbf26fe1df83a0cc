"""Groups of a master and its slaves that somebody else runs: RocketMQ's, or the reference's.

Only our own client drives them: it signs its requests, and takes each broker's address through a
proxy.
"""

from collections.abc import Callable

from harness.plan.topology_shape import TopologyShape
from harness.systems.files import text_in
from harness.systems.foreign import Foreign
from harness.systems.rocketmq.foreign import file
from harness.systems.rocketmq.foreign.brokers import ForeignRockets
from harness.systems.rocketmq.foreign.door import REMOTING_DOOR
from harness.systems.rocketmq.foreign.file import (
    RealTopologyFile,
    ReferenceTopologyFile,
    RocketTopologyFile,
)
from harness.systems.rocketmq_2m2s.fixed_roles import FixedRoles

OWN_CLIENTS = tuple(
    f"rocketmq-python-{version}" for version in ("4.9.8", "4.9.0", "5.2.0", "5.3.3")
)


def _foreign(shape: type[RocketTopologyFile], example: Callable[[], str] | None) -> Foreign:
    return Foreign(
        shape=TopologyShape(file=shape, mistakes=file.mistakes),
        layout=file.layout,
        clients=REMOTING_DOOR,
        brokers=lambda access: ForeignRockets(
            access, file.layout(access.topology), lambda layout, _: FixedRoles(layout)
        ),
        other_ways=lambda _topology, _host: (),
        from_compose=None,
        example=example,
        driven_by=OWN_CLIENTS,
    )


ROCKETMQ_FOREIGN = _foreign(
    RealTopologyFile, text_in("harness.systems.rocketmq_2m2s", "topology_example.toml")
)
REFERENCE_FOREIGN = _foreign(ReferenceTopologyFile, None)
