"""PURE: the configuration of masters and slaves (harness/systems/rocketmq/settings.py)."""

from harness.plan.model import Layout
from harness.systems.rocketmq.layout import ASYNC, MASTER_ID, SYNC, own, server_of
from harness.systems.rocketmq.settings import broker, name_server


def configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key, of the server that is this process of this host."""
    server = server_of(layout.hosts, host, process)
    if not server.is_broker:
        return name_server(layout, server)
    return broker(layout, server, dict(role(layout, server.id))) | _copies(layout)


def role(layout: Layout, id: int) -> tuple[tuple[str, str], ...]:
    """What makes a broker of a group that one of them: 0 the master, others slaves."""
    return ("brokerId", str(id)), ("brokerRole", _role(id, own(layout).replication))


def _role(id: int, replication: str) -> str:
    if id != MASTER_ID:
        return "SLAVE"
    return "ASYNC_MASTER" if replication == ASYNC else "SYNC_MASTER"


def _copies(layout: Layout) -> dict[str, str]:
    """Return further settings: in RocketMQ 5 SYNC_MASTER alone waits for no slave."""
    declared = own(layout)
    if declared.version.startswith("5.") and declared.replication == SYNC:
        return {"inSyncReplicas": str(layout.copies)}
    return {}
