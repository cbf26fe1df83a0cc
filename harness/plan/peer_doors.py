"""PURE: where the processes of a layout listen to those of other hosts."""

from faults.peers import Served, Serving
from harness.plan.model import Layout
from harness.plan.rocketmq_layout import servers


def serving(layout: Layout) -> Serving:
    """By host; empty where each has one broker that listens as all others do."""
    if layout.rocketmq is None:
        return {}
    found = servers(layout.hosts)
    return {
        host.name: tuple(
            Served(one.ports, one.port, one.process, dials=one.is_broker)
            for one in found
            if one.host == host.name
        )
        for host in layout.hosts
    }
