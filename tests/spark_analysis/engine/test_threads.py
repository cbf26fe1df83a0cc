"""Threads share work: each job is done once, in an order without deadlock."""

import gc
import weakref
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from spark_analysis.engine.threads import Threads


@pytest.fixture(params=[1, 2, 5], ids=["one hand", "two hands", "five hands"])
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    with Threads(request.param) as some:
        yield some


def test_work_is_done_once_however_often_it_is_requested(threads: Threads) -> None:
    done = []
    made = threads.give(lambda: done.append("work") or len(done))  # type: ignore[func-returns-value]
    assert [made() for _ in range(3)] == [1, 1, 1]


def test_work_may_ask_for_what_was_given_before(threads: Threads) -> None:
    made: list[Callable[[], int]] = [threads.give(lambda: 1)]
    for _ in range(50):
        made.append(threads.give(lambda before=made[-1]: before() + 1))  # type: ignore[misc]
    assert made[-1]() == 51


def test_a_failure_reaches_every_caller(threads: Threads) -> None:
    nothing: list[int] = []
    failing = threads.give(lambda: nothing[1])
    waiting = threads.give(lambda: failing())
    for uses in (failing, waiting, failing):
        with pytest.raises(IndexError):
            uses()


def test_one_thread_does_nothing_before_a_request() -> None:
    done = []
    with Threads(1) as one:
        one.give(lambda: done.append("work"))
    assert done == []


def test_two_threads_work_at_the_same_time() -> None:
    first, second = Event(), Event()

    def meets(own: Event, other: Event) -> bool:
        own.set()
        return other.wait(10)

    with Threads(2) as two:
        met = [two.give(lambda: meets(first, second)), two.give(lambda: meets(second, first))]
        assert [each() for each in met] == [True, True]


class Large:
    """What it is worth to forget."""


def test_a_large_value_is_freed_after_its_last_use(threads: Threads) -> None:
    made = threads.give(Large, uses=2)
    first = weakref.ref(made())
    assert first() is not None
    assert made() is not None
    gc.collect()
    assert first() is None


def test_an_unannounced_request_computes_its_own_value(threads: Threads) -> None:
    done: list[int] = []

    def work() -> int:
        done.append(1)
        return len(done)

    made = threads.give(work, uses=1)
    assert [made(), made()] == [1, 2]
