"""PURE: where RocketMQ's servers are spoken to by whoever looks at a fault."""

from collections.abc import Sequence

from faults.executors.doors import REMOTING, Doors
from faults.places import place
from harness.plan.model import Host
from harness.systems.rocketmq.layout import servers


def doors_of(hosts: Sequence[Host]) -> Doors:
    """Every process has a port of its own; a host is spoken to at those of all its processes."""
    every = servers(hosts)
    ports = {
        host.name: tuple(one.port for one in every if one.host == host.name) for host in hosts
    }
    ports |= {place(one.host, one.process): (one.port,) for one in every}
    return Doors(protocol=REMOTING, usual=every[0].port, to_peers=None, ports=ports)
