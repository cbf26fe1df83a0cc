"""What every system of the family declares of clusters that somebody else runs.

Only our own client drives them: it signs its requests, and takes each broker's address through a
proxy.
"""

from collections.abc import Callable

from harness.plan.files.topology_shape import TopologyShape
from harness.systems.foreign import Foreign
from harness.systems.rocketmq.foreign import file
from harness.systems.rocketmq.foreign.brokers import ForeignRockets, Leads
from harness.systems.rocketmq.foreign.door import REMOTING_DOOR

OWN_CLIENTS = tuple(
    f"rocketmq-python-{version}" for version in ("4.9.8", "4.9.0", "5.2.0", "5.3.3")
)


def rocketmq_foreign(
    shape: TopologyShape, leads: Leads, example: Callable[[], str] | None = None
) -> Foreign:
    """`leads`: who reports the masters."""
    return Foreign(
        shape=shape,
        layout=file.layout,
        clients=REMOTING_DOOR,
        brokers=lambda access: ForeignRockets(access, file.layout(access.topology), leads),
        other_ways=lambda _topology, _host: (),
        from_compose=None,
        example=example,
        driven_by=OWN_CLIENTS,
    )
