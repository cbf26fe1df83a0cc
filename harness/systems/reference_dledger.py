"""The reference of RocketMQ's DLedger groups: what it promises is what they promise.

Layout files and the servers' configuration are those of the real ones. The reference may be
quicker.
"""

import sys
from collections.abc import Mapping
from typing import Annotated, Literal

import typer
from pydantic import Field

from harness.plan.misbehave import OF_LEDGERS
from harness.plan.model import Layout
from harness.systems.layout_parts import PROFILES_MAX, ProfileName
from harness.systems.port import Foreground
from harness.systems.reference.containers import server_containers
from harness.systems.reference.core.speed import ReferenceProfile, compressed
from harness.systems.reference.servers import ElectedServers
from harness.systems.rocketmq.core.dledger import (
    REPLICATED,
    DledgerFile,
    configuration,
    dledger_guarantees,
    dledger_servers,
)
from harness.systems.rocketmq.core.layout import ASYNC, MAJORITY, RocketMq, ServerProcess, brokers
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq_dledger import REFERENCE_GROUPS_FOREIGN, Members, dledger_parts


def _configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """Return the settings by key."""
    return compressed(layout, configuration(layout, host, process))


class ReferenceGroupsFile(DledgerFile):
    """`version`: it has none; what it does is what 4.9 does."""

    version: Literal["reference"] = Field(description="the reference has no versions")
    profiles: Annotated[
        Mapping[ProfileName, ReferenceProfile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    def layout(self, system: str, profile: str) -> Layout:
        timers, factor = self.timers(profile), self.profiles[profile].compression
        own = RocketMq(self.version, MAJORITY, ASYNC, timers, self.client_jvm, factor)
        return self.made(system, profile, own)


def group_to_play_with(
    port: Annotated[
        int,
        typer.Option(
            min=1, max=64000, help="Of the first name server; brokers follow 1035 above it."
        ),
    ] = 9876,
    members: Annotated[int, typer.Option(min=3, max=5, help="Brokers in the group.")] = 3,
    compression: Annotated[
        float, typer.Option(min=0.001, max=1000, help="By how much all timers are shorter.")
    ] = 1.0,
) -> tuple[str, ...]:
    """Run a DLedger group of RocketMQ 4.9 and two name servers on 127.0.0.1.

    They run until Ctrl-C or SIGTERM. The first line is the name servers, for clients. It comes
    when the group has a leader that confirms, some 2 s after the start.
    """
    words = ["--port", str(port), "--members", str(members)]
    words += ["--compression", f"{compression:g}"]
    return (sys.executable, "-m", "reference_impl", "dledger", *words)


def _ports(one: ServerProcess) -> tuple[int, ...]:
    """A broker takes part in elections, and gives no copies of its log away."""
    return (one.port - 2, one.port, one.votes_at) if one.is_broker else one.ports


REFERENCE_GROUPS = ElectedServers(_configuration, Members, brokers, _ports)
REFERENCE_DLEDGER = rocketmq_declaration(
    "reference-dledger",
    layout_file=ReferenceGroupsFile,
    guarantees=dledger_guarantees,
    replicated=REPLICATED,
    servers=dledger_servers,
    processes=REFERENCE_GROUPS,
    misbehaves=OF_LEDGERS,
    containers=server_containers(_configuration, dledger_parts),
    foreground=Foreground("dledger", group_to_play_with),
    foreign=REFERENCE_GROUPS_FOREIGN,
)
