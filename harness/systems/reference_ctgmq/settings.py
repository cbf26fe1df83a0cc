"""PURE: the configuration of CTGMQ's servers (harness/systems/rocketmq/settings.py).

A broker's number is its name in the group: its id while it is a slave. So it is above MASTER_ID.
"""

from harness.plan.model import Layout
from harness.systems.reference_2m2s.layout import compressed
from harness.systems.reference_ctgmq.layout import ctgmq
from harness.systems.rocketmq.layout import ServerProcess, name_servers, server_of
from harness.systems.rocketmq.settings import STORE, broker, name_server
from harness.systems.rocketmq_controller.layout import controller


def ctgmq_configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """Return the settings by key."""
    server = server_of(layout.hosts, host, process)
    if server.is_broker:
        return compressed(layout, broker(layout, server, _replica(layout, server)))
    return compressed(layout, name_server(layout, server) | _control_node(layout, server))


def _control_node(layout: Layout, server: ServerProcess) -> dict[str, str]:
    peers = (
        f"{controller(layout, one)}-{one.host}:{one.votes_at}"
        for one in name_servers(layout.hosts)
    )
    return {
        "controlPeers": ";".join(peers),
        "controlSelfId": controller(layout, server),
        "storePathRootDir": STORE,
    }


def _replica(layout: Layout, server: ServerProcess) -> dict[str, str]:
    own = ctgmq(layout)
    return {
        "enableCtgmq": "true",
        "brokerId": str(server.id + 1),
        "minInSyncReplicas": str(own.least_in_sync),
        "replicaTruncation": own.truncation,
    }
