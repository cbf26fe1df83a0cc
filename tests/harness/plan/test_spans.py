"""Lengths of time: what people write, and what it comes to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plan.files import spans
from harness.plan.files.spans import Duration


@pytest.mark.parametrize(
    ("words", "span"),
    [
        ("10 s", Duration(10)),
        ("10s", Duration(10)),
        ("250 ms", Duration(0.25)),
        ("2 min", Duration(120)),
        ("1.5 T", Duration(0, 1.5)),
        ("1.5 T, at least 15 s", Duration(15, 1.5)),
        ("0 s", Duration(0)),
    ],
)
def test_reads_what_people_write(words: str, span: Duration) -> None:
    assert spans.parse(words) == span


@pytest.mark.parametrize(
    "words", ["10", "s", "-1 s", "1.5 t", "15 s, at least 1 T", "1 h", 10, None]
)
def test_refuses_a_missing_or_unknown_unit(words: object) -> None:
    with pytest.raises(ValueError, match=r"length of time"):
        spans.parse(words)


def test_a_span_in_timers_is_at_least_its_seconds() -> None:
    span = spans.parse("1.5 T, at least 15 s")
    assert [span.resolve_s(detection_timeout_s) for detection_timeout_s in (1, 10, 60)] == [
        15,
        15,
        90,
    ]


def test_a_fixed_length_may_not_depend_on_the_timer() -> None:
    assert spans.parse_seconds("250 ms") == 0.25
    with pytest.raises(ValueError, match="layout timers"):
        spans.parse_seconds("1 T")


@given(
    seconds=st.integers(0, 10_000_000).map(lambda ms: ms / 1000),
    timers=st.integers(0, 1000).map(lambda tenths: tenths / 10),
)
def test_text_and_parse_undo_each_other(seconds: float, timers: float) -> None:
    span = Duration(seconds, timers)
    assert spans.parse(spans.text(span)) == span
