"""PURE: the configuration file of each RocketMQ server of a layout, as lines.

1. A broker advertises its host's name. Brokers resolve it to each other's address, clients to a
   proxy's (docs/behaviour/rocketmq-runs.md 1).
2. What is not here is the product's own default.
3. Files are small: a store of the product's own sizes fills a disk with holes, and a slave that
   begins with an empty log copies its master's last file only.
"""

from collections.abc import Mapping

from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import ServerProcess, name_servers, own

CLUSTER = "mqproof"
STORE = "store"  # below the folder that the server runs in


def text(settings: dict[str, str]) -> str:
    """In one line; the entry point makes a file with a line for each of it."""
    return " ".join(f"{key}={value}" for key, value in settings.items())


def name_server(layout: Layout, server: ServerProcess) -> dict[str, str]:
    return {
        "listenPort": str(server.port),
        "serverChannelMaxIdleTimeSeconds": str(own(layout).timers.idle_s),
    }


def broker(layout: Layout, server: ServerProcess, role: Mapping[str, str]) -> dict[str, str]:
    """`role`: what makes it a master, a slave, or one that may become either."""
    declared = own(layout)
    return {
        "brokerClusterName": CLUSTER,
        "brokerName": server.group,
        **role,
        "flushDiskType": f"{declared.flush.upper()}_FLUSH",
        "namesrvAddr": ";".join(one.advertised for one in name_servers(layout.hosts)),
        "brokerIP1": server.host,
        "brokerIP2": server.host,
        "listenPort": str(server.port),
        "haListenPort": str(server.port + 1),  # 4.9 takes no other
        "registerNameServerPeriod": str(declared.timers.register_s * 1000),
        "storePathRootDir": STORE,
        "storePathCommitLog": f"{STORE}/commitlog",
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
        **_of_version(declared.version),
    }


def _of_version(version: str) -> dict[str, str]:
    """Return settings of the version: RocketMQ 5 without its timer wheel.

    The wheel is for delays of any length, which are not used here. Its flushes take a quarter of a
    core of each broker. Delay levels do not need it.
    """
    return {"timerWheelEnable": "false"} if version.startswith("5.") else {}
