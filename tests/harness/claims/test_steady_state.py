"""Service while nothing is wrong: what counts as out, what as starved, and what excuses it."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome
from harness.claims.values import Interval, NotApplicable, Unknown
from spark_analysis.schema.facts import Absence, Clock
from tests.harness.claims.claim_stories import served_in_steady_state
from tests.harness.claims.judging import verdict
from tests.rigs.runs.findings import Story, ns

OUT, STARVED = "unavailable_in_steady_state_s", "consumer_wait_in_steady_state_s"
WAITED = "without a delivery while messages waited"


def value_of(story: Story, name: str, window: int = 0) -> object:
    return story.evidence.value(name, window)


def low_and_high(story: Story, name: str, window: int = 0) -> tuple[float, float]:
    value = value_of(story, name, window)
    assert isinstance(value, Interval), value
    return value.low, value.high


def test_outage_in_the_first_ten_seconds_does_not_count() -> None:
    assert low_and_high(served_in_steady_state().outage(0, 9.9), OUT) == (0, 0)
    assert low_and_high(served_in_steady_state().outage(0, 12.5), OUT) == (2.5, 2.5)


def test_one_queue_that_is_out_in_steady_state_is_enough() -> None:
    story = served_in_steady_state().outage(40, 45, scope="queue", name="orders")
    assert str(value_of(story, OUT)) == "5.0 s (queue orders)"


@pytest.mark.parametrize(("missed", "low"), [(450, 0), (451, 5)])
def test_mostly_timely_confirms_mean_degraded_not_unavailable(missed: int, low: float) -> None:
    story = served_in_steady_state().outage(40, 45, due=900, bad=missed)
    assert low_and_high(story, OUT) == (low, 5)


def test_a_sick_load_hides_no_outage_within_it() -> None:
    story = served_in_steady_state().outage(15, 50, due=900, bad=18)
    story = story.outage(20, 24, scope="queue", name="orders")
    assert low_and_high(story, OUT) == (4, 4)
    assert str(value_of(story, OUT)) == "4.0 s (queue orders)"


def test_outage_that_begins_with_the_fault_is_not_steady_state() -> None:
    story = Story().outage(12, 27)
    for second in range(60):
        story.second(second, confirmed=200)
    assert low_and_high(story, OUT) == (0, 0)


def value_until(begins: float) -> Story:
    """A fault at 22 s, and an outage that begins then."""
    story = Story().steady().window(1, "freeze", opens=22).outage(begins, 27, "undo")
    for second in range(60):
        story.second(second, confirmed=200)
    return story


def test_outage_in_progress_at_the_fault_belongs_to_the_fault() -> None:
    assert low_and_high(value_until(20), OUT) == (0, 0)  # the deadline is 2 s


def test_outage_one_deadline_before_the_fault_is_earlier_degradation() -> None:
    value = value_of(value_until(19.9), OUT)
    assert isinstance(value, Interval)
    assert (value.low, value.high) == (0, 2.1)
    assert value.doubt == "the load was already degraded before the fault"
    assert (
        verdict("available-in-steady-state", value_until(19.9)).outcome
        is ClaimOutcome.INCONCLUSIVE
    )


def test_a_stall_makes_no_violation_of_an_outage_before_a_fault() -> None:
    story = value_until(12).doubt("availability", "stalled", worker=1)
    assert low_and_high(story, OUT) == (0, 10)
    assert verdict("available-in-steady-state", story).outcome is ClaimOutcome.INCONCLUSIVE


@pytest.mark.parametrize(("begins", "high"), [(20.25, 0), (20.2, 2.05), (19.7, 2.55)])
def test_outage_at_the_edge_of_a_fault_has_clock_uncertainty(begins: float, high: float) -> None:
    """The fault is at 22 s, the deadline 2 s; publishers' clocks may be off by 0.25 s."""
    story = value_until(begins)
    clocks = tuple(Clock(worker.number, ns(0.25)) for worker in story.facts.workers)
    story.facts = replace(story.facts, clocks=clocks)
    low, found = low_and_high(story, OUT)
    assert (low, round(found, 3)) == (0, high)


def test_outage_without_a_fault_is_spontaneous() -> None:
    story = served_in_steady_state().outage(20, 25)
    assert verdict("available-in-steady-state", story).outcome is ClaimOutcome.FAIL


def test_a_stalled_instrument_may_be_what_was_out() -> None:
    story = served_in_steady_state().outage(20, 22.1).doubt("availability", "stalled", worker=1)
    assert low_and_high(story, OUT) == (0, 2.1)
    story = served_in_steady_state().outage(20, 25).doubt("availability", "stalled", worker=1)
    low, high = low_and_high(story, OUT)
    assert (round(low, 3), high) == (2.86, 5), "less the stall of 0.14 s and a deadline of 2 s"


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        ("paced", NotApplicable("rate is max: no intended times")),
        ("confirms", NotApplicable("publishers ask for no confirms")),
    ],
)
def test_availability_needs_intended_times_and_confirms(fact: str, why: NotApplicable) -> None:
    story = served_in_steady_state()
    story.facts = replace(story.facts, **{fact: False})
    assert value_of(story, OUT) == why


