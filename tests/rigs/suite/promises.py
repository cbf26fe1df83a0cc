"""Check what the marker `slow` promises, in both directions.

1. A test without it starts no process: it fails at once if it tries.
2. Who bears it, a function or a module, has a test that starts a process or a thread, opens a
   connection, uses a fixture that did so, or takes LONG_S. Otherwise the session fails: such tests
   belong to the unit tests.
3. The check in rule 2 needs all tests of the bearer: it does not apply if one was skipped, failed
   or left out. Tests that are `engine` by their own marker compute, so it does not apply to them.
"""

import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

LONG_S = 0.1
STARTS = frozenset(
    (
        *("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"),
        *("socket.bind", "socket.connect"),
    )
)
PROPERTY = "bears slow"
ELSEWHERE = ("docker", "nightly")  # tiers that a run leaves out as a whole


class Starts:
    """Counts what this process starts, in whatever thread. The hooks stay until it ends."""

    def __init__(self) -> None:
        self.count = 0
        sys.addaudithook(self._hook)
        self._start_thread = threading.Thread.start
        threading.Thread.start = self._counted()  # type: ignore[method-assign]

    def _hook(self, event: str, _: tuple[Any, ...]) -> None:
        if event in STARTS:
            self.count += 1

    def _counted(self) -> Callable[[threading.Thread], None]:
        """Return a start of threads that counts: Python 3.11 raises no audit event for it."""

        def start(thread: threading.Thread) -> None:
            self.count += 1
            self._start_thread(thread)

        return start


def bearer(item: pytest.Item) -> str:
    """Return the name of the function or module that bears the marker `slow`; "" if none does."""
    for node, _ in item.iter_markers_with_node("slow"):
        return node.nodeid.partition("[")[0].partition("@")[0]
    return ""


class Watch:
    """Watches the tests of one process, and attaches to each slow one what it did."""

    def __init__(self, starts: Starts) -> None:
        self._starts = starts
        self._fixtures: set[int] = set()  # those that started something
        self._left_out: set[str] = set()
        self._begun = (0, 0.0)

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        for item in items:
            if not any(item.get_closest_marker(name) for name in ELSEWHERE):
                self._left_out.add(bearer(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        begun = self._now()
        try:
            return (yield)
        finally:
            if self._is_slow(begun):
                self._fixtures.add(id(fixturedef))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._begun = self._now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        try:
            return (yield)
        finally:
            name = bearer(item)
            if name and name not in self._left_out and not is_engine(item):
                slow = self._is_slow(self._begun) or self._stands_on_a_slow_fixture(item)
                item.user_properties.append((PROPERTY, (name, slow)))

    def _now(self) -> tuple[int, float]:
        return self._starts.count, time.monotonic()

    def _is_slow(self, begun: tuple[int, float]) -> bool:
        count, at_s = begun
        return self._starts.count > count or time.monotonic() - at_s >= LONG_S

    def _stands_on_a_slow_fixture(self, item: pytest.Item) -> bool:
        by_name = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009 - private to mypy
        return any(id(each) in self._fixtures for found in by_name.values() for each in found)


def is_engine(item: pytest.Item) -> bool:
    return item.get_closest_marker("engine") is not None


class Bearers:
    """Collects, where reports arrive, which bearers of `slow` had no slow test."""

    def __init__(self) -> None:
        self._slow: dict[str, bool] = defaultdict(bool)
        self._unknown: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            file, _, function = report.nodeid.partition("[")[0].partition("@")[0].partition("::")
            self._unknown |= {file, f"{file}::{function}"}
        if report.when == "teardown":
            for key, value in report.user_properties:
                if key == PROPERTY:
                    assert isinstance(value, tuple | list), value
                    name, slow = value
                    self._slow[name] |= slow

    def without_reason(self) -> list[str]:
        known = set(self._slow) - self._unknown
        return sorted(name for name in known if not self._slow[name])


@contextmanager
def refusing(item: pytest.Item) -> Iterator[None]:
    """Refuse processes while a test runs that is not marked slow."""

    def refuse(process: Any, words: object, *rest: Any, **options: Any) -> None:
        pytest.fail(f"{item.nodeid} starts a process, so mark it slow: {words}")

    with pytest.MonkeyPatch.context() as patched:
        if not any(item.get_closest_marker(name) for name in ("slow", *ELSEWHERE)):
            patched.setattr(subprocess.Popen, "__init__", refuse)
        yield
