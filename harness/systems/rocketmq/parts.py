"""RocketMQ's servers in containers that stand: who asks and tells them, and the ways to them."""

from harness.systems.containers import Parts, Stand
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.layout import servers
from harness.systems.rocketmq.links import RocketLinks
from harness.systems.rocketmq.operator import RocketOperator
from harness.systems.rocketmq.service_ports import service_ports_of


def rocketmq_parts(stand: Stand) -> Parts:
    broker = RocketBroker(stand.layout, stand.agent, stand.addresses)
    every = servers(stand.layout.hosts)
    return Parts(
        broker=broker,
        operator=RocketOperator(stand.client, stand.project, stand.layout, broker),
        ways=RocketLinks(stand.agent, stand.proxy, stand.free, every, stand.addresses),
        service_ports=service_ports_of(stand.layout.hosts),
        alarms=None,
        lifeless=None,
    )
