"""Rates of a run from what its workers reported: by the time between their own reports."""

from dataclasses import dataclass, replace

from harness.run.core.strip import Strip
from harness.run.core.view import LiveCounts, PerSecond, view_of

S = 1_000_000_000


@dataclass
class Reports:
    earlier: dict[str, int]
    status: dict[str, int]


def report(at_s: float, sent: int = 0, confirmed: int = 0, delivered: int = 0) -> dict[str, int]:
    counts = {"sent": sent, "confirmed": confirmed, "delivered": delivered}
    return {"at_ns": round(at_s * S), **counts}


def rates(
    now_s: float, *workers: Reports, started_s: float | None = 0.0, phase: str = "windows"
) -> PerSecond | None:
    started_ns = None if started_s is None else round(started_s * S)
    return view_of(phase, workers, (), 9.0, round(now_s * S), started_ns).rates


PUBLISHER = Reports(report(2.0, 400, 400), report(3.5, 700, 690))
CONSUMER = Reports(report(2.4, delivered=400), report(3.4, delivered=600))


def test_a_rate_is_divided_by_the_time_between_reports() -> None:
    found = rates(3.6, PUBLISHER)
    assert found is not None
    assert (found.sent, round(found.confirmed), found.delivered) == (200.0, 193, 0.0)


def test_rates_of_all_workers_are_added() -> None:
    found = rates(3.6, PUBLISHER, PUBLISHER, CONSUMER)
    assert found is not None
    assert (found.sent, found.delivered) == (400.0, 200.0)


def test_before_two_reports_of_the_load_there_is_no_rate() -> None:
    assert rates(3.6, Reports(report(2.0), report(2.0))) is None
    assert rates(3.6, Reports({}, {})) is None
    assert rates(3.6, PUBLISHER, started_s=None) is None
    assert rates(3.6, PUBLISHER, started_s=2.1) is None


def test_a_worker_that_reports_nothing_any_more_sends_nothing() -> None:
    assert rates(6.0, PUBLISHER) == PerSecond(0.0, 0.0, 0.0)


def test_after_the_load_there_is_no_rate() -> None:
    assert rates(3.6, PUBLISHER, phase="settle") is not None
    assert rates(3.6, PUBLISHER, phase="drain") is None


def test_without_consumers_no_rate_of_deliveries_is_shown() -> None:
    counts = LiveCounts("windows", 0, 10, (), 40.0, PerSecond(300.0, 299.0, 0.0))
    assert counts.deliveries == "delivered 0/s"
    assert replace(counts, has_consumers=False).deliveries == "no consumers"


def test_deliveries_of_consumer_groups_are_shown_per_group() -> None:
    counts = LiveCounts("windows", 0, 10, (), 40.0, PerSecond(200.0, 200.0, 400.0), groups=2)
    assert counts.deliveries == "delivered 200/s per group (2 groups)"
    assert replace(counts, groups=1).deliveries == "delivered 400/s"


def test_without_deadlines_nothing_is_late() -> None:
    counts = LiveCounts("windows", 7, 10, (), 40.0)
    assert counts.late is None
    assert replace(counts, strip=Strip(0, (), 0)).late == 7


def test_rates_of_a_phase_leave_out_the_phase_before() -> None:
    def found(began_s: float) -> PerSecond | None:
        return view_of("settle", [PUBLISHER], (), 9.0, 4 * S, 0, round(began_s * S)).rates

    assert found(2.0) is not None
    assert found(2.1) is None


def test_new_messages_retries_and_unsent_publishes_have_own_numbers() -> None:
    earlier = {**report(2.0, 4_000), "again": 3_000}
    status = {**report(3.0, 6_200), "again": 5_000, "missed": 3_576, "never_sent": 1_576}
    worker = Reports(earlier, {**status, "outstanding": 1_400, "waiting": 400})
    view = view_of("windows", [worker], (), 9.0, 3 * S, 0)
    assert view.sends == "sent 200/s, sent again 2,000/s"
    assert view.counts == ("unconfirmed 1,000", "not sent yet 400")
    late = replace(view, strip=Strip(0, (), 0)).late_counts
    assert late == ("late 3,576 (1,576 dropped unsent)",)


def test_in_settle_only_retries_are_sent() -> None:
    counts = LiveCounts("settle", 0, 0, (), 5.0)
    assert counts.sends == "nothing new is sent"
    again = replace(counts, rates=PerSecond(40.0, 0.0, 0.0, 40.0))
    assert again.sends == "nothing new is sent, sent again 40/s"


def test_rates_wait_for_every_worker_that_goes_on() -> None:
    def found(*workers: Reports) -> PerSecond | None:
        return view_of("recovery", workers, (), 9.0, 4 * S, 0, 2 * S).rates

    before = Reports(report(1.9, delivered=300), report(2.9, delivered=500))
    silent = Reports(report(0.5, delivered=20), report(1.5, delivered=200))
    assert found(PUBLISHER, before) is None
    assert found(PUBLISHER, silent) == found(PUBLISHER)
