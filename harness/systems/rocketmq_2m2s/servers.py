"""PURE: what masters, slaves and name servers are on a layout's hosts."""

from harness.plan.model import Layout
from harness.plan.servers import QueueRole, Servers
from harness.systems.rocketmq.layout import MASTER_ID, ServerProcess
from harness.systems.rocketmq.servers import rocketmq_servers


def master_slave_servers(layout: Layout) -> Servers:
    return rocketmq_servers(layout, _fixed_role, voters=(), controllers=())


def _fixed_role(one: ServerProcess) -> QueueRole:
    return QueueRole.MASTER if one.id == MASTER_ID else QueueRole.MIRROR
