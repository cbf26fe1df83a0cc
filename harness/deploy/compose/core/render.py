"""PURE: a layout becomes the text of a compose file that both compose tools understand.

1. A host is a container that owns the network namespace, sleeps, and is never restarted; the
   processes of the host join it. Killing a process leaves addresses and names in place.
2. Toxiproxy is the only way from the clients' network to the brokers'; the agent is on both.
   Neither network leads outside.
3. The instrument (workers, agent, proxy) has a higher CPU weight than what it measures.
4. Systems that stand side by side share the instrument and the networks, and nothing else. Two
   hosts of one name would overwrite each other: `distinct` renames them, and `side_by_side`
   refuses them.
5. Clusters by hand publish ports at loopback addresses: of Toxiproxy alone, by a network of its
   own, which leads nowhere else.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from harness.deploy import labels
from harness.deploy.compose.core import balancers, peer_ways, worker_ways
from harness.deploy.compose.core.anchored import anchored
from harness.deploy.compose.core.confined import confined
from harness.deploy.compose.core.settings import Settings, host_address
from harness.plan.layouts.layout_values import Host
from harness.plan.model import Layout
from harness.systems.core.services import COOKIE, Addresses, Service, Services

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
_PUBLISHING = "published"  # the network that Toxiproxy has for it


class PortMapping(NamedTuple):
    """A published port. `last`: the last part of its loopback address; `listens_at`: the proxy's
    own port."""

    last: int
    port: int
    listens_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeLayout:
    """A layout with its system's services. `image`: of its hosts and processes.

    `by_names`: its clients know brokers by name.
    """

    layout: Layout
    services: Services
    image: str
    by_names: bool


def render(composed: ComposeLayout, settings: Settings) -> str:
    """Return the compose file of one layout."""
    layout = composed.layout
    return _head(f"{layout.system}, {layout.label}: {layout.title}.") + _text([composed], settings)


class HostNameCollision(ValueError):
    """Two hosts of a compose file have one name."""


def distinct(layouts: Sequence[Layout]) -> list[Layout]:
    """Return the layouts with host names that occur once: of those that share one, every host
    gets its system's name before its own, with a number if the system occurs several times."""
    shared = _shared_names(layouts)
    return [
        _prefixed(one, prefix) if shared & _host_names(one) else one
        for one, prefix in zip(layouts, _prefixes(layouts), strict=True)
    ]


def _prefixes(layouts: Sequence[Layout]) -> Iterator[str]:
    """Yield `SYSTEM-`, or `SYSTEM-1-` of the first of several."""
    of_system, number = Counter(one.system for one in layouts), Counter[str]()
    for one in layouts:
        number[one.system] += 1
        yield (
            f"{one.system}-{number[one.system]}-"
            if of_system[one.system] > 1
            else f"{one.system}-"
        )


def _prefixed(layout: Layout, prefix: str) -> Layout:
    def renamed(hosts: tuple[Host, ...]) -> tuple[Host, ...]:
        return tuple(replace(host, name=f"{prefix}{host.name}") for host in hosts)

    pause = layout.pause_if_all_down
    if pause is not None:
        pause = replace(pause, hosts=tuple(f"{prefix}{name}" for name in pause.hosts))
    hosts, spares = renamed(layout.hosts), renamed(layout.spares)
    return replace(layout, hosts=hosts, spares=spares, pause_if_all_down=pause)


def _host_names(layout: Layout) -> set[str]:
    return {host.name for host in (*layout.hosts, *layout.spares)}


def _shared_names(layouts: Sequence[Layout]) -> set[str]:
    counted = Counter(name for layout in layouts for name in _host_names(layout))
    return {name for name, times in counted.items() if times > 1}


def side_by_side(
    every: Sequence[ComposeLayout], settings: Settings, ports: Sequence[PortMapping] = ()
) -> str:
    """Return a compose file with all of these. Raise HostNameCollision where two hosts have one
    name. `ports`: of Toxiproxy, to be published."""
    layouts = [composed.layout for composed in every]
    if shared := _shared_names(layouts):
        who = ", ".join(
            f"{one.system} {one.label}" for one in layouts if shared & _host_names(one)
        )
        raise HostNameCollision(
            f"{who}: these layouts share the host names {', '.join(sorted(shared))}, and one "
            "compose file needs different ones. Rename the hosts of one of them."
        )
    names = ", ".join(f"{one.layout.system} {one.layout.label}" for one in every)
    return _head(f"All systems side by side: {names}.") + _text(every, settings, ports)


