"""Spark started before it is wanted: whose session it is then, and what becomes of it."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from harness.analyse import sessions
from harness.analyse.sessions import Ahead
from spark_analysis.engine.failing import SparkFailed
from spark_analysis.schema.place import HERE, Place

LIMIT_S = 10.0


class Session:
    """What stands in for Spark's."""

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True


class Starts:
    """Every session that was started, and the places that were asked for."""

    def __init__(self) -> None:
        self.made: list[Session] = []
        self.places: list[Place] = []
        self.warmed: list[Session] = []
        self.failure: Exception | None = None
        self.may = threading.Event()
        self.may.set()

    def session(self, where: Place) -> Session:
        self.places.append(where)
        assert self.may.wait(LIMIT_S)
        if self.failure is not None:
            raise self.failure
        self.made.append(Session(threading.get_ident()))
        return self.made[-1]


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    found = Starts()
    monkeypatch.setattr(sessions, "session", found.session)
    monkeypatch.setattr(sessions, "warm", found.warmed.append)
    return found


def session_of(of: Ahead) -> Any:
    return of.session()


def test_begun_caller_gets_the_session_started_in_advance(starts: Starts) -> None:
    of = Ahead(Place("local[1]"))
    of.begin()
    of.begin()
    found = session_of(of)
    assert [found] == starts.made == starts.warmed
    assert found.thread != threading.get_ident()
    assert starts.places == [Place("local[1]")]
    of.end()
    assert not found.stopped  # it is the asker's


def test_begin_does_not_wait(starts: Starts) -> None:
    starts.may.clear()
    of = Ahead()
    of.begin()
    assert starts.made == []
    starts.may.set()
    assert session_of(of) is starts.made[0]
    of.end()


def test_caller_without_a_begin_starts_the_session_itself(starts: Starts) -> None:
    of = Ahead()
    assert session_of(of).thread == threading.get_ident()
    assert (starts.places, starts.warmed) == ([HERE], [])
    of.end()


def test_a_failed_start_is_reported_to_its_caller_only(starts: Starts) -> None:
    starts.failure = SparkFailed("no Java")
    of = Ahead()
    of.begin()
    with pytest.raises(SparkFailed, match="no Java"):
        of.session()
    of.begin()
    of.end()


def test_session_stops_if_interrupted_while_it_is_awaited(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    of = Ahead()
    of.begin()
    monkeypatch.setattr(of._begun, "exception", interrupted)
    with pytest.raises(KeyboardInterrupt):
        of.session()
    of.end()
    assert [one.stopped for one in starts.made] == [True]


@pytest.mark.parametrize("wanted", [Ahead.begin, Ahead.end])
def test_an_unused_session_is_stopped(starts: Starts, wanted: Callable[[Ahead], None]) -> None:
    of = Ahead()
    wanted(of)
    of.end()
    assert [one.stopped for one in starts.made] == [True] * len(starts.made)
