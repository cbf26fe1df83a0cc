"""The share on time by second, with publishers that are away, dead or late."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness.run.core.strip import (
    LATEST_NS,
    LONGEST,
    SECOND_NS,
    Load,
    PublisherSeconds,
    Share,
    Strip,
    strip,
)
from spark_analysis.schema.facts import Absence

DEADLINE_NS = 2 * SECOND_NS
LATE_NS = DEADLINE_NS + LATEST_NS
BOTH = (
    PublisherSeconds(1, {5: (10, 10), 6: (10, 4)}),
    PublisherSeconds(2, {5: (10, 0), 6: (10, 10)}),
)


def at(
    second: float, *reports: PublisherSeconds, absences: Sequence[Absence] = (), **load: Any
) -> Strip:
    """The load began in second 5."""
    of = replace(Load(5 * SECOND_NS + 1, None, DEADLINE_NS), **load)
    return strip(of, round(second * SECOND_NS), reports, absences)


def test_a_second_is_pending_until_a_deadline_after_it() -> None:
    late_s = LATE_NS / SECOND_NS
    assert at(5.5, *BOTH) == Strip(5, (), 1)
    assert at(6 + late_s - 0.1, *BOTH) == Strip(5, (), 4)
    assert at(6 + late_s, *BOTH) == Strip(5, (Share(20, 10),), 4)
    assert at(7 + late_s, *BOTH) == Strip(5, (Share(20, 10), Share(20, 14)), 4)


def test_before_the_load_there_is_nothing() -> None:
    assert at(4.0) == Strip(5, (), 0)


def test_after_the_load_no_second_follows() -> None:
    ended = at(60, *BOTH, until_ns=6 * SECOND_NS + 5)
    assert ended == Strip(5, (Share(20, 10), Share(20, 14)), 0)


def test_second_reported_after_the_stop_order_belongs_to_load() -> None:
    assert len(at(60, *BOTH, until_ns=6 * SECOND_NS - 5).known) == 2


def test_seconds_missing_from_a_dead_publisher_come_from_the_others() -> None:
    died = PublisherSeconds(2, {5: (10, 0)})
    assert at(10, BOTH[0], died).known == (Share(20, 10), Share(10, 4))


def test_an_unreported_second_is_unknown_and_not_bad() -> None:
    assert at(11, PublisherSeconds(1, {5: (10, 10), 7: (10, 10)})).known == (
        Share(10, 10),
        None,
        Share(10, 10),
    )


def test_messages_due_while_a_fault_stops_their_publisher_are_excluded() -> None:
    away = Absence(1, 8 * SECOND_NS + 5, 9 * SECOND_NS)
    report = PublisherSeconds(1, dict.fromkeys(range(5, 12), (10, 0)))
    shares = at(30, report, absences=[away], until_ns=11 * SECOND_NS).known
    assert [share.due for share in shares if share] == [10, 0, 0, 0, 10, 10, 10]
    dead = Absence(1, 8 * SECOND_NS + 5, None)
    shares = at(30, report, absences=[dead], until_ns=11 * SECOND_NS).known
    assert [share.due for share in shares if share] == [10, 0, 0, 0, 0, 0, 0]


def test_others_are_not_excused() -> None:
    away = Absence(2, 0, None)
    assert at(10, *BOTH, absences=[away]).known == (Share(10, 10), Share(10, 4))


def test_long_load_reports_its_newest_seconds_from_multiples_of_ten() -> None:
    report = PublisherSeconds(1, dict.fromkeys(range(5, 5000), (10, 10)))
    long = at(1005.5, report)
    assert (long.first, long.left_out) == (415, 410)
    assert len(long.known) + long.pending == 591
    assert len(at(604.5, report).known) + at(604.5, report).pending == LONGEST


def test_when_all_publishers_have_closed_every_second_is_known() -> None:
    closed = at(7.5, *BOTH, until_ns=7 * SECOND_NS - 1, closed=True)
    assert closed == Strip(5, (Share(20, 10), Share(20, 14)), 0)
