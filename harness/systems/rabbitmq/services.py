"""PURE: RabbitMQ's nodes in containers."""

from harness.plan.model import Host, Layout
from harness.systems.services import Addresses, Service, Services, health_check


def _configure(layout: Layout, _host: Host, _process: str, addresses: Addresses) -> Service:
    """One RabbitMQ node; its entry point turns these words into its configuration."""
    environment = {
        "MQPROOF_COOKIE": "mqproof",
        "MQPROOF_NODES": " ".join(addresses),
        "MQPROOF_NET_TICKTIME": f"{layout.detection_timeout_s:.0f}",
        "MQPROOF_PARTITION_HANDLING": layout.partition_handling,
        "MQPROOF_MEMORY_HIGH_WATERMARK": "2GB",
    }
    if (pause := layout.pause_if_all_down) is not None:
        environment["MQPROOF_PAUSE_IF_ALL_DOWN"] = " ".join([pause.recover, *pause.hosts])
    return {
        "environment": environment,
        "healthcheck": health_check(["CMD", "/usr/local/bin/amqp-ready.sh"]),
    }


NODES = Services(data="/var/lib/rabbitmq", configure=_configure)
