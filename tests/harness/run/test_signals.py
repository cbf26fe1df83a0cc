"""Signals: which are handled, and which handlers are restored."""

import os
import signal
from collections.abc import Iterator

import pytest

from harness.run import signals

ALIKE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in ALIKE}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ALIKE)
def test_each_signal_is_handled_and_the_former_handler_restored(number: signal.Signals) -> None:
    heard: list[str] = []
    signal.signal(number, lambda *_: heard.append("outer"))
    with signals.handled(lambda: heard.append("inner")):
        os.kill(os.getpid(), number)
    os.kill(os.getpid(), number)
    assert heard == ["inner", "outer"]


@pytest.mark.parametrize("number", ALIKE)
def test_without_faults_every_signal_acts_as_ctrl_c(number: signal.Signals) -> None:
    with signals.handled(signals.end), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


def test_a_hangup_that_was_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    heard: list[str] = []
    with signals.handled(lambda: heard.append("it")):
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
    assert heard == ["it"]
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_when_the_end_is_under_way_none_changes_anything() -> None:
    with signals.handled(signals.end):
        signals.silence()
        for number in ALIKE:
            os.kill(os.getpid(), number)


def test_handlers_that_a_library_replaced_are_restored() -> None:
    with signals.handled(signals.end):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signals.ending()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_silenced_default_signal_gets_no_handler() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signals.ending()
    signals.silence()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
