"""Sustained success: when an outage is over."""

import pytest

from tests.oracle.judge import judge
from tests.rigs.histories.both_judges import judged_by_both
from tests.rigs.histories.by_hand import History, ns

NANOSECOND_MS = 0.000001


def sustained(history: History, window: int = 1) -> tuple[bool, float]:
    (stage,) = (
        row
        for row in judge(*history.build()).stages
        if row.stage == "sustained_success" and row.window == window
    )
    return stage.reached, stage.after_ns / 1_000_000


def load(
    every_ms: float = 10,
    failed_ms: tuple[float, float] = (10_000, 12_000),
    ended_ms: float = 30_000,
) -> History:
    """A fault at 10 s; publishes at a steady pace, missed while intended in `failed_ms`.

    A publish's sequence is its place in the whole load; told is what comes after 8 s.
    """
    history = History(load_ms=(0, ended_ms)).window(10_000, returned_ms=10_100, ended_ms=20_000)
    for sequence in range(int(8_000 / every_ms), int(ended_ms / every_ms)):
        at_ms = sequence * every_ms
        missed = failed_ms[0] <= at_ms < failed_ms[1]
        history.publish(sequence, at_ms=at_ms)
        history.confirm(sequence, at_ms=at_ms + (5_000 if missed else 1))
    return history


def miss(history: History, *sequences: int) -> History:
    """These publishes were confirmed too late."""
    for settlement in history.rows["settlements"]:
        if settlement["sequence"] in sequences:
            late_ns = settlement["settled_ns"]
            assert isinstance(late_ns, int)
            settlement["settled_ns"] = late_ns + ns(5_000)
    return history


def test_sustained_success_begins_with_the_first_good_publishs_intended_time() -> None:
    assert sustained(load()) == (True, 2_000)


def test_a_fault_without_effect_is_over_with_the_next_publish() -> None:
    assert sustained(load(failed_ms=(0, 0))) == (True, 0)


def test_publishes_before_the_origin_begin_nothing() -> None:
    history = load(failed_ms=(0, 0))
    history.window(20_000.5)
    assert sustained(history, 2) == (True, 9.5)


def test_a_single_success_in_the_outage_ends_nothing() -> None:
    history = miss(load(failed_ms=(10_000, 10_500)), *range(1_051, 1_200))
    assert sustained(history) == (True, 2_000)


def test_a_period_with_1_percent_missed_is_good() -> None:
    history = load(failed_ms=(0, 0))
    assert sustained(miss(history, *range(1_100, 1_105))) == (True, 0)


def test_a_period_with_more_than_1_percent_missed_is_bad() -> None:
    history = load(failed_ms=(0, 0))
    assert sustained(miss(history, *range(1_100, 1_106))) == (True, 1_060)


def test_the_loads_first_publish_begins_a_normal_period() -> None:
    def from_the_start(missed: int) -> History:
        history = History(load_ms=(0, 30_000)).window(0)
        history.flow(range(3_000), from_ms=0, every_ms=10)
        return miss(history, *range(100, 100 + missed))

    assert sustained(from_the_start(missed=5)) == (True, 0)
    assert sustained(from_the_start(missed=6)) == (True, 1_060)


def test_three_missed_of_299_are_more_than_1_percent() -> None:
    history = History(load_ms=(0, 30_000)).window(10_000)
    history.flow(range(299), from_ms=10_000, every_ms=16)
    history.flow(range(299, 3_000), from_ms=15_000, every_ms=5)
    assert sustained(miss(history, 100, 101, 102)) == (True, 16)


def test_a_period_ends_before_5_s_are_over() -> None:
    history = load(failed_ms=(0, 0))
    assert sustained(miss(history, *range(1_500, 1_506))) == (True, 0)
    # A good one ends well, too: what is bad at its end is the next one's to begin after.
    assert sustained(miss(load(failed_ms=(0, 0)), *range(1_495, 1_501))) == (True, 5_010)
    assert sustained(miss(load(failed_ms=(0, 0)), *range(1_494, 1_500))) == (True, 5_000)


def test_a_period_may_cover_5_s_before_its_last_publish() -> None:
    """The load ends before 5 s are over; nothing was due before it began."""
    history = History(load_ms=(0, 12_000)).window(10_000)
    assert sustained(history.flow(range(200), from_ms=10_000, every_ms=10)) == (True, 0)
    history = History(load_ms=(7_000, 12_000)).window(10_000)
    assert sustained(history.flow(range(200), from_ms=10_000, every_ms=10)) == (False, 0)


def test_a_good_period_does_not_begin_with_a_missed_publish() -> None:
    assert sustained(miss(load(failed_ms=(0, 0)), 1_000)) == (True, 10)


def test_a_period_has_at_least_200_publishes() -> None:
    slow = load(every_ms=50, failed_ms=(0, 0))
    assert sustained(miss(slow, 397, 398)) == (True, 0)
    assert sustained(miss(load(every_ms=50, failed_ms=(0, 0)), 397, 398, 399)) == (True, 10_000)
    assert sustained(miss(load(every_ms=50, failed_ms=(0, 0)), 397, 398, 400)) == (True, 0)


