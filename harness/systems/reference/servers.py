"""The reference's name servers and brokers as subprocesses of this machine.

1. They get the configuration of the real ones, and four settings more: the address to listen at,
   the folder of their store, the addresses of host names (no resolver here knows them), and a
   secret, because any program on this machine could dial them.
2. Servers know each other's ports by the layout alone: they can be at no others.
3. Brokers dial each other and name servers directly: no fault of a network is suffered here.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.cluster.orders import Operator
from harness.plan.layouts.layout_values import Host
from harness.plan.misbehave import WITHOUT
from harness.plan.model import Layout
from harness.systems.port import Adapters, Here, Node, Unit
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core.layout import ServerProcess, servers
from harness.systems.rocketmq.core.service_ports import service_ports_of
from harness.systems.rocketmq.core.services import Configuration
from harness.systems.rocketmq.core.settings import STORE
from harness.systems.rocketmq.leading import Leading
from harness.systems.rocketmq.links import RocketLinks
from harness.systems.rocketmq.no_operator import NoOperator

_KEYS = {
    "kind": "misbehave",
    "share": "misbehaveShare",
    "seed": "misbehaveSeed",
    "truth": "misbehaveTruth",
}
_STORE_AT = "storePathRootDir"  # of servers that keep something
# The key of the rule that is switched off, by the key that says what the server takes part in.
_WITHOUT = {
    "enableDLegerCommitLog": "ledgerWithout",
    "enableCtgmq": "replicaWithout",
    "controlPeers": "controlWithout",
}


class ElectedServers:
    """port.Processes of servers that elect their leaders: no operator makes one.

    `ports`: all that a server listens at. `voters`: servers that take part in elections.
    """

    moves = False
    peers_at = None

    def __init__(
        self,
        configure: Configuration,
        leading: Callable[[Layout, RocketApi], Leading],
        voters: Callable[[Sequence[Host]], Sequence[ServerProcess]],
        ports: Callable[[ServerProcess], tuple[int, ...]],
    ) -> None:
        self._configure = configure
        self._leading = leading
        self._voters = voters
        self._ports = ports

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        return units_of(layout, self._ports)

    def configuration(self, node: Node) -> str:
        return here_too(node, self._configure(node.layout, node.host, node.word))

    def adapters(self, here: Here) -> Adapters:
        api = RocketApi(here.agent, here.addresses)
        broker = RocketBroker(here.layout, api, self._leading(here.layout, api))
        operator = NoOperator(here.layout.system)
        return adapters_of(here, broker, operator, self._voters(here.layout.hosts))


def units_of(
    layout: Layout, ports: Callable[[ServerProcess], tuple[int, ...]]
) -> tuple[Unit, ...]:
    return tuple(
        Unit(one.host, one.process, _command_of(one), one.port, ports(one))
        for one in servers(layout.hosts)
    )


def adapters_of(
    here: Here, broker: RocketBroker, operator: Operator, voters: Sequence[ServerProcess]
) -> Adapters:
    hosts = here.layout.hosts
    ways = RocketLinks(here.agent, here.proxy, here.free, servers(hosts), here.addresses, voters)
    return Adapters(broker, operator, service_ports_of(hosts), ways)


def here_too(node: Node, settings: dict[str, str]) -> str:
    """Return a configuration file with the settings that a process of this machine needs."""
    settings = settings | {"bindAddress": node.address, "peerSecret": node.cookie}
    if _STORE_AT in settings:
        names = ",".join(f"{host}={address}" for host, address in node.addresses.items())
        settings |= {_STORE_AT: f"{node.data}/{STORE}", "hostAddresses": names}
        settings |= _misbehaving(settings, node.misbehave or {})
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def _misbehaving(settings: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of a server that does wrong, or that does not keep a rule."""
    kind = str(options.get("kind", ""))
    if not kind.startswith(WITHOUT):
        return {_KEYS[key]: str(value) for key, value in options.items()}
    (without,) = (_WITHOUT[key] for key in settings if key in _WITHOUT)
    found = {without: kind.removeprefix(WITHOUT)}
    if "brokerName" in settings:  # no other server has messages that it could lose
        found["misbehaveTruth"] = str(options["truth"])
    return found


def _command_of(server: ServerProcess) -> tuple[str, ...]:
    word = "name-server" if server.is_name_server else "broker"
    return (sys.executable, "-m", "reference_impl", word)
