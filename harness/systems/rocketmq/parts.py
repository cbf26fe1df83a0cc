"""RocketMQ's servers in containers that stand: who asks and tells them, and the ways to them."""

from collections.abc import Sequence

from harness.cluster.orders import Operator
from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core.layout import ServerProcess, servers
from harness.systems.rocketmq.core.service_ports import service_ports_of
from harness.systems.rocketmq.links import RocketLinks


def api_of(stand: Stand) -> RocketApi:
    return RocketApi(stand.agent, stand.addresses)


def parts_of(
    stand: Stand, broker: RocketBroker, operator: Operator, voters: Sequence[ServerProcess]
) -> ClusterAdapters:
    """`voters`: servers that take part in elections."""
    every = servers(stand.layout.hosts)
    return ClusterAdapters(
        broker=broker,
        operator=operator,
        ways=RocketLinks(stand.agent, stand.proxy, stand.free, every, stand.addresses, voters),
        service_ports=service_ports_of(stand.layout.hosts),
        alarms=None,
        dead_broker=None,
    )
