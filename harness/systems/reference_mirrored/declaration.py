"""The reference of RabbitMQ's mirrored queues: what it promises is what they do."""

import math
import sys
from dataclasses import replace
from typing import Annotated

import typer

from harness.plan.misbehave import DRAWN
from harness.plan.model import Layout
from harness.plan.problems import PlanError, Problem
from harness.systems.containers import Containers, Image, installed, worker_image
from harness.systems.files import copy_reference_sources, shipped
from harness.systems.port import Demo, Foreground
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq_mirrored.foreign import MIRRORED_FOREIGN
from harness.systems.rabbitmq_mirrored.layouts import (
    REPLICATED,
    MirroredLayoutFile,
    mirrored_guarantees,
)
from harness.systems.reference_mirrored.node import NODES, REFERENCE_ALARMS
from harness.systems.reference_mirrored.parts import reference_parts
from harness.systems.reference_mirrored.processes import ReferenceNodes


def reference_image(_: Layout | None = None) -> Image:
    """Our own files, with no version but their hash, and packages as they are installed here."""
    return Image(
        "mqproof/reference",
        "mirrored",
        shipped("reference-mirrored"),
        "MQPROOF_REFERENCE_IMAGE",
        installed("h11", "msgspec", "pcre2", "tenacity"),
        sources=copy_reference_sources,
    )


REFERENCE_CONTAINERS = Containers(
    image=reference_image,
    worker_image=worker_image,
    services=NODES,
    jars=(),
    parts=reference_parts,
    alarms=REFERENCE_ALARMS,
    users_image=None,
    distribution=None,
)


def nodes_to_play_with(
    nodes: Annotated[int, typer.Option(min=1, max=9, help="How many.")] = 3,
    port: Annotated[
        int, typer.Option(min=1, max=45000, help="Of the first node; the next ones follow.")
    ] = 5672,
    net_ticktime: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds until a silent peer is given up.")
    ] = 60.0,
    pause_minority: Annotated[
        bool, typer.Option("--pause-minority", help="Nodes in a minority stop serving.")
    ] = False,
) -> tuple[str, ...]:
    """Run mirrored queues as in RabbitMQ 3.10, on 127.0.0.1, until Ctrl-C or SIGTERM."""
    if math.isnan(net_ticktime):
        raise PlanError([Problem("--net-ticktime", "must be a number of seconds")])
    words = ["--nodes", str(nodes), "--port", str(port), "--net-ticktime", str(net_ticktime)]
    words += ["--partition-handling", "pause_minority" if pause_minority else "ignore"]
    return (sys.executable, "-m", "reference_impl", "mirrored", *words)


REFERENCE_MIRRORED = rabbitmq_declaration(
    "reference-mirrored",
    layout_file=MirroredLayoutFile,
    guarantees=mirrored_guarantees,
    replicated=REPLICATED,
    processes=ReferenceNodes(),
    misbehaves=(*DRAWN, "stale-guard"),
    containers=REFERENCE_CONTAINERS,
    foreground=Foreground("mirrored", nodes_to_play_with),
    demo=Demo(
        deployment="local",
        keeps="all-automatic@T=10",
        breaks="exactly-2-manual@T=10",
        real="rabbitmq-mirrored",
    ),
    foreign=replace(MIRRORED_FOREIGN, example=None),  # the first file is one of RabbitMQ's
)
