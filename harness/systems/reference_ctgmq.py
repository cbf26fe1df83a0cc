"""The reference of CTGMQ: two brokers a group, whose master name servers replace by Raft."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from harness.plan.misbehave import OF_REPLICAS, WITHOUT
from harness.systems.port import Foreground
from harness.systems.reference.containers import server_containers
from harness.systems.reference.core.ctgmq import (
    EPOCHS,
    SLAVE_ACK,
    CtgmqFile,
    ctgmq_configuration,
)
from harness.systems.reference.servers import ElectedServers
from harness.systems.rocketmq.core.controlled import (
    REPLICATED,
    controller_guarantees,
    controller_servers,
    controllers,
)
from harness.systems.rocketmq.core.layout import ServerProcess
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq_controller import ControllersWord, controller_parts

_RULES = tuple(kind.removeprefix(WITHOUT) for kind in OF_REPLICAS)
_NAME_SERVERS = (1, 2, 3, 5)  # of four, as many may fail as of three


class Truncation(StrEnum):
    """Where a broker that becomes a slave cuts its log."""

    EPOCHS = EPOCHS
    SLAVE_ACK = SLAVE_ACK


def switched_group_to_play_with(
    port: Annotated[
        int,
        typer.Option(
            min=1, max=64000, help="Of the first name server; brokers follow 1035 above it."
        ),
    ] = 9876,
    name_servers: Annotated[
        int, typer.Option(min=1, max=5, help="1, 2, 3 or 5; each is a control node.")
    ] = 3,
    replicas: Annotated[int, typer.Option(min=2, max=3, help="Brokers in the group.")] = 2,
    truncation: Annotated[
        Truncation, typer.Option(help="Where a new slave cuts its log.")
    ] = Truncation.EPOCHS,
    without: Annotated[
        list[str] | None,
        typer.Option(help=f"A rule to switch off; repeat it for more: {', '.join(_RULES)}."),
    ] = None,
    compression: Annotated[
        float, typer.Option(min=0.001, max=1000, help="By how much all timers are shorter.")
    ] = 1.0,
) -> tuple[str, ...]:
    """Run a group of CTGMQ, whose name servers replace its master, on 127.0.0.1.

    They run until Ctrl-C or SIGTERM. The first line is the name servers, for clients. It comes
    when the group has a master that confirms, some 4 s after the start.
    """
    if unknown := [rule for rule in without or () if rule not in _RULES]:
        text = f"there is no rule {', '.join(unknown)}; choose from {', '.join(_RULES)}"
        raise typer.BadParameter(text, param_hint="--without")
    if name_servers not in _NAME_SERVERS:
        text = f"{name_servers} is none of {', '.join(map(str, _NAME_SERVERS))}"
        raise typer.BadParameter(text, param_hint="--name-servers")
    words = ["--port", str(port), "--name-servers", str(name_servers)]
    words += ["--replicas", str(replicas), "--truncation", truncation.value]
    words += [f"--without={rule}" for rule in without or ()]
    words += ["--compression", f"{compression:g}"]
    return (sys.executable, "-m", "reference_impl", "ctgmq", *words)


def _ports(one: ServerProcess) -> tuple[int, ...]:
    """A name server listens at one port more, for control nodes and queries."""
    return (*one.ports, one.votes_at) if one.is_name_server else one.ports


SWITCHED_SERVERS = ElectedServers(ctgmq_configuration, ControllersWord, controllers, _ports)
REFERENCE_CTGMQ = rocketmq_declaration(
    "reference-ctgmq",
    layout_file=CtgmqFile,
    guarantees=controller_guarantees,
    replicated=REPLICATED,
    servers=controller_servers,
    processes=SWITCHED_SERVERS,
    misbehaves=OF_REPLICAS,
    containers=server_containers(ctgmq_configuration, controller_parts),
    foreground=Foreground("ctgmq", switched_group_to_play_with),
)
