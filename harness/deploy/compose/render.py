"""PURE: a layout becomes the text of a compose file that both compose tools understand.

1. A host is a container that owns the network namespace, sleeps, and is never restarted; the
   processes of the host join it. Killing a process leaves addresses and names in place.
2. Toxiproxy is the only way from the clients' network to the brokers'; the agent is on both.
   Nothing publishes a port, and neither network leads outside.
3. The instrument (workers, agent, proxy) has a higher CPU weight than what it measures.
4. Systems that stand side by side share the instrument and the networks, and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from harness.deploy import labels
from harness.deploy.compose import balancers, peer_ways, worker_ways
from harness.deploy.compose.confined import confined
from harness.deploy.compose.settings import Settings, host_address
from harness.plan.model import Host, Layout
from harness.systems.services import COOKIE, Addresses, Service, Services

Mapping = dict[str, Any]

RESULTS = "/results"  # the experiment's folder, as workers see it
ADDRESSES = "toxiproxy-addresses"
BEFORE_BROKERS = ("toxiproxy", ADDRESSES, "agent")  # services by which peer links are made
BROKER_CPU_SHARES = 1024
# Of a container that waits; what one does not use the others have. Six busy brokers and name
# servers have 6,144 together: at 4,096 workers waited for over 100 ms in most runs on two cores.
INSTRUMENT_CPU_SHARES = 32768
_NETWORK = "@NETWORK@"  # where the first three parts of addresses come in a shell's words
_PROXY_ADDRESSES = {"servers": 100, "clients": 200}
_AGENT_ADDRESSES = {"servers": 101, "clients": 201}
_WORKERS_ADDRESS = 202


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A layout, and what its system says of it. `image`: of its hosts and processes; `by_names`:
    its clients know brokers by name."""

    layout: Layout
    services: Services
    image: str
    by_names: bool


def render(laid: Laid, settings: Settings) -> str:
    """The compose file of one layout."""
    layout = laid.layout
    return _head(f"{layout.system}, {layout.label}: {layout.title}.") + _text([laid], settings)


def side_by_side(every: Sequence[Laid], settings: Settings) -> str:
    """A compose file with all of these; their hosts must have different names."""
    names = ", ".join(f"{one.layout.system} {one.layout.label}" for one in every)
    return _head(f"All systems side by side: {names}.") + _text(every, settings)


def _text(every: Sequence[Laid], settings: Settings) -> str:
    services: Mapping = {}
    volumes: list[str] = []
    layouts = [laid.layout for laid in every]
    placed = _placed(layouts, settings.network)
    for laid, addresses in zip(every, placed, strict=True):
        layout = laid.layout
        for host in (*layout.hosts, *layout.spares):
            services |= _host_services(laid, host, addresses, settings)
            volumes += [_volume(host, process) for process in host.processes]
        assert len(layouts) == 1 or not layout.balancers, "balancers stand before one system"
        services |= balancers.services(layout, dict(addresses), settings, BROKER_CPU_SHARES)
    services["toxiproxy"] = {**_proxy(settings), **_kernel(layouts)}
    for laid in every:
        ways = {
            "servers": tuple(peer_ways.addresses(laid.layout, _NETWORK).values()),
            "clients": worker_ways.addresses(_NETWORK) if laid.by_names else (),
        }
        assert len(layouts) == 1 or not ways["servers"], "it has addresses for one system's peers"
        if any(ways.values()):
            services[ADDRESSES] = _proxy_addresses(ways, settings)
    services["agent"] = _agent(settings)
    services["workers"] = _workers(settings)
    services = {name: confined(service) for name, service in services.items()}
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
    return yaml.safe_dump(document, sort_keys=False, width=99)


def _placed(layouts: Sequence[Layout], network: str) -> list[Addresses]:
    """The addresses of each layout's hosts, counted through all layouts."""
    placed: list[Addresses] = []
    number = 0
    for layout in layouts:
        addresses = {}
        for host in (*layout.hosts, *layout.spares):
            addresses[host.name] = host_address(network, number)
            number += 1
        placed.append(addresses)
    return placed


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


def proxy_address(network: str) -> str:
    """Where workers meet the proxy."""
    return f"{network}.{_PROXY_ADDRESSES['clients']}"


