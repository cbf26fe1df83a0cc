"""What a display shows of the counts of a run."""

from harness.report.display import live_view
from harness.run.core.strip import Strip
from harness.run.core.view import LiveCounts, PerSecond

RATES = PerSecond(300.0, 299.0, 0.0)


def view(phase: str, strip: Strip | None = None) -> LiveCounts:
    return LiveCounts(phase, 600, 590, 0, 7, 0, 10, (), 40.0, RATES, strip=strip)


def test_rates_and_late_messages_are_those_of_the_run() -> None:
    live = live_view("run-1", "2 of 3", view("windows", Strip(0, (), 0)))
    assert (live.run, live.place, live.rates, live.late) == ("run-1", "2 of 3", RATES, 7)
    assert live.outstanding == 10


def test_after_the_load_there_is_no_rate() -> None:
    assert live_view("run-1", "", view("settle")).rates == RATES
    assert live_view("run-1", "", view("drain")).rates is None


def test_without_consumers_no_rate_of_deliveries_is_shown() -> None:
    assert live_view("run-1", "", view("windows")).deliveries == "delivered 0/s"
    alone = live_view("run-1", "", view("windows"), has_consumers=False)
    assert alone.deliveries == "no consumers"


def test_without_deadlines_nothing_is_late() -> None:
    assert live_view("run-1", "", view("windows")).late is None
