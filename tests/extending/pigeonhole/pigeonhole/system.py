"""The system: its layouts, what it promises, how its nodes are run. mqproof.systems"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from faults.core.peers import Served, Serving
from faults.executors.service_ports import Greeting, ServicePorts
from harness.cluster.links import Links
from harness.plan.facts import Fact
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.layouts.layout_values import NO_HANDLING, Host
from harness.plan.layouts.servers import Process, QueueRole, ServerRole, Servers
from harness.plan.model import Drain, Layout, LayoutFact
from harness.systems.layout_parts import AsList, Name, Names, ProfileName, Title, host_problems
from harness.systems.port import Adapters, Declaration, Here, Node, Unit
from pigeonhole.broker import NoOperator, Pigeons
from pigeonhole.lines import CLIENT_PORT, PEER_PORT
from spark_analysis.schema.words import LEVELS, Strength

HELLO = Greeting(says='{"do":"hello"}\n', begins='{"say":"hello"')
SERVICE_PORTS = ServicePorts(
    hello=HELLO,
    canaries=None,  # its system.toml says what it cannot suffer for that
    peer_word=None,
    usual=CLIENT_PORT,
    to_peers=PEER_PORT,
    ports={},
)
_ALONE = NotApplicable("a queue lies on one node, and has no mirror")


@dataclass(frozen=True, slots=True)
class Haste:
    """Layout.own: settings that only its nodes need."""

    hasty: bool

    def describe(self) -> tuple[tuple[str, str], ...]:
        return (("confirms", "before a message is stored" if self.hasty else "once it is stored"),)


def haste(layout: Layout) -> Haste:
    assert isinstance(layout.own, Haste), layout.system
    return layout.own


class _HostFile(Table):
    name: Name
    processes: Names


class _ProfileFile(Table):
    detection_timeout_s: Annotated[float, Field(gt=0, le=3600)]


class PigeonholeLayout(Table):
    """One layout file. `hasty`: nodes confirm before they store."""

    name: Name
    title: Title
    hosts: Annotated[tuple[_HostFile, ...], Field(min_length=1, max_length=20), AsList]
    hasty: bool = False
    profiles: Annotated[dict[ProfileName, _ProfileFile], Field(min_length=1)]

    def layout(self, system: str, profile: str) -> Layout:
        return Layout(
            name=self.name,
            profile=profile,
            system=system,
            title=self.title,
            hosts=tuple(Host(one.name, one.name, one.processes) for one in self.hosts),
            detection_timeout_s=self.profiles[profile].detection_timeout_s,
            copies=1,
            synchronise="none",
            partition_handling=NO_HANDLING,
            policies=(),
            own=Haste(self.hasty),
        )

    def problems(self, _processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        return host_problems(self.hosts)


def _guarantees(_layout: Layout) -> Guarantees:
    """Of a hasty layout the same: that it breaks them is what mqproof is to find."""
    return Guarantees(
        masters=1,
        mirrored_on=_ALONE,
        promote_on_shutdown=_ALONE,
        promote_on_failure=_ALONE,
        elects=False,
        elects_by_majority=False,
        route_poll_s=NotApplicable("clients of this system use no name server"),
        confirm_waits_for_mirrors=False,
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=True,
        checks_within_s=NotApplicable("it knows no transaction"),
        progress_kept_by=BROKERS,
        strength=Strength.STORED,
        strength_of_transient=None,
    )


def _servers(layout: Layout) -> Servers:
    return Servers(
        processes=tuple(
            Process(
                host=host.name,
                word=word,
                role=ServerRole.BROKER,
                fixed_role=QueueRole.MASTER,
                client_port=CLIENT_PORT,
            )
            for host in layout.hosts
            for word in host.processes
        ),
        apart=False,
        by_names=False,
        keep_logs=False,
        speaks_first=True,  # it gives messages
        client_settings=(),
        client_flags=(),
        copied_every_s=None,
        voters=(),
        controllers=(),
        serving=Serving(
            by_host={host.name: (Served((PEER_PORT,), PEER_PORT),) for host in layout.hosts},
            renewed=False,
        ),
        management_port=None,
    )


FACTS = {
    "pigeonhole_confirms_early": LayoutFact(
        fact=Fact(bool, False, "a node confirms a message before it stores it"),
        value=lambda layout: haste(layout).hasty,
    )
}
DRAIN = Drain(
    queue_name=lambda queue: queue,
    quiet_s=lambda _: 2.0,
    more_s=lambda _: 0.0,
    in_order=lambda _, consumers: consumers <= 1,
    gone_by_force_s=5.0,  # a node hears of it by the end of the connection
)


class PigeonholeNodes:
    """harness.systems.port.Processes."""

    moves = True
    peers_at = PEER_PORT

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        command = (sys.executable, "-m", "pigeonhole")
        return tuple(
            Unit(host.name, word, command, CLIENT_PORT, (CLIENT_PORT, PEER_PORT))
            for host in layout.hosts
            for word in host.processes
        )

    def configuration(self, node: Node) -> str:
        configured = {
            "name": node.host,
            "address": node.address,
            "client_port": node.port(CLIENT_PORT),
            "peer_port": node.port(PEER_PORT),
            "peers": dict(node.peers),
            "data": node.data,
            "hasty": haste(node.layout).hasty,
        }
        return json.dumps(configured)

    def adapters(self, here: Here) -> Adapters:
        ways = {
            host: (address, here.port(CLIENT_PORT)) for host, address in here.addresses.items()
        }
        dialled = {host: f"{address}:{port}" for host, (address, port) in ways.items()}
        links = Links(here.agent, here.proxy, dialled)
        return Adapters(Pigeons(here.agent, ways), NoOperator(), SERVICE_PORTS, links)


DECLARATION = Declaration(
    name="pigeonhole",
    folder=lambda: Path(__file__).parent / "files",
    layout_file=PigeonholeLayout,
    guarantees=_guarantees,
    facts=FACTS,
    servers=_servers,
    drain=DRAIN,
    levels=LEVELS,
    ways=(),
    versioned_as="pigeonhole",
    processes=PigeonholeNodes(),
    misbehaves=(),  # its nodes do wrong by their layout
    containers=None,
    foreground=None,
    demo=None,
    foreign=None,
)
