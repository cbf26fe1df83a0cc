"""Running groups with controllers in containers: controllers report the masters."""

from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.no_operator import NoOperator
from harness.systems.rocketmq.parts import api_of, parts_of
from harness.systems.rocketmq_controller.controllers import ControllersWord
from harness.systems.rocketmq_controller.layout import controllers


def controller_parts(stand: Stand) -> ClusterAdapters:
    layout, api = stand.layout, api_of(stand)
    broker = RocketBroker(layout, api, ControllersWord(layout, api))
    return parts_of(stand, broker, NoOperator(layout.system), controllers(layout.hosts))
