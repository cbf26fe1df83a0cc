"""Rates out of counts."""

from harness.report.display import Rates
from harness.run.view import LiveCounts


def view(sent: int, confirmed: int) -> LiveCounts:
    return LiveCounts("baseline", sent, confirmed, 0, 0, confirmed, sent - confirmed, (), 40.0)


def test_the_first_look_has_no_rate() -> None:
    first = Rates("run-1").view(5.0, view(10, 10))
    assert (first.sent_per_s, first.success_ratio) == (0.0, None)


def test_rates_are_those_of_the_last_second() -> None:
    rates = Rates("run-1")
    for look in range(9):
        live = rates.view(look * 0.5, view(150 * look, 150 * look if look < 5 else 600))
    assert (live.sent_per_s, live.confirmed_per_s, live.success_ratio) == (300.0, 0.0, 0.0)
    assert live.outstanding == 600
    assert live.run == "run-1"


def test_confirms_of_older_sends_are_not_more_than_all() -> None:
    rates = Rates("run-1")
    rates.view(0.0, view(600, 0))
    assert rates.view(1.0, view(700, 600)).success_ratio == 1.0
