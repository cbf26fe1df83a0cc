"""Redelivery after acknowledgement counts intervals; here it is looked up pair by pair.

1. So is which windows lie between two copies: the kernel asks only for the earliest of them.
"""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.arrays import NANOSECONDS
from spark_analysis.engine.kernel.events.acknowledged import ended_ns
from spark_analysis.engine.kernel.events.windows import earliest_origins
from spark_analysis.engine.kernel.fates.duplicates import (
    Copies,
    after_acknowledgement,
)
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    ClientEvents,
    Deliveries,
    Text,
)
from spark_analysis.schema.facts import Window
from tests.rigs.histories.by_hand import History

SMALL = st.integers(0, 3)
TIMES = st.integers(0, 6).map(lambda half: half * NANOSECONDS // 2)
COPIES = st.lists(st.tuples(SMALL, TIMES, SMALL, SMALL, st.integers(0, 9)), max_size=12)
ACKNOWLEDGEMENTS = st.lists(st.tuples(SMALL, SMALL, st.integers(0, 9), SMALL, TIMES), max_size=6)
EVENTS = st.lists(st.tuples(SMALL, SMALL, TIMES, st.sampled_from(["lost", "closed", "blocked"])))
WINDOWS = st.lists(st.tuples(TIMES, st.none() | TIMES), max_size=3)


@given(COPIES, ACKNOWLEDGEMENTS, EVENTS, WINDOWS)
def test_duplicates_agree_with_comparing_every_pair(
    copies: list[tuple[int, int, int, int, int]],
    acknowledgements: list[tuple[int, int, int, int, int]],
    events: list[tuple[int, int, int, str]],
    windows: list[tuple[int, int | None]],
) -> None:
    copies = sorted(copies)
    if not copies:
        return
    facts, _ = History().build()
    rows = as_copies(copies, windows)
    ends_ns = ended_ns(rows.rows, as_events(events))
    found, _, _ = after_acknowledgement(rows, as_acks(acknowledgements), ends_ns, ends_ns, facts)
    assert found.tolist() == [
        any(
            copies[earlier][0] == copies[late][0]
            and acknowledged(copies[earlier], copies[late][1], acknowledgements, windows, events)
            for earlier in range(late)
        )
        for late in range(len(copies))
    ]


def test_an_acknowledgement_says_nothing_of_the_next_message() -> None:
    """Though that one's copy was the first of all, and the connection never ended."""
    copies = [(0, 0, 1, 1, 1), (0, 3 * NANOSECONDS, 1, 1, 3), (1, 0, 1, 1, 2)]
    acknowledgement = (1, 1, 1, 0, 0)
    facts, _ = History().build()
    rows = as_copies(copies, [])
    ends_ns = ended_ns(rows.rows, as_events([]))
    in_time, at_all, settled = after_acknowledgement(
        rows, as_acks([acknowledgement]), ends_ns, ends_ns, facts
    )
    assert in_time.tolist() == [False, True, False]
    assert at_all.tolist() == [False, True, False]
    assert settled.tolist() == [False, True, False]


def acknowledged(
    copy: tuple[int, int, int, int, int],
    received_ns: int,
    acknowledgements: list[tuple[int, int, int, int, int]],
    windows: list[tuple[int, int | None]],
    events: list[tuple[int, int, int, str]],
) -> bool:
    _, came_ns, consumer, connection, tag = copy
    between = [
        origin_ns
        for origin_ns, over_ns in windows
        if origin_ns < received_ns and (over_ns is None or came_ns <= over_ns)
    ]
    ended = [
        at_ns
        for worker, ending, at_ns, kind in events
        if (worker, ending) == (consumer, connection) and kind != "blocked" and at_ns >= came_ns
    ]
    written = [
        written_ns
        for by, over, first, more, written_ns in acknowledgements
        if (by, over) == (consumer, connection) and first <= tag <= first + more
    ]
    latest_ns = min((received_ns, *between, *ended)) - NANOSECONDS
    return bool(written) and came_ns <= min(written) <= latest_ns


def as_copies(
    copies: list[tuple[int, int, int, int, int]], windows: list[tuple[int, int | None]]
) -> Copies:
    group, received_ns, consumer, connection, tag = map(whole, zip(*copies, strict=True))
    nothing = np.zeros(len(copies), np.uint8)
    rows = Deliveries(
        consumer=consumer.astype(np.int32),
        producer=group,
        sequence=group,
        attempt=group,
        received_ns=received_ns,
        queue=Text(("",), nothing.astype(np.int32)),
        broker=Text(("",), nothing.astype(np.int32)),
        offset=nothing,
        redelivered=nothing,
        header_ok=nothing,
        payload_ok=nothing,
        run_ok=nothing,
        via=nothing,
        connection=connection.astype(np.int32),
        tag=tag,
    )
    fault_ns = earliest_origins(received_ns, as_windows(windows))
    surplus = nothing == 0
    bound_ns = np.zeros(len(copies), np.int64)
    places = np.arange(len(copies))
    return Copies(places, rows, group, surplus, group, received_ns, fault_ns, bound_ns)


def as_windows(windows: list[tuple[int, int | None]]) -> list[Window]:
    history = History()
    for origin_ns, over_ns in windows:
        history.window(origin_ns / 1e6, over_ms=None if over_ns is None else over_ns / 1e6)
    return list(history.facts.windows)


def as_acks(acknowledgements: list[tuple[int, int, int, int, int]]) -> Acknowledgements:
    consumer, connection, first, more, written = columns(acknowledgements, 5)
    return Acknowledgements(
        consumer.astype(np.int32), connection.astype(np.int32), first, first + more, written
    )


def as_events(events: list[tuple[int, int, int, str]]) -> ClientEvents:
    worker, connection, at_ns = columns([event[:3] for event in events], 3)
    kinds = ("lost", "closed", "blocked")
    kind = np.array([kinds.index(event[3]) for event in events], np.int32)
    nothing = Text(("",), np.zeros(len(events), np.int32))
    return ClientEvents(
        worker.astype(np.int32), at_ns, Text(kinds, kind), connection.astype(np.int32), nothing
    )


def columns(rows: Sequence[tuple[int, ...]], width: int) -> list[np.ndarray]:
    return [whole([row[place] for row in rows]) for place in range(width)]


def whole(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int64)
