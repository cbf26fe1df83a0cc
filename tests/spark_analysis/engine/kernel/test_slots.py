import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.slots import make_slots

PRODUCERS = st.sampled_from([0, 1, 5, 2**31 - 1])
DENSE = st.integers(0, 20)
SPARSE = st.sampled_from([0, 1, 7, 10**12, 2**63 - 1])


@given(
    st.one_of([st.lists(st.tuples(PRODUCERS, each)) for each in (DENSE, SPARSE)]),
    st.lists(st.tuples(PRODUCERS, SPARSE)),
)
def test_each_message_has_its_own_slot_and_nothing_else_has(
    messages: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    producer, sequence = columns(messages)
    slots = make_slots(producer, sequence)
    found = slots.find(producer, sequence)
    assert (found >= 0).all()
    assert slots.taken[found].all()
    assert np.count_nonzero(slots.taken) == len(set(messages))
    named = zip(*(column.tolist() for column in slots.identities(found)), strict=True)
    assert list(named) == messages
    for other, slot in zip(others, slots.find(*columns(others)).tolist(), strict=True):
        assert (slot >= 0) == (other in messages)


@given(st.lists(st.tuples(PRODUCERS, DENSE | SPARSE), min_size=1))
def test_slots_sort_as_producer_and_sequence_do(messages: list[tuple[int, int]]) -> None:
    slots = make_slots(*columns(messages))
    ordered = slots.find(*columns(sorted(set(messages))))
    assert (np.diff(ordered) > 0).all()


def test_without_publishes_no_message_has_a_slot() -> None:
    slots = make_slots(*columns([]))
    assert slots.find(*columns([(0, 0), (1, 5)])).tolist() == [-1, -1]


def test_the_neighbours_of_a_producers_messages_are_no_messages() -> None:
    slots = make_slots(*columns([(0, 5), (1, 5), (1, 7), (2, 5)]))
    neighbours = [(1, 4), (1, 6), (1, 8), (0, 4), (2, 6), (3, 5)]
    assert slots.find(*columns(neighbours)).tolist() == [-1] * len(neighbours)


def columns(messages: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    producer = np.array([producer for producer, _ in messages], np.int32)
    return producer, np.array([sequence for _, sequence in messages], np.int64)
