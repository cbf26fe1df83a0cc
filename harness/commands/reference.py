"""`mqproof reference`: a cluster to play with, of every system that declares one.

1. Systems are asked when somebody wants one: no other command loads what other packages offer.
2. The cluster ends with this process, whatever ends it: Ctrl-C, a signal, or kill -9.
3. This process ends with its parent (a shell, a test run), so that a killed one leaves no cluster
   behind. `nohup` lets it outlive its parent, as it does for SIGHUP.
"""

import ctypes
import os
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import wraps
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from harness.commands.bounds import Once
from harness.run import signals
from harness.systems.port import Foreground
from harness.systems.registry import registry

_LIBC = ctypes.CDLL(None)  # loaded before the fork: nothing may be loaded between it and exec
_PR_SET_PDEATHSIG = 1


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
        us = os.getpid()
        parent = _parent()
        process = subprocess.Popen(command(**chosen), preexec_fn=lambda: _end_with(us))
        try:
            if _ends_first(parent, process):
                process.terminate()
            return process.wait()
        except KeyboardInterrupt:
            signals.silence()
            process.terminate()  # a signal that came to us alone has not reached it
            return process.wait()

    return show


def _parent() -> int | None:
    """Return our parent's pid, or None if we are to outlive it: `nohup` ignores SIGHUP."""
    return None if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else os.getppid()


def _ends_first(parent: int | None, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until the process or our parent ends; return whether it was our parent."""
    with ExitStack() as opened:
        ends = [os.pidfd_open(process.pid)]
        opened.callback(os.close, ends[0])
        if parent:  # 0: in another pid namespace, where it is not visible
            with suppress(ProcessLookupError):  # it has ended, as the next check sees
                ends.append(os.pidfd_open(parent))
                opened.callback(os.close, ends[1])
            if os.getppid() != parent:
                return True
        ended, _, _ = select.select(ends, [], [])
    return ends[0] not in ended


def _end_with(parent: int) -> None:
    """Have the kernel send SIGTERM to this process when its parent ends, even by kill -9."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it has ended already
        os.kill(os.getpid(), signal.SIGTERM)
