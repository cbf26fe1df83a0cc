"""The reference's nodes to play with, as one program."""

import math
import sys
from typing import Annotated

import typer

from harness.plan.problems import PlanError, Problem


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
