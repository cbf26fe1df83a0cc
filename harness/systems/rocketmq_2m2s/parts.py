"""Running masters and slaves in containers, with configured roles."""

from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.systems.rocketmq_2m2s.fixed_roles import FixedRoles
from harness.systems.rocketmq_2m2s.operator import RocketOperator


def master_slave_parts(stand: Stand) -> ClusterAdapters:
    leading = FixedRoles(stand.layout)
    broker = RocketBroker(stand.layout, api_of(stand), leading)
    operator = RocketOperator(stand.client, stand.project, stand.layout, broker.home_of, leading)
    return parts_of(stand, broker, operator, ())
