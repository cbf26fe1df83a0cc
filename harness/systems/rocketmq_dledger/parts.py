"""Running DLedger groups in containers: members report the leaders."""

from harness.systems.containers import Parts, Stand
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.layout import brokers
from harness.systems.rocketmq.no_operator import NoOperator
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.systems.rocketmq_dledger.members import Members


def dledger_parts(stand: Stand) -> Parts:
    layout, api = stand.layout, api_of(stand)
    broker = RocketBroker(layout, api, Members(layout, api))
    return parts_of(stand, broker, NoOperator(layout.system), brokers(layout.hosts))