def test_little_load_proves_no_service_in_steady_state() -> None:
    story = Story(faults=0).steady()
    for second in range(60):
        story.second(second, confirmed=1)
    value = value_of(story, OUT)
    assert isinstance(value, Unknown)
    assert value.reason == "only 50 publishes were due in the steady state after the first 10 s"


def test_a_steady_state_within_the_warm_up_is_called_too_short() -> None:
    short = value_of(Story().steady().window(1, "kill", opens=2), OUT)
    assert getattr(short, "reason", "") == (
        "the steady state lasted 2.0 s; outages in the first 10 s of load break no claim"
    )


def test_the_queue_that_starved_longest_speaks_for_all() -> None:
    story = served_in_steady_state().starved(14, queue="refunds")
    assert str(value_of(story, STARVED)) == f"14.0 s {WAITED} (queue refunds)"


def test_one_log_partition_may_starve_while_others_are_read() -> None:
    story = served_in_steady_state().starved(12, place="broker-b/3")
    assert str(value_of(story, STARVED)) == f"12.0 s {WAITED} (queue orders, broker-b/3)"


def test_a_wait_after_the_fault_says_when_it_was_judged() -> None:
    expected = f"0.1 s {WAITED} (queue orders, judged from +30.0 s to +60.0 s)"
    assert str(value_of(Story(), "consumer_wait_after_fault_s", 1)) == expected


def test_a_wait_of_the_whole_judged_time_is_called_so() -> None:
    story = Story().starved(30, place="broker-b/3", window=1, ends=60)
    found = value_of(story, "consumer_wait_after_fault_s", 1)
    assert str(found) == (
        f"30.0 s {WAITED}, the whole time that could be judged (queue orders, broker-b/3, judged "
        "from +30.0 s to +60.0 s)"
    )
    assert isinstance(found, Interval)
    assert found.doubt == (
        "consumers poll routes and rebalance, for which mqproof gives them 60 s more; the judged "
        "time ended sooner"
    )


def test_after_the_undo_a_log_is_judged_as_a_whole() -> None:
    story = Story().starved(12, place="broker-b/3", window=1)
    assert low_and_high(story, "consumer_wait_after_fault_s", 1) == (0.1, 0.1)


@pytest.mark.parametrize(
    ("seconds", "ends", "found"),
    [
        (60, 120, (0.1, 0.1)),  # read again in time, so the queue as a whole is asked
        (60.001, 120, (60.001, 60.001)),
        (89, 119, (89, 89)),  # starves to the end of the load
        (30, 60, (0, 30)),  # a reader might have got it within 60 s
    ],
)
def test_log_partition_has_a_minute_after_the_undo(
    seconds: float, ends: float, found: tuple[float, float]
) -> None:
    story = Story().starved(seconds, place="broker-b/3", window=1, ends=ends)
    assert low_and_high(story, "consumer_wait_after_fault_s", 1) == found


@pytest.mark.parametrize(("seconds", "ends"), [(60, 120), (30, 60)])
def test_a_stream_has_no_time_for_reassignment(seconds: float, ends: float) -> None:
    story = Story(progress_kept_by="clients")
    story = story.starved(seconds, place="stream", window=1, ends=ends)
    assert low_and_high(story, "consumer_wait_after_fault_s", 1) == (seconds, seconds)


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [
        (4.5, ClaimOutcome.PASS),
        (4.6, ClaimOutcome.INCONCLUSIVE),
        (5.5, ClaimOutcome.INCONCLUSIVE),
        (5.6, ClaimOutcome.FAIL),
    ],
)
def test_starvation_time_is_bounded_by_client_clock_uncertainty(
    seconds: float, outcome: ClaimOutcome
) -> None:
    story = served_in_steady_state().starved(seconds)
    clocks = tuple(Clock(worker.number, ns(0.25)) for worker in story.facts.workers)
    story.facts = replace(story.facts, clocks=clocks)
    assert verdict("consumed-in-steady-state", story).outcome is outcome


def test_a_queue_with_few_messages_is_not_starved() -> None:
    assert low_and_high(
        served_in_steady_state().starved(14, queue="refunds", due=19), STARVED
    ) == (
        0.1,
        0.1,
    )


def test_a_stalled_consumer_may_be_what_nothing_came_to() -> None:
    story = (
        served_in_steady_state().starved(14).doubt("availability", "consumer_stalled", worker=7)
    )
    assert low_and_high(story, STARVED) == (13.86, 14), "less the stall of 0.14 s"


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [
        (5, ClaimOutcome.PASS),
        (5.1, ClaimOutcome.INCONCLUSIVE),
        (5.14, ClaimOutcome.INCONCLUSIVE),
        (5.2, ClaimOutcome.FAIL),
    ],
)
def test_stall_explains_starvation_only_for_its_own_length(
    seconds: float, outcome: ClaimOutcome
) -> None:
    story = (
        served_in_steady_state()
        .starved(seconds)
        .doubt("availability", "consumer_stalled", worker=7)
    )
    assert verdict("consumed-in-steady-state", story).outcome is outcome
    healed = Story().starved(seconds, window=1)
    healed = healed.doubt("availability", "consumer_stalled", window=1, worker=7)
    assert verdict("consumed-after-fault", healed).outcome is outcome


