"""The reference of RocketMQ's masters and slaves: what it promises is what they do.

Layout files and the servers' configuration are those of the real ones. As processes of this
machine:

1. Brokers are what their configuration says when they start; of a key that stands twice the last
   word counts. As on hosts of the real ones (rocketmq_2m2s.py): there must never be two masters,
   so that the old one is written down as a slave first.
2. The operator starts and stops no broker: the executor does that.
"""

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import Field

from harness.cluster.orders import Order, Promote
from harness.cluster.port import DeployError
from harness.plan.misbehave import OF_LOGS
from harness.plan.model import Layout
from harness.systems.layout_parts import PROFILES_MAX, ProfileName
from harness.systems.port import Adapters, Foreground, Here, Node, Unit
from harness.systems.reference.containers import server_containers
from harness.systems.reference.core.speed import ReferenceProfile, compressed
from harness.systems.reference.servers import adapters_of, here_too, units_of
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core.layout import RocketMq, ServerProcess
from harness.systems.rocketmq.core.master_slave import (
    REPLICATED,
    MasterSlaveFile,
    configuration,
    master_slave_guarantees,
    master_slave_servers,
    role,
)
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq_2m2s import REFERENCE_FOREIGN, FixedRoles, master_slave_parts


class ReferenceLayoutFile(MasterSlaveFile):
    """`version`: it has none; what it does is what 4.9 does."""

    version: Literal["reference"] = Field(description="the reference has no versions")
    profiles: Annotated[
        Mapping[ProfileName, ReferenceProfile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    def layout(self, system: str, profile: str) -> Layout:
        own = RocketMq(
            self.version,
            self.replication,
            self.flush,
            self.timers(profile),
            self.client_jvm,
            self.profiles[profile].compression,
        )
        return self.made(system, profile, own)


def reference_configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """Return the settings by key."""
    return compressed(layout, configuration(layout, host, process))


# --- as processes of this machine -------------------------------------------------------------


class ConfigurationOperator:
    """orders.Operator. `home_of`: the group of a queue."""

    def __init__(self, here: Here, home_of: Callable[[str], str], leading: FixedRoles) -> None:
        self._here = here
        self._home_of = home_of
        self._leading = leading

    async def carry_out(self, order: Order) -> str:
        if not isinstance(order, Promote):
            raise DeployError(f"{self._here.layout.system} takes no order: {order}")
        master, slave = self._leading.slave_on(self._home_of(order.queue), order.host)
        try:
            self._write(master, slave.id)
            self._write(slave, master.id)
        except OSError as error:
            raise DeployError(f"{slave.process} was not made a master: {error}") from error
        self._leading.promote(master, slave)
        return f"{slave.process} is the master from its next start on, {master.process} a slave"

    def _write(self, server: ServerProcess, id: int) -> None:
        settings = role(self._here.layout, id)
        file = Path(self._here.configured(server.host, server.process))
        with file.open("a", encoding="utf-8") as lines:
            lines.write("".join(f"{key}={value}\n" for key, value in settings))


class ReferenceServers:
    """port.Processes of servers with configured roles."""

    moves = False
    peers_at = None

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        return units_of(layout, lambda server: server.ports)

    def configuration(self, node: Node) -> str:
        return here_too(node, reference_configuration(node.layout, node.host, node.word))

    def adapters(self, here: Here) -> Adapters:
        leading = FixedRoles(here.layout)
        broker = RocketBroker(here.layout, RocketApi(here.agent, here.addresses), leading)
        operator = ConfigurationOperator(here, broker.home_of, leading)
        return adapters_of(here, broker, operator, ())


# --- the system -------------------------------------------------------------------------------


class Replication(StrEnum):
    """Whether a confirm waits for a slave."""

    SYNC = "sync"
    ASYNC = "async"


def servers_to_play_with(
    port: Annotated[
        int,
        typer.Option(
            min=1, max=64000, help="Of the first name server; brokers follow 1035 above it."
        ),
    ] = 9876,
    replication: Annotated[
        Replication, typer.Option(help="Whether a confirm waits for a slave.")
    ] = Replication.SYNC,
    compression: Annotated[
        float, typer.Option(min=0.001, max=1000, help="By how much all timers are shorter.")
    ] = 1.0,
) -> tuple[str, ...]:
    """Run two masters, two slaves and two name servers as in RocketMQ 4.9, on 127.0.0.1.

    They run until Ctrl-C or SIGTERM. The first line is the name servers, for clients. It comes
    when every master confirms, some 6 s after the start.
    """
    words = ["--port", str(port), "--replication", replication.value]
    words += ["--compression", f"{compression:g}"]
    return (sys.executable, "-m", "reference_impl", "2m2s", *words)


REFERENCE_2M2S = rocketmq_declaration(
    "reference-2m2s",
    layout_file=ReferenceLayoutFile,
    guarantees=master_slave_guarantees,
    replicated=REPLICATED,
    servers=master_slave_servers,
    processes=ReferenceServers(),
    misbehaves=("drop", "duplicate", "corrupt", "confirm-early", *OF_LOGS, "truncate"),
    containers=server_containers(reference_configuration, master_slave_parts),
    foreground=Foreground("2m2s", servers_to_play_with),
    foreign=REFERENCE_FOREIGN,
)
