"""PURE: what each RocketMQ server of a layout is told, as the lines of its configuration file.

1. A broker advertises its host's name. Who resolves it to what is decided where it is resolved:
   brokers meet each other, clients meet a proxy (docs/behaviour/rocketmq-runs.md 1).
2. What is not here is the product's own default.
3. Files are small: a store of the product's own sizes fills a disk with holes, and a slave that
   begins with an empty log copies its master's last file only.
"""

from harness.plan.model import Layout
from harness.systems.rocketmq.layout import (
    ASYNC,
    MASTER_ID,
    SYNC,
    Server,
    name_servers,
    own,
    servers,
)

CLUSTER = "mqproof"
_STORE = "store"  # below the folder that the server runs in


def configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key, of the server that is this process of this host."""
    (server,) = (
        one for one in servers(layout.hosts) if (one.host, one.process) == (host, process)
    )
    return _broker(layout, server) if server.is_broker else _name_server(layout, server)


def role(layout: Layout, id: int) -> tuple[tuple[str, str], ...]:
    """What makes a broker of a group that one of them: 0 the master, others slaves."""
    return ("brokerId", str(id)), ("brokerRole", _role(id, own(layout).replication))


def text(settings: dict[str, str]) -> str:
    """In one line; the entry point makes a file with a line for each of it."""
    return " ".join(f"{key}={value}" for key, value in settings.items())


def _name_server(layout: Layout, server: Server) -> dict[str, str]:
    return {
        "listenPort": str(server.port),
        "serverChannelMaxIdleTimeSeconds": str(own(layout).timers.idle_s),
    }


def _broker(layout: Layout, server: Server) -> dict[str, str]:
    told = own(layout)
    settings = {
        "brokerClusterName": CLUSTER,
        "brokerName": server.group,
        **dict(role(layout, server.id)),
        "flushDiskType": f"{told.flush.upper()}_FLUSH",
        "namesrvAddr": ";".join(one.advertised for one in name_servers(layout.hosts)),
        "brokerIP1": server.host,
        "brokerIP2": server.host,
        "listenPort": str(server.port),
        "haListenPort": str(server.port + 1),  # 4.9 takes no other
        "registerNameServerPeriod": str(told.timers.register_s * 1000),
        "storePathRootDir": _STORE,
        "storePathCommitLog": f"{_STORE}/commitlog",
        "mappedFileSizeCommitLog": str(16 << 20),
        "mappedFileSizeConsumeQueue": "600000",
        "maxIndexNum": "40000",
        "maxHashSlotNum": "10000",
        "fileReservedTime": "48",
        "deleteWhen": "04",
        "diskMaxUsedSpaceRatio": "95",
        # On two cores a send waits longer than the 200 ms after which it would be refused.
        "waitTimeMillsInSendQueue": "5000",
        "autoCreateTopicEnable": "false",  # made on one broker, a topic would lie there alone
        "autoCreateSubscriptionGroup": "true",
    }
    if told.version.startswith("5.") and told.replication == SYNC:
        # SYNC_MASTER alone waits for nobody there: the master counts itself.
        settings["inSyncReplicas"] = str(layout.copies)
    return settings


def _role(id: int, replication: str) -> str:
    if id != MASTER_ID:
        return "SLAVE"
    return "ASYNC_MASTER" if replication == ASYNC else "SYNC_MASTER"