def test_stall_during_overlapping_faults_counts_for_both() -> None:
    def overlapping(stalled: int) -> Interval:
        story = Story().window(2, "kill", opens=40).starved(5.1, window=1)
        story.doubt("availability", "consumer_stalled", window=stalled, worker=7)
        value = value_of(story, "consumer_wait_after_fault_s", 1)
        assert isinstance(value, Interval)
        return value

    assert round(overlapping(1).low, 3) == round(overlapping(2).low, 3) == 4.96


def test_a_stall_beside_an_open_log_leaves_a_starvation_open() -> None:
    story = (
        served_in_steady_state().starved(14).doubt("availability", "consumer_stalled", worker=7)
    )
    assert low_and_high(story.doubt("loss", "consumer_log", worker=7), STARVED) == (0, 14)


@pytest.mark.parametrize(("ends", "found"), [(9.7, (0, 0)), (9.9, (0, 0.15)), (12, (1.75, 2.25))])
def test_outage_at_the_warm_up_edge_has_clock_uncertainty(
    ends: float, found: tuple[float, float]
) -> None:
    story = served_in_steady_state().outage(0, ends)
    clocks = tuple(Clock(worker.number, ns(0.25)) for worker in story.facts.workers)
    story.facts = replace(story.facts, clocks=clocks)
    low, high = low_and_high(story, OUT)
    assert (round(low, 3), round(high, 3)) == found


def test_open_consumer_log_may_hide_deliveries() -> None:
    story = served_in_steady_state().starved(14).doubt("loss", "consumer_log", worker=7)
    assert low_and_high(story, STARVED) == (0, 14)


def test_starvation_needs_consumers() -> None:
    story = Story(consumers=0)
    assert value_of(story, "consumer_wait_after_fault_s", 1) == NotApplicable(
        "the run has no consumer"
    )


def away(story: Story, from_s: float, until_s: float | None) -> Story:
    absence = Absence(7, ns(from_s), None if until_s is None else ns(until_s))
    story.facts = replace(story.facts, absences=(absence,))
    return story.doubt("availability", "consumers_absent", window=1)


@pytest.mark.parametrize(("from_s", "until_s"), [(10, 30.1), (59.9, 70), (40, None)])
def test_starvation_while_consumers_are_away_is_not_applicable(
    from_s: float, until_s: float | None
) -> None:
    story = away(Story().starved(14, window=1), from_s, until_s)
    assert isinstance(value_of(story, "consumer_wait_after_fault_s", 1), NotApplicable)


@pytest.mark.parametrize(("from_s", "until_s"), [(10, 30), (60, 70)])
def test_reconnected_consumers_must_get_waiting_messages(from_s: float, until_s: float) -> None:
    story = away(Story().starved(14, window=1), from_s, until_s)
    assert low_and_high(story, "consumer_wait_after_fault_s", 1) == (14, 14)


@pytest.mark.parametrize(("ends", "seconds"), [(5, None), (5.1, 0.1)])
def test_starvation_shorter_than_a_stretch_is_no_silence(
    ends: float, seconds: float | None
) -> None:
    story = served_in_steady_state().starved(0.1, ends=ends)
    value = value_of(story, STARVED)
    assert (value.low if isinstance(value, Interval) else None) == seconds


def test_a_short_steady_state_is_not_judged() -> None:
    story = Story()
    assert isinstance(value_of(story, OUT), NotApplicable)
    assert isinstance(value_of(story, STARVED), NotApplicable)


def test_starvation_before_the_fault_breaks_the_steady_state_promise() -> None:
    story = Story().starved(12)
    assert verdict("consumed-in-steady-state", story).outcome is ClaimOutcome.FAIL
    assert verdict("consumed-after-fault", story).outcome is ClaimOutcome.PASS


def test_a_clock_in_doubt_leaves_the_steady_state_open_and_an_unverified_fault_does_not() -> None:
    def unserved(reason: str) -> Story:
        return served_in_steady_state().outage(20, 60, "never").doubt("run", reason, window=1)

    claim = "available-in-steady-state"
    assert verdict(claim, unserved("clock")).outcome is ClaimOutcome.INCONCLUSIVE
    assert verdict(claim, unserved("fault")).outcome is ClaimOutcome.FAIL


@pytest.mark.parametrize(
    ("levels", "kind"), [(None, Unknown), (0, Interval), (2, NotApplicable), (2.0, NotApplicable)]
)
def test_messages_with_priorities_may_wait_behind_others(levels: float | None, kind: type) -> None:
    for name, window in ((STARVED, 0), ("consumer_wait_after_fault_s", 1)):
        value = value_of(Story(priorities=levels).starved(14, window=window), name, window)
        assert isinstance(value, kind)
