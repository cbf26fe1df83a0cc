"""CTGMQ's reference as subprocesses of this machine (reference_2m2s/processes.py).

A name server listens at one port more, for the other control nodes, and for who asks them.
"""

from harness.plan.model import Layout
from harness.systems.port import Adapters, Here, Node, Unit
from harness.systems.reference_2m2s.processes import command_of, here_too
from harness.systems.reference_ctgmq.settings import ctgmq_configuration
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.layout import ServerProcess, servers
from harness.systems.rocketmq.links import RocketLinks
from harness.systems.rocketmq.no_operator import NoOperator
from harness.systems.rocketmq.service_ports import service_ports_of
from harness.systems.rocketmq_controller.controllers import ControllersWord
from harness.systems.rocketmq_controller.layout import controllers


class SwitchedServers:
    """port.Processes."""

    moves = False
    peers_at = None

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        return tuple(
            Unit(one.host, one.process, command_of(one), one.port, _ports(one))
            for one in servers(layout.hosts)
        )

    def configuration(self, node: Node) -> str:
        return here_too(node, ctgmq_configuration(node.layout, node.host, node.word))

    def adapters(self, here: Here) -> Adapters:
        hosts, api = here.layout.hosts, RocketApi(here.agent, here.addresses)
        broker = RocketBroker(here.layout, api, ControllersWord(here.layout, api))
        voters = controllers(hosts)
        ways = RocketLinks(
            here.agent, here.proxy, here.free, servers(hosts), here.addresses, voters
        )
        return Adapters(broker, NoOperator(here.layout.system), service_ports_of(hosts), ways)


def _ports(one: ServerProcess) -> tuple[int, ...]:
    return (*one.ports, one.votes_at) if one.is_name_server else one.ports
