"""A group of the reference to play with, as one program."""

import sys
from typing import Annotated

import typer


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
