"""PURE: RocketMQ's servers in containers."""

from collections.abc import Callable

from harness.plan.layouts.layout_values import Host
from harness.plan.model import Layout
from harness.systems.core.services import Addresses, Service, Services, port_is_open
from harness.systems.rocketmq.core import settings
from harness.systems.rocketmq.core.layout import parse_broker, server_of

Configuration = Callable[[Layout, str, str], dict[str, str]]
"""By key, of the server that is this process of this host."""


def services(configuration: Configuration) -> Services:
    def configure(layout: Layout, host: Host, process: str, _addresses: Addresses) -> Service:
        """One server; its entry point writes its configuration file."""
        own = configuration(layout, host.name, process)
        return {
            "environment": {
                "MQPROOF_ROLE": "broker" if parse_broker(process) else process,
                "MQPROOF_CONFIGURATION": settings.text(own),
            },
            "healthcheck": port_is_open(server_of(layout.hosts, host.name, process).port),
        }

    return Services(data="/var/lib/rocketmq", configure=configure)
