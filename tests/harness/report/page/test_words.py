"""Numbers and times as people read them."""

import pytest

from harness.analyse.detail import GRAVITY
from harness.analyse.summary import Number
from harness.report.page import words
from spark_analysis.schema.comparison import MEASURES


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0.0, "0.00 s"),
        (0.0021, "0.002 s"),
        (0.0994, "0.099 s"),
        (0.0996, "0.10 s"),
        (0.171, "0.17 s"),
        (9.994, "9.99 s"),
        (9.996, "10.0 s"),
        (66.429, "66.4 s"),
        (119.94, "119.9 s"),
        (119.96, "2 min 00 s"),
        (200.4, "3 min 20 s"),
    ],
)
def test_seconds_have_as_many_digits_as_they_mean(number: float, said: str) -> None:
    assert words.seconds(number).replace("\u00a0", " ") == said


def test_a_number_that_may_be_larger_says_so() -> None:
    assert words.bound(Number(1234, True)) == "1,234"
    assert words.bound(Number(3, False, "a log is open")) == "≥ 3"
    assert words.bound(Number(None, False, "nothing was sent")) == "unknown"


def test_one_of_something_is_no_plural() -> None:
    assert words.plural(1, "run") == "1 run"
    assert words.plural(0, "run") == "0 runs"
    assert words.of(1, 2, "run") == "1 of 2 runs"


def test_a_measure_without_a_name_of_its_own_is_called_by_its_word() -> None:
    assert words.measure_name("some_new_count") == "some new count"


def test_every_measure_that_is_compared_or_told_of_messages_has_a_name() -> None:
    assert {measure.measure for measure in MEASURES} <= words.MEASURES.keys()
    assert set(GRAVITY) <= words.MEASURES.keys()
