"""Ctrl-C, SIGTERM and SIGHUP: one wish, whichever of them it was.

1. A SIGHUP that was ignored when mqproof began stays ignored: whoever uses nohup means it.
2. Who has an event loop is called and decides; elsewhere the wish is KeyboardInterrupt, because
   nothing stands that would have to be mended.
3. Where the end is under way already, a further one changes nothing.
4. Handlers are put back as they were found: libraries (Spark) put theirs in place of ours.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

_ALIKE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def heard(hear: Callable[[], object]) -> Iterator[None]:
    """Calls `hear` at each of them, inside the signal's handler; Python allows it the main thread
    alone, so elsewhere nothing is heard."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _chosen()}
    _handle(hear)
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: whoever set it was no Python, and nobody can put it back.
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def end() -> NoReturn:
    """What is heard where nothing has to be mended."""
    raise KeyboardInterrupt


def ending() -> None:
    """Once more `end` in the place of what a library made of it; outside `heard` nothing."""
    _replace(end)


def silence() -> None:
    """The end is under way: until `heard` is left, a further signal changes nothing."""
    _replace(_nothing)


def _nothing() -> None:
    pass


def _replace(hear: Callable[[], object]) -> None:
    heard_at_all = signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    if heard_at_all and threading.current_thread() is threading.main_thread():
        _handle(hear)


def _handle(hear: Callable[[], object]) -> None:
    for number in _chosen():
        signal.signal(number, lambda *_: hear())


def _chosen() -> tuple[signal.Signals, ...]:
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return tuple(one for one in _ALIKE if one is not signal.SIGHUP or not ignored)
