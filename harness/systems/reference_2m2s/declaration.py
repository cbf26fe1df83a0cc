"""The reference of RocketMQ's masters and slaves: what it promises is what they do."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from harness.plan.misbehave import OF_LOGS
from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, installed
from harness.systems.files import copy_reference_sources, shipped
from harness.systems.port import Foreground
from harness.systems.reference_2m2s.layout import ReferenceLayoutFile, reference_configuration
from harness.systems.reference_2m2s.processes import ReferenceServers
from harness.systems.rocketmq.containers import rocketmq_worker_image
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_2m2s.declaration import REFERENCE_FOREIGN
from harness.systems.rocketmq_2m2s.layout import (
    REPLICATED,
    master_slave_guarantees,
    master_slave_servers,
)
from harness.systems.rocketmq_2m2s.parts import master_slave_parts


def reference_image(_: Layout | None = None) -> Image:
    """Our own files, with no version but their hash, and packages as they are installed here."""
    return Image(
        "mqproof/reference",
        "2m2s",
        shipped("reference-2m2s"),
        "MQPROOF_REFERENCE_2M2S_IMAGE",
        installed("h11", "msgspec", "pcre2", "tenacity"),
        sources=copy_reference_sources,
    )


REFERENCE_CONTAINERS = Containers(
    image=reference_image,
    worker_image=rocketmq_worker_image,
    services=services(reference_configuration),
    jars=(),
    parts=master_slave_parts,
    alarms=None,
    users_image=None,
    distribution=None,
)


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
    containers=REFERENCE_CONTAINERS,
    foreground=Foreground("2m2s", servers_to_play_with),
    foreign=REFERENCE_FOREIGN,
)
