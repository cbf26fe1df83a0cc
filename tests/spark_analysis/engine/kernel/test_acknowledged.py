"""Whether a delivery was acknowledged at all, or before it came, and when its connection ended:
here it is looked up pair by pair."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.arrays import NEVER
from spark_analysis.engine.kernel.events import acknowledged
from spark_analysis.engine.kernel.events.acknowledged import any_too_early, covered, ended_ns
from spark_analysis.engine.kernel.records import Acknowledgements, ClientEvents, Deliveries, Text

TAGS = st.integers(-2, 12)
GIVEN = st.lists(st.tuples(st.integers(0, 3), TAGS), max_size=12)
FRAMES = st.lists(st.tuples(st.integers(0, 5), TAGS, TAGS), max_size=6)
CHANNELS, TIMES = st.integers(0, 2), st.integers(0, 6)
CAME = st.lists(st.tuples(CHANNELS, TAGS, TIMES, st.booleans()), max_size=12)
WRITTEN = st.lists(st.tuples(CHANNELS, TAGS, TAGS, TIMES), max_size=6)
ENDS = st.lists(st.tuples(CHANNELS, TIMES, st.sampled_from(["lost", "closed", "blocked"])))


@pytest.mark.parametrize("dense", [True, False])
@given(rows=GIVEN, frames=FRAMES)
def test_acknowledged_tags_agree_with_comparing_every_pair(
    rows: list[tuple[int, int]], frames: list[tuple[int, int, int]], dense: bool
) -> None:
    scale = 1 if dense else 10**12  # too wide to count every tag
    connection, tag = as_columns(rows, 2)
    by, first, last = as_columns(frames, 3)
    found = covered(connection, tag * scale, by, first * scale, last * scale)
    assert found.tolist() == [
        any(each == on and first <= number <= last for each, first, last in frames)
        for on, number in rows
    ]


def test_tags_of_a_damaged_log_may_span_everything() -> None:
    tag = np.array([-(2**62), 2**62])
    on = np.zeros(2, np.int64)
    found = covered(on, tag, on[:1], tag[1:], tag[1:])
    assert found.tolist() == [False, True]
    assert acknowledged._WASTE < 2**62


@pytest.mark.parametrize("scale", [1, 2**58])  # tags of a damaged log may span everything
@given(CAME, WRITTEN)
def test_what_was_acknowledged_too_early_agrees_with_comparing_every_pair(
    scale: int,
    came: list[tuple[int, int, int, bool]],
    written: list[tuple[int, int, int, int]],
) -> None:
    came = [(on, tag * scale, came_ns, wanted) for on, tag, came_ns, wanted in came]
    written = [(on, low * scale, high * scale, at_ns) for on, low, high, at_ns in written]
    by, first, last, at_ns = as_columns(written, 4)
    zeros = np.zeros(len(by), np.int32)
    frames = Acknowledgements(by.astype(np.int32), zeros, first, last, at_ns)
    chosen = np.array([each[3] for each in came], np.bool_)
    assert any_too_early(as_deliveries(came), chosen, frames) == any(
        wanted and each == on and low <= tag <= high and at_ns < received_ns
        for on, tag, received_ns, wanted in came
        for each, low, high, at_ns in written
    )


@given(CAME, ENDS)
def test_the_end_after_each_delivery_agrees_with_comparing_every_pair(
    came: list[tuple[int, int, int, bool]], ends: list[tuple[int, int, str]]
) -> None:
    worker, at_ns = as_columns([end[:2] for end in ends], 2)
    kinds = ("lost", "closed", "blocked")
    kind = np.array([kinds.index(end[2]) for end in ends], np.int32)
    zeros = np.zeros(len(ends), np.int32)
    nothing = Text(("",), zeros)
    events = ClientEvents(worker.astype(np.int32), at_ns, Text(kinds, kind), zeros, nothing)
    assert ended_ns(as_deliveries(came), events).tolist() == [
        min(
            (at for of, at, kind in ends if of == on and kind != "blocked" and at >= received_ns),
            default=NEVER,
        )
        for on, _, received_ns, _ in came
    ]


def as_deliveries(came: list[tuple[int, int, int, bool]]) -> Deliveries:
    """Each has its consumer, tag and time."""
    consumer, tag, received_ns = as_columns([each[:3] for each in came], 3)
    nothing, text = np.zeros(len(came), np.int32), Text(("",), np.zeros(len(came), np.int32))
    values = dict.fromkeys((field.name for field in fields(Deliveries)), nothing)
    own = {"consumer": consumer.astype(np.int32), "tag": tag, "received_ns": received_ns}
    return Deliveries(**{**values, **own, "queue": text, "broker": text})


def as_columns(rows: list[tuple[int, ...]], width: int) -> list[np.ndarray]:
    return [np.array([row[place] for row in rows], np.int64) for place in range(width)]
