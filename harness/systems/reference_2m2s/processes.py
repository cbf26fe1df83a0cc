"""The reference's name servers and brokers as subprocesses of this machine.

1. They are told what the real ones are told, and four things more: the address that they listen
   at, where their store is, what the names of hosts mean, which no resolver here knows, and a
   secret that the real ones have none of: on this machine anybody could dial them.
2. Servers know each other's ports by the layout alone: they can be at no others.
3. Brokers dial each other and name servers directly: no fault of a network is suffered here.
"""

import sys

from harness.plan.model import Layout
from harness.systems.port import Here, Node, Told, Unit
from harness.systems.reference_2m2s.operator import ConfigurationOperator
from harness.systems.reference_2m2s.settings import reference_configuration
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.layout import Server, servers
from harness.systems.rocketmq.links import RocketLinks
from harness.systems.rocketmq.service_ports import service_ports_of
from harness.systems.rocketmq.settings import STORE
from harness.systems.rocketmq_2m2s.laid_down import LaidDown

_KEYS = {
    "kind": "misbehave",
    "share": "misbehaveShare",
    "seed": "misbehaveSeed",
    "truth": "misbehaveTruth",
}


class ReferenceServers:
    """port.Processes."""

    moves = False
    peers_at = None

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        return tuple(
            Unit(one.host, one.process, _command(one), one.port, one.ports)
            for one in servers(layout.hosts)
        )

    def configuration(self, node: Node) -> str:
        told = reference_configuration(node.layout, node.host, node.word)
        told |= {"bindAddress": node.address, "peerSecret": node.cookie}
        if "brokerName" in told:
            names = ",".join(f"{host}={address}" for host, address in node.addresses.items())
            told |= {"storePathRootDir": f"{node.data}/{STORE}", "hostAddresses": names}
            told |= {_KEYS[key]: str(value) for key, value in (node.misbehave or {}).items()}
        return "".join(f"{key}={value}\n" for key, value in told.items())

    def told(self, here: Here) -> Told:
        leading = LaidDown(here.layout)
        broker = RocketBroker(here.layout, RocketApi(here.agent, here.addresses), leading)
        operator = ConfigurationOperator(here, broker.home_of, leading)
        every = servers(here.layout.hosts)
        ways = RocketLinks(here.agent, here.proxy, here.free, every, here.addresses, ())
        return Told(broker, operator, service_ports_of(here.layout.hosts), ways)


def _command(server: Server) -> tuple[str, ...]:
    word = "name-server" if server.is_name_server else "broker"
    return (sys.executable, "-m", "reference_impl", word)
