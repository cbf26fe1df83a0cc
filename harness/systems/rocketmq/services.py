"""PURE: RocketMQ's name servers and brokers in containers."""

from harness.plan.model import Host, Layout
from harness.systems.rocketmq import settings
from harness.systems.rocketmq.layout import parse_broker
from harness.systems.services import Addresses, Service, Services, port_is_open


def _told(layout: Layout, host: Host, process: str, _addresses: Addresses) -> Service:
    """One name server or broker; its entry point writes its configuration file."""
    told = settings.configuration(layout, host.name, process)
    return {
        "environment": {
            "MQPROOF_ROLE": "broker" if parse_broker(process) else process,
            "MQPROOF_CONFIGURATION": settings.text(told),
        },
        "healthcheck": port_is_open(int(told["listenPort"])),
    }


SERVERS = Services(data="/var/lib/rocketmq", told=_told)
