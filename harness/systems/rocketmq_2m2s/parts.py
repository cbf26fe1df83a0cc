"""Masters and slaves in containers that stand: who is whose master is laid down."""

from harness.systems.containers import Parts, Stand
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.systems.rocketmq_2m2s.laid_down import LaidDown
from harness.systems.rocketmq_2m2s.operator import RocketOperator


def master_slave_parts(stand: Stand) -> Parts:
    leading = LaidDown(stand.layout)
    broker = RocketBroker(stand.layout, api_of(stand), leading)
    operator = RocketOperator(stand.client, stand.project, stand.layout, broker.home_of, leading)
    return parts_of(stand, broker, operator, ())