def _text(
    every: Sequence[ComposeLayout], settings: Settings, ports: Sequence[PortMapping] = ()
) -> str:
    services: Mapping = {}
    groups: dict[str, str] = {}  # service -> the block that it shares with others
    volumes: list[str] = []
    layouts = [composed.layout for composed in every]
    placed = _placed(layouts, settings.network)
    for composed, addresses in zip(every, placed, strict=True):
        layout = composed.layout
        for host in (*layout.hosts, *layout.spares):
            own = _host_services(composed, host, addresses, settings)
            assert not services.keys() & own.keys(), "two services of one name"
            services |= own
            groups |= {name: _group(layout, service) for name, service in own.items()}
            volumes += [_volume(host, process) for process in host.processes]
        assert len(layouts) == 1 or not layout.balancers, "balancers stand before one system"
        services |= balancers.services(layout, dict(addresses), settings, BROKER_CPU_SHARES)
    services["toxiproxy"] = {**_proxy(settings, ports), **_kernel(layouts)}
    for composed in every:
        ways = {
            "servers": tuple(peer_ways.addresses(composed.layout, _NETWORK).values()),
            "clients": worker_ways.addresses(_NETWORK) if composed.by_names else (),
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
            **({_PUBLISHING: _publishing_network()} if ports else {}),
        },
        "volumes": {name: {} for name in volumes},
    }
    for made in (
        *services.values(),
        *document["networks"].values(),
        *document["volumes"].values(),
    ):
        made["labels"] = {**_common(settings), **made.get("labels", {})}
    return anchored(document, lambda name: groups.get(name, "instrument"))


def _group(layout: Layout, service: Mapping) -> str:
    return f"{layout.system}-{service['labels'][labels.ROLE]}"


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
    """Return the labels of everything that mqproof makes, by which it is found again."""
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
    own = "harness/deploy/compose/core/render.py"
    return f"# {what}\n# Rendered by {own}; change that or the layout, not this file.\n"


def _host_services(
    composed: ComposeLayout, host: Host, addresses: Addresses, settings: Settings
) -> Mapping:
    """The container that is the host, and those of its processes."""
    layout, configure, image = composed.layout, composed.services.configure, composed.image
    names = peer_ways.names(host.name, peer_ways.addresses(layout, settings.network))
    services = {host_service(host): _host(host, addresses[host.name], image, names)}
    for name in host.processes:
        own = configure(layout, host, name, _cluster_of(host, layout, addresses))
        services[process_service(host, name)] = {
            "image": image,
            **_with_cookie(own, settings.cookie),
            "volumes": [f"{_volume(host, name)}:{composed.services.data}"],
            "restart": "no",
            "network_mode": f"service:{host_service(host)}",
            "depends_on": [host_service(host)],
            "cpu_shares": BROKER_CPU_SHARES,
            "labels": _labels(labels.ROLE_PROCESS, host.name),
        }
    return services


def _with_cookie(service: Service, cookie: str) -> Service:
    environment = service.get("environment", {})
    variables = {name: value.replace(COOKIE, cookie) for name, value in environment.items()}
    return {**service, **({"environment": variables} if variables else {})}


def _cluster_of(host: Host, layout: Layout, addresses: Addresses) -> Addresses:
    """Return the hosts that its processes know: all members; a spare knows only itself."""
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


def _proxy(settings: Settings, ports: Sequence[PortMapping]) -> Mapping:
    networks = _both(settings, _PROXY_ADDRESSES) | ({_PUBLISHING: {}} if ports else {})
    mapped = [f"{settings.loopback}.{one.last}:{one.port}:{one.listens_at}" for one in ports]
    return {
        "image": settings.proxy_image,
        "restart": "no",
        "cpu_shares": INSTRUMENT_CPU_SHARES,
        "networks": networks,
        **({"ports": mapped} if mapped else {}),
        "labels": _labels(labels.ROLE_PROXY, "toxiproxy"),
    }


def _kernel(layouts: Sequence[Layout]) -> Mapping:
    """Of the proxy's network: there the clients' links to hosts begin."""
    retries = {one.client_tcp_retries2 for one in layouts if one.client_tcp_retries2 is not None}
    assert len(retries) < 2, "one proxy has one kernel"
    return {"sysctls": {"net.ipv4.tcp_retries2": retries.pop()}} if retries else {}


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
    marks = _labels(labels.ROLE_WORKERS, labels.ROLE_WORKERS)
    return {
        **_idle(settings, labels.ROLE_WORKERS),
        "labels": {**marks, labels.USER: settings.user},
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


def _publishing_network() -> Mapping:
    """Return a network that ports can be published from; without masquerading it leads nowhere."""
    return {"driver_opts": {"com.docker.network.bridge.enable_ip_masquerade": "false"}}


def _labels(role: str, host: str) -> Mapping:
    return {labels.ROLE: role, labels.HOST: host}


def _volume(host: Host, process: str) -> str:
    return f"{host.name}-{process}"
