"""PURE: a layout becomes the text of a compose file that both compose tools understand.

1. A host is a container that owns the network namespace, sleeps, and is never restarted; the
   processes of the host join it. Killing a process leaves addresses and names in place.
2. Toxiproxy is the only way from the clients' network to the brokers'; the agent is on both.
   Nothing publishes a port, and neither network leads outside.
3. The instrument (workers, agent, proxy) has a higher CPU weight than what it measures.
4. Without settings of a run the text holds variables with defaults, for people to use by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import yaml

from harness.deploy import labels
from harness.plan.model import Host, Layout

Mapping = dict[str, Any]
ProcessService = Callable[[Layout, Host, str, "Settings"], Mapping]

RESULTS = "/results"  # the experiment's folder, as workers see it
BROKER_CPU_SHARES = 1024
INSTRUMENT_CPU_SHARES = 4096
_FIRST_HOST = 11  # the last part of the first host's address
_PROXY_ADDRESSES = {"servers": 100, "clients": 200}
_AGENT_ADDRESSES = {"servers": 101, "clients": 201}
_WORKERS_ADDRESS = 202


@dataclass(frozen=True, slots=True)
class Settings:
    """What is known only when a deployment is made; the defaults are for people."""

    network: str = "${MQPROOF_NETWORK:-172.31.7}"  # the first three parts of all addresses
    broker_image: str = "${MQPROOF_RABBITMQ_IMAGE:-mqproof/rabbitmq:3.10.8}"
    proxy_image: str = "${MQPROOF_TOXIPROXY_IMAGE:-mqproof/toxiproxy:2.12.0}"
    worker_image: str = "${MQPROOF_WORKER_IMAGE:-mqproof/worker:pika-1.4.4}"
    experiment: str = "${MQPROOF_EXPERIMENT:-.}"
    owner: str = "${MQPROOF_OWNER:-}"
    keep: str = "${MQPROOF_KEEP:-1}"
    user: str = "${MQPROOF_USER:-0:0}"

    def literal(self) -> "Settings":
        """The same with every `$` doubled, so that Compose takes each value as it is."""
        names = self.__dataclass_fields__
        return replace(self, **{name: getattr(self, name).replace("$", "$$") for name in names})


def render(layout: Layout, settings: Settings, process: ProcessService) -> str:
    """The compose file. `process` says what one process of a host runs."""
    services: Mapping = {}
    for number, host in enumerate(layout.hosts):
        services[host_service(host)] = _host(host, number, settings)
        for name in host.processes:
            services[process_service(host, name)] = _process(
                host, process(layout, host, name, settings)
            )
    services["toxiproxy"] = _proxy(settings)
    services["agent"] = _agent(settings)
    services["workers"] = _workers(settings)
    volumes = [_volume(host, name) for host in layout.hosts for name in host.processes]
    document: Mapping = {
        "services": services,
        "networks": {
            "servers": _network(f"{settings.network}.0/25"),
            "clients": _network(f"{settings.network}.128/25"),
        },
        "volumes": {name: {} for name in volumes},
    }
    for made in (
        *services.values(),
        *document["networks"].values(),
        *document["volumes"].values(),
    ):
        made["labels"] = {**_common(settings), **made.get("labels", {})}
    return _head(layout) + yaml.safe_dump(document, sort_keys=False, width=99)


def _common(settings: Settings) -> Mapping:
    """What everything carries, so that it is found again."""
    return {
        labels.EXPERIMENT: settings.experiment,
        labels.OWNER: settings.owner,
        labels.KEEP: settings.keep,
    }


def host_service(host: Host) -> str:
    return f"{host.name}-host"


def process_service(host: Host, process: str) -> str:
    return f"{host.name}-{process}"


def host_address(network: str, number: int) -> str:
    """Of the host at this place of the layout, from 0."""
    return f"{network}.{_FIRST_HOST + number}"


def proxy_address(network: str) -> str:
    """Where workers meet the proxy."""
    return f"{network}.{_PROXY_ADDRESSES['clients']}"


def _head(layout: Layout) -> str:
    return (
        f"# {layout.system}, {layout.label}: {layout.title}.\n"
        "# Rendered by harness/deploy/render.py; change that or the layout, not this file.\n"
    )


def _host(host: Host, number: int, settings: Settings) -> Mapping:
    address = host_address(settings.network, number)
    return {
        "image": settings.broker_image,
        "entrypoint": ["sleep", "infinity"],
        "init": True,
        "restart": "no",
        "hostname": host.name,
        "networks": {"servers": {"ipv4_address": address, "aliases": [host.name]}},
        "labels": _labels(labels.ROLE_HOST, host.name),
    }


def _process(host: Host, service: Mapping) -> Mapping:
    return {
        **service,
        "restart": "no",
        "network_mode": f"service:{host_service(host)}",
        "depends_on": [host_service(host)],
        "cpu_shares": BROKER_CPU_SHARES,
        "labels": _labels(labels.ROLE_PROCESS, host.name),
    }


def _proxy(settings: Settings) -> Mapping:
    return {
        "image": settings.proxy_image,
        "restart": "no",
        "cpu_shares": INSTRUMENT_CPU_SHARES,
        "networks": _both(settings, _PROXY_ADDRESSES),
        "labels": _labels(labels.ROLE_PROXY, "toxiproxy"),
    }


def _agent(settings: Settings) -> Mapping:
    return {**_idle(settings, labels.ROLE_AGENT), "networks": _both(settings, _AGENT_ADDRESSES)}


def _workers(settings: Settings) -> Mapping:
    address = f"{settings.network}.{_WORKERS_ADDRESS}"
    return {
        **_idle(settings, labels.ROLE_WORKERS),
        "user": settings.user,
        "volumes": [{"type": "bind", "source": settings.experiment, "target": RESULTS}],
        "networks": {"clients": {"ipv4_address": address}},
    }


def _idle(settings: Settings, role: str) -> Mapping:
    """A container that waits for commands."""
    return {
        "image": settings.worker_image,
        "entrypoint": ["sleep", "infinity"],
        "init": True,
        "restart": "no",
        "cpu_shares": INSTRUMENT_CPU_SHARES,
        "labels": _labels(role, role),
    }


def _both(settings: Settings, addresses: dict[str, int]) -> Mapping:
    return {
        network: {"ipv4_address": f"{settings.network}.{last}"}
        for network, last in addresses.items()
    }


def _network(subnet: str) -> Mapping:
    return {"internal": True, "ipam": {"config": [{"subnet": subnet}]}}


def _labels(role: str, host: str) -> Mapping:
    return {labels.ROLE: role, labels.HOST: host}


def _volume(host: Host, process: str) -> str:
    return f"{host.name}-{process}"


# --- what the processes of a system run -------------------------------------------------------


def rabbitmq(layout: Layout, host: Host, process: str, settings: Settings) -> Mapping:
    """One RabbitMQ node; its entry point turns these words into its configuration."""
    return {
        "image": settings.broker_image,
        "environment": {
            "MQPROOF_COOKIE": "mqproof",
            "MQPROOF_NODES": " ".join(peer.name for peer in layout.hosts),
            "MQPROOF_NET_TICKTIME": f"{layout.timer_s:.0f}",
            "MQPROOF_PARTITION_HANDLING": layout.partition_handling,
            "MQPROOF_MEMORY_HIGH_WATERMARK": "2GB",
        },
        "healthcheck": {
            "test": ["CMD", "/usr/local/bin/amqp-ready.sh"],
            # Rare: each look costs a process and three lines of the broker's log. The harness asks
            # by its agent and does not wait for this one.
            "interval": "15s",
            "timeout": "5s",
            "retries": 5,
        },
        "volumes": [f"{_volume(host, process)}:/var/lib/rabbitmq"],
    }
