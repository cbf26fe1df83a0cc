"""Running DLedger groups in containers: members report the leaders."""

from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.layout import brokers
from harness.systems.rocketmq.no_operator import NoOperator
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.systems.rocketmq_dledger.members import Members


def dledger_parts(stand: Stand) -> ClusterAdapters:
    layout, api = stand.layout, api_of(stand)
    broker = RocketBroker(layout, api, Members(layout, api))
    return parts_of(stand, broker, NoOperator(layout.system), brokers(layout.hosts))