def test_a_period_has_all_publishes_of_5_s() -> None:
    assert sustained(miss(load(failed_ms=(0, 0)), *range(1_300, 1_306))) == (True, 3_060)


def test_at_equal_times_producer_and_then_sequence_decide() -> None:
    history = History(load_ms=(0, 20_000)).worker(7, "publisher").window(10_000)
    history.flow(range(199), from_ms=10_010, every_ms=30)
    history.publish(900, at_ms=10_000, producer=7).confirm(900, at_ms=10_001, producer=7)
    history.publish(901, at_ms=10_000)
    history.flow(range(902, 905), from_ms=10_000, every_ms=0, confirm_after_ms=None)
    assert sustained(history) == (True, 0)
    earlier = History(load_ms=(0, 20_000)).window(10_000)
    earlier.flow(range(199), from_ms=10_010, every_ms=30)
    earlier.publish(900, at_ms=10_000).confirm(900, at_ms=10_001)
    earlier.flow(range(901, 904), from_ms=10_000, every_ms=0, confirm_after_ms=None)
    assert sustained(earlier) == (False, 10)


def test_a_period_cut_off_by_the_load_end_is_unfinished() -> None:
    assert sustained(load(failed_ms=(10_000, 15_000), ended_ms=20_000)) == (True, 5_000)
    cut_off = load(failed_ms=(10_000, 15_000 + NANOSECOND_MS), ended_ms=20_000)
    assert sustained(cut_off) == (False, 5_010)


def test_a_load_ending_a_nanosecond_early_cuts_the_period() -> None:
    def loaded_until(ended_ms: float) -> History:
        history = History(load_ms=(10_000, ended_ms)).window(10_000)
        return history.flow(range(200), from_ms=10_000, every_ms=10)

    assert sustained(loaded_until(15_000)) == (True, 0)
    assert sustained(loaded_until(15_000 - NANOSECOND_MS)) == (False, 0)


def test_a_period_of_fewer_than_200_publishes_is_not_reached() -> None:
    history = History().window(10_000)
    assert sustained(history.flow(range(200), from_ms=10_000, every_ms=100)) == (True, 0)
    history = History().window(10_000)
    assert sustained(history.flow(range(199), from_ms=10_000, every_ms=100)) == (False, 0)


def test_an_unproved_success_may_have_begun_with_the_last_stretch() -> None:
    """Report the beginning of the success that the load end cut off."""
    history = load(failed_ms=(10_000, 28_000))
    assert sustained(history) == (False, 18_000)


def test_without_recovery_the_time_lasts_until_load_ends() -> None:
    assert sustained(load(failed_ms=(10_000, 30_000))) == (False, 20_000)


def test_without_publishes_nothing_is_known_from_the_fault_on() -> None:
    assert sustained(History().window(10_000)) == (False, 50_000)


def test_a_success_after_the_next_origin_is_not_this_windows() -> None:
    history = load(failed_ms=(10_000, 25_000)).window(25_000)
    assert sustained(history, 1) == (False, 15_000)
    assert sustained(history, 2) == (True, 0)


def test_a_period_may_reach_into_the_next_windows_time() -> None:
    assert sustained(load().window(12_010)) == (True, 2_000)


def test_a_period_that_the_next_fault_breaks_extends_no_outage() -> None:
    """It went well from 12 s on; the next fault, at 13 s, breaks what is sent from 14 s on."""
    history = miss(load(), *range(1_400, 1_450)).window(13_000)
    assert sustained(history) == (False, 2_000)
    # Where success is sustained after all, that is when the outage was over.
    recovered = miss(load(), 1_210, *range(1_695, 1_700)).window(12_500)
    assert sustained(recovered) == (True, 2_110)


@pytest.mark.parametrize(("missed", "after_ms"), [(5, 2_000), (6, 2_110)])
def test_a_period_bad_before_the_next_fault_stays_bad(missed: int, after_ms: float) -> None:
    """Five of its 500 publishes may be missed; here the next fault breaks 50 more."""
    early = range(1_205, 1_205 + missed)
    history = miss(load(), *early, *range(1_400, 1_450)).window(13_000)
    assert sustained(history) == (False, after_ms)


def test_publishes_of_all_queues_are_judged_together() -> None:
    history = load().queue("bills")
    history.flow(
        range(50_000, 50_300),
        from_ms=12_000,
        every_ms=10,
        confirm_after_ms=None,
        queue="bills",
    )
    assert sustained(history) == (True, pytest.approx(4_960, abs=30))


def test_the_second_of_two_simultaneous_faults_has_no_own_time() -> None:
    """They are made side by side: the first one's origin may come after the next one's."""
    history = load(failed_ms=(0, 0)).window(9_950, ended_ms=20_000)
    assert sustained(history) == (False, 0)
    assert sustained(history, 2) == (True, 0)
    judged_by_both(*history.build())
