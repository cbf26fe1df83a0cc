"""The capacity of consumers, compared with asking each consumer about each time."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.times.withheld import ALL, ConsumerCapacity, _full

HELD = st.lists(
    st.tuples(
        st.integers(1, 3),  # consumer
        st.integers(0, 1),  # queue
        st.integers(0, 30),  # received
        st.integers(0, 12),  # held for so long
    ),
    min_size=1,
    max_size=25,
)


def capacity(held: list[tuple[int, int, int, int]]) -> ConsumerCapacity:
    """Return the capacity of consumers that held these deliveries."""
    columns = np.array(sorted(held, key=lambda row: row[2]), np.int64).T
    consumer, queue, received_ns, held_ns = columns
    deliveries: Any = SimpleNamespace(consumer=consumer, queue=queue, received_ns=received_ns)
    nothing = cast(Any, None)
    made = ConsumerCapacity(nothing, deliveries, cast(Any, SimpleNamespace(polls=False)), nothing)
    full = {}
    for number in np.unique(consumer).tolist():
        for of in (ALL, *np.unique(queue[consumer == number]).tolist()):
            own = (consumer == number) & ((queue == of) | (of == ALL))
            full[number, of] = _full(received_ns[own], (received_ns + held_ns)[own])
    made.__dict__["_full"] = full
    return made


def had(made: ConsumerCapacity, number: int, queue: int, from_ns: int, until_ns: int) -> bool:
    """Return the same of one consumer and time, by the definition."""
    full_ns = [
        int(np.diff(made._full[number, of].until(np.array([from_ns, until_ns])))[0])
        for of in (ALL, queue)
        if (number, of) in made._full
    ]
    return max(full_ns, default=0) * 2 <= until_ns - from_ns


@given(HELD, st.integers(0, 1), st.lists(st.integers(-5, 44), min_size=1, max_size=20))
def test_any_consumer_of_a_queue_is_enough_for_what_the_drain_got(
    held: list[tuple[int, int, int, int]], queue: int, begins: list[int]
) -> None:
    made, end_ns = capacity(held), 45
    readers = {number for number, of, _, _ in held if of == queue}
    from_ns, until_ns = np.array(begins), np.full(len(begins), end_ns)
    found = made.had(queue, np.full(len(begins), -1), from_ns, until_ns)
    assert found.tolist() == [
        any(had(made, number, queue, begin, end_ns) for number in readers) for begin in begins
    ]


@given(HELD, st.lists(st.tuples(st.integers(0, 4), st.integers(-5, 44), st.integers(1, 30))))
def test_a_message_that_a_consumer_got_needs_its_capacity(
    held: list[tuple[int, int, int, int]], waits: list[tuple[int, int, int]]
) -> None:
    made = capacity(held)
    consumer, from_ns, long_ns = np.array(waits, np.int64).reshape(-1, 3).T
    found = made.had(0, consumer, from_ns, from_ns + long_ns)
    assert found.tolist() == [
        had(made, number, 0, begin, begin + long) for number, begin, long in waits
    ]


@pytest.mark.parametrize("consumers", [1, 400])
def test_a_consumer_is_looked_at_once_however_many_wait(
    consumers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = capacity([(number, 0, number, 60) for number in range(1, consumers + 1)])
    looks: list[int] = []
    limits = ConsumerCapacity._limits

    def counted(of: ConsumerCapacity, number: int, queue: int) -> Any:
        looks.append(number)
        return limits(of, number, queue)

    monkeypatch.setattr(ConsumerCapacity, "_limits", counted)
    begins = np.arange(1_000)
    made.had(0, np.full(1_000, -1), begins, np.full(1_000, 2_000))
    made.had(0, begins % consumers + 1, begins, begins + 7)
    assert sorted(looks) == sorted([*range(1, consumers + 1)] * 2)
