"""A bearer of `slow` needs a slow test, and a repetition that passed is reported."""

import socket
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.rigs.suite.promises import Bearers, Starts, Watch
from tests.rigs.suite.tiers import PROPERTY as TIER
from tests.rigs.suite.tiers import Tiers

STARTS = Starts()


class SlowTest:
    """A test of a module that is marked slow; `fixtures` are those that it uses."""

    def __init__(self, *fixtures: object) -> None:
        by_name = {str(number): [each] for number, each in enumerate(fixtures)}
        self._fixtureinfo = SimpleNamespace(name2fixturedefs=by_name)
        self.nodeid = "tests/x.py"
        self.user_properties: list[tuple[str, Any]] = []

    def iter_markers_with_node(self, name: str) -> list[tuple[Any, None]]:
        return [(self, None)] if name == "slow" else []

    def get_closest_marker(self, name: str) -> bool | None:
        return True if name == "slow" else None


def play(watch: Watch, test: Any, work: Callable[[], object]) -> None:
    watch.pytest_runtest_setup(test)
    work()
    finish(watch.pytest_runtest_teardown(test))


def finish(hook: Any) -> None:
    """Run the second half of a hook wrapper."""
    next(hook)
    with pytest.raises(StopIteration):
        hook.send(None)


def judged(*tests: Any, outcome: str = "passed") -> list[str]:
    bearers = Bearers()
    for test in tests:
        report: Any = SimpleNamespace(
            nodeid="tests/x.py::test_x[1]@tests/x.py",
            passed=outcome == "passed",
            when="teardown",
            user_properties=test.user_properties,
        )
        bearers.pytest_runtest_logreport(report)
    return bearers.without_reason()


def nothing() -> None:
    """A test that is pure."""


def listen() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))


def start_a_thread() -> None:
    thread = threading.Thread(target=nothing)
    thread.start()
    thread.join()


def test_a_pure_module_that_is_marked_slow_is_named() -> None:
    test = SlowTest()
    play(Watch(STARTS), test, nothing)
    assert judged(test) == ["tests/x.py"]


@pytest.mark.parametrize("work", [listen, start_a_thread])
def test_one_test_that_starts_something_makes_its_module_slow(work: Callable[[], None]) -> None:
    pure, starting = SlowTest(), SlowTest()
    for test, done in ((pure, nothing), (starting, work)):
        play(Watch(STARTS), test, done)
    assert judged(pure, starting) == []


def test_a_fixture_that_another_test_set_up_counts() -> None:
    watch, fixture = Watch(STARTS), object()
    setting_up: Any = watch.pytest_fixture_setup(fixture)
    next(setting_up)
    listen()
    with pytest.raises(StopIteration):
        setting_up.send(None)
    with_it, without = SlowTest(fixture), SlowTest(object())
    play(watch, with_it, nothing)
    play(watch, without, nothing)
    assert (judged(with_it), judged(without)) == ([], ["tests/x.py"])


def test_a_module_with_a_skipped_test_is_not_judged() -> None:
    test = SlowTest()
    play(Watch(STARTS), test, nothing)
    assert judged(test, outcome="skipped") == []


def test_partly_deselected_module_is_not_judged() -> None:
    watch, test = Watch(STARTS), SlowTest()
    watch.pytest_deselected([test])  # type: ignore[list-item]
    play(watch, test, nothing)
    assert judged(test) == []


def report(nodeid: str, outcome: str, message: str = "") -> Any:
    return SimpleNamespace(
        nodeid=nodeid,
        outcome=outcome,
        passed=outcome == "passed",
        skipped=False,
        when="call",
        duration=1.0,
        user_properties=[(TIER, "docker")],
        longrepr=SimpleNamespace(reprcrash=SimpleNamespace(message=message)),
        longreprtext=message,
        sections=[],
    )


def test_only_tests_that_passed_on_repetition_are_listed() -> None:
    tiers = Tiers()
    for each in (
        report("a", "rerun", "AssertionError: rmq1 crashed\nassert 1 == 2"),
        report("a", "passed"),
        report("b", "rerun", "AssertionError: lost"),
        report("b", "failed", "AssertionError: lost"),
        report("c", "passed"),
    ):
        tiers.pytest_runtest_logreport(each)
    assert [*tiers.repeated()] == ["a: AssertionError: rmq1 crashed"]
