"""PURE: the ports by which faults of RocketMQ's servers are verified."""

from collections.abc import Sequence

from faults.core.places import place
from faults.executors.service_ports import Greeter, ServicePorts
from harness.plan.layouts.layout_values import Host
from harness.systems.rocketmq.core.layout import servers

# Any command that is answered is a greeting: no bytes of the answer tell.
HELLO = Greeter(by="harness.workers.agent_calls.remoting:greeted")
CANARIES = "harness.workers.agent_calls.remoting:opened"
# A command with an oversized length ends the connection: the server logs one line, and no client
# goes with it, because none registered on it (tried on 4.9.7). It is long enough for RocketMQ 5 to
# see that no proxy header precedes it.
TOO_LONG = "\x7f\xff\xff\xff" + "?" * 12


def service_ports_of(hosts: Sequence[Host]) -> ServicePorts:
    """Every process has a port of its own; a host is spoken to at those of all its processes."""
    every = servers(hosts)
    ports = {
        host.name: tuple(one.port for one in every if one.host == host.name) for host in hosts
    }
    ports |= {place(one.host, one.process): (one.port,) for one in every}
    return ServicePorts(
        hello=HELLO,
        canaries=CANARIES,
        peer_word=TOO_LONG,
        usual=every[0].port,
        to_peers=None,
        ports=ports,
    )