def _head(what: str) -> str:
    rule = (
        "Rendered by harness/deploy/compose/render.py; change that or the layout, not this file."
    )
    return f"# {what}\n# {rule}\n"


def _host_services(laid: Laid, host: Host, addresses: Addresses, settings: Settings) -> Mapping:
    """The container that is the host, and those of its processes."""
    layout, told, image = laid.layout, laid.services.told, laid.image
    names = peer_ways.names(host.name, peer_ways.addresses(layout, settings.network))
    services = {host_service(host): _host(host, addresses[host.name], image, names)}
    for name in host.processes:
        own = told(layout, host, name, _cluster_of(host, layout, addresses))
        services[process_service(host, name)] = {
            "image": image,
            **_with_cookie(own, settings.cookie),
            "volumes": [f"{_volume(host, name)}:{laid.services.data}"],
            "restart": "no",
            "network_mode": f"service:{host_service(host)}",
            "depends_on": [host_service(host)],
            "cpu_shares": BROKER_CPU_SHARES,
            "labels": _labels(labels.ROLE_PROCESS, host.name),
        }
    return services


def _with_cookie(service: Service, cookie: str) -> Service:
    environment = service.get("environment", {})
    told = {name: value.replace(COOKIE, cookie) for name, value in environment.items()}
    return {**service, **({"environment": told} if told else {})}


def _cluster_of(host: Host, layout: Layout, addresses: Addresses) -> Addresses:
    """Whom its processes are told of: all members; a spare has nobody but itself."""
    members = [host] if host in layout.spares else layout.hosts
    return {member.name: addresses[member.name] for member in members}


def _host(host: Host, address: str, image: str, names: list[str]) -> Mapping:
    """`names`: of peers that are not met by their own addresses. Its processes share the table."""
    return {
        **({"extra_hosts": names} if names else {}),
        "image": image,
        "entrypoint": ["sleep", "infinity"],
        "init": True,
        "restart": "no",
        "hostname": host.name,
        "networks": {"servers": {"ipv4_address": address, "aliases": [host.name]}},
        "labels": _labels(labels.ROLE_HOST, host.name),
    }


def _proxy(settings: Settings) -> Mapping:
    return {
        "image": settings.proxy_image,
        "restart": "no",
        "cpu_shares": INSTRUMENT_CPU_SHARES,
        "networks": _both(settings, _PROXY_ADDRESSES),
        "labels": _labels(labels.ROLE_PROXY, "toxiproxy"),
    }


def _kernel(layouts: Sequence[Layout]) -> Mapping:
    """Of the proxy's network: there the clients' links to hosts begin."""
    told = {one.client_tcp_retries2 for one in layouts if one.client_tcp_retries2 is not None}
    assert len(told) < 2, "one proxy has one kernel"
    return {"sysctls": {"net.ipv4.tcp_retries2": told.pop()}} if told else {}


def _proxy_addresses(ways: dict[str, tuple[str, ...]], settings: Settings) -> Mapping:
    """It may change what the proxy's network namespace is. `ways`: more addresses by network.

    Compose is to replace the network's variable, and to leave the shell its own.
    """
    command = peer_ways.adding(
        {f"{_NETWORK}.{_PROXY_ADDRESSES[network]}": more for network, more in ways.items() if more}
    )
    return {
        "image": settings.worker_image,
        "entrypoint": [
            word.replace("$", "$$").replace(_NETWORK, settings.network) for word in command
        ],
        "init": True,
        "restart": "no",
        "network_mode": "service:toxiproxy",
        "depends_on": ["toxiproxy"],
        "cap_add": ["NET_ADMIN"],
        "labels": _labels(labels.ROLE_ADDRESSES, labels.ROLE_ADDRESSES),
    }


def _agent(settings: Settings) -> Mapping:
    return {**_idle(settings, labels.ROLE_AGENT), "networks": _both(settings, _AGENT_ADDRESSES)}


def _workers(settings: Settings) -> Mapping:
    address = f"{settings.network}.{_WORKERS_ADDRESS}"
    told = _labels(labels.ROLE_WORKERS, labels.ROLE_WORKERS)
    return {
        **_idle(settings, labels.ROLE_WORKERS),
        "labels": {**told, labels.USER: settings.user},
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
