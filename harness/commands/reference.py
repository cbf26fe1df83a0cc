"""`mqproof reference`: a cluster to play with, of every system that declares one.

1. Systems are asked when somebody wants one: no other command loads what other packages offer.
"""

import signal
import subprocess
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from harness.commands.bounds import Once
from harness.systems.port import Foreground
from harness.systems.registry import registry


class _Played(TyperGroup):
    """The systems' commands, by their words."""

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(_played())

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        own = _played().get(cmd_name)
        return None if own is None else _command(own)


app = typer.Typer(cls=_Played, help="Run a reference cluster to play with.", no_args_is_help=True)


def _played() -> dict[str, Foreground]:
    """Of two that bear one word the first counts, and ours are the first."""
    found: dict[str, Foreground] = {}
    for own in registry().systems.values():
        if own.foreground is not None:
            found.setdefault(own.foreground.word, own.foreground)
    return found


def _command(own: Foreground) -> Any:
    alone = typer.Typer(add_completion=False)
    alone.command(own.word, cls=Once)(_until_it_ends(own.command))
    return get_command(alone)


def _until_it_ends(command: Callable[..., tuple[str, ...]]) -> Callable[..., int]:
    @wraps(command)  # typer reads the options there
    def show(**chosen: Any) -> int:
        process = subprocess.Popen(command(**chosen))
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return process.wait()
        except KeyboardInterrupt:
            return process.wait()  # it was interrupted as well, and stops its nodes

    return show
