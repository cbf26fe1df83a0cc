"""Ctrl-C, SIGTERM and SIGHUP: each is the same request to end.

1. If SIGHUP was ignored when mqproof began (nohup), it stays ignored.
2. Code with an event loop gets a call and decides. Elsewhere the signal becomes KeyboardInterrupt,
   because there is no running cluster to clean up.
3. If the end is in progress already, another signal changes nothing.
4. The previous handlers are restored: libraries (Spark) replace ours with their own.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

_ALIKE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handled(hear: Callable[[], object]) -> Iterator[None]:
    """Call `hear` at each of these signals, inside the signal's handler.

    Python allows handlers in the main thread alone; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _chosen()}
    _handle(hear)
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: the handler was not set by Python, and cannot be restored.
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def end() -> NoReturn:
    """Raise KeyboardInterrupt: the handler if there is nothing to clean up."""
    raise KeyboardInterrupt


def ending() -> None:
    """Set `end` again in place of a library's handler; outside `handled` do nothing."""
    _replace(end)


def silence() -> None:
    """Ignore further signals until `handled` is left: the end is in progress."""
    _replace(_nothing)


def _nothing() -> None:
    pass


def _replace(hear: Callable[[], object]) -> None:
    is_handled = signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    if is_handled and threading.current_thread() is threading.main_thread():
        _handle(hear)


def _handle(hear: Callable[[], object]) -> None:
    for number in _chosen():
        signal.signal(number, lambda *_: hear())


def _chosen() -> tuple[signal.Signals, ...]:
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return tuple(one for one in _ALIKE if one is not signal.SIGHUP or not ignored)
