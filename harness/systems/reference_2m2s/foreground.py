"""The reference's servers to play with, as one program."""

import sys
from enum import StrEnum
from typing import Annotated

import typer


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
