"""Milestones of recovery as facts of a window: reached, not reached, or not known."""

import math
from dataclasses import replace

import pytest

from harness.claims.answers import answer
from harness.claims.claims import parse_condition
from harness.claims.stories import story as story_of
from harness.claims.values import Interval, NotApplicable, Unknown, Value, exactly
from spark_analysis.schema.facts import Worker
from tests.rigs.runs.findings import Story

JUDGED_S = 48  # from the fault at 12 s to the end of load


def fact(story: Story, name: str) -> Value:
    return story.evidence.value(name, 1)


def missing(name: str, *, confirms: bool = True, paced: bool = True) -> Value:
    """What is said of a milestone that the analysis has no row of."""
    story = Story()
    story.stages = {}
    story.facts = replace(story.facts, confirms=confirms, paced=paced)
    return fact(story, name)


def test_milestone_is_decided_at_the_end_of_its_time() -> None:
    assert fact(Story(), "first_success") is True
    not_reached = Story().stage("first_success", JUDGED_S, reached=False)
    assert fact(not_reached, "first_success") is False


def test_milestone_not_observed_to_the_end_may_have_come() -> None:
    cut_off = Story().stage("sustained_success", JUDGED_S - 1, reached=False)
    found = fact(cut_off, "sustained_success")
    assert isinstance(found, Unknown)
    assert "was not seen before the load ended" in str(found.reason)


def test_a_stage_reached_despite_a_stall_is_known() -> None:
    def stalled(name: str, *, reached: bool) -> Value:
        story = Story().stage(name, 1 if reached else JUDGED_S, reached=reached)
        return fact(story.doubt("availability", "stalled", window=1, worker=1), name)

    assert stalled("first_success", reached=True) is True
    assert isinstance(stalled("first_success", reached=False), Unknown)
    assert stalled("sustained_success", reached=True) is True
    assert isinstance(stalled("sustained_success", reached=False), Unknown)


def test_a_stall_bounds_a_time_from_below() -> None:
    story = Story().stage("sustained_success", 13.1).doubt("availability", "stalled", window=1)
    found = fact(story, "degraded_s")
    assert isinstance(found, Interval)
    assert (round(found.low, 2), found.high) == (12.96, 13.1)
    assert str(found) == "13.0 to 13.1 s"
    open_log = story.doubt("availability", "publisher_log", window=1)
    assert isinstance(fact(open_log, "degraded_s"), Unknown)


def test_a_consumers_stall_bounds_only_what_consumers_measured() -> None:
    story = Story().stage("sustained_success", 33.7).silence(33.9)
    story.stage("backlog_drained", 34).doubt("availability", "consumer_stalled", window=1)
    publishers = [fact(story, "degraded_s"), fact(story, "silence_s"), fact(story, "missed")]
    assert [(one.low, one.high) for one in publishers if isinstance(one, Interval)] == [
        (33.7, 33.7),
        (33.9, 33.9),
        (12, 12),
    ]
    backlog = fact(story, "backlog_drained_s")
    assert isinstance(backlog, Interval)
    assert (round(backlog.low, 2), backlog.high) == (33.86, 34)
    both = story.doubt("availability", "stalled", window=1)
    found = fact(both, "degraded_s"), fact(both, "backlog_drained_s")
    lows = [round(one.low, 2) for one in found if isinstance(one, Interval)]
    assert lows == [33.56, 33.72]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("first_success", NotApplicable("publishers ask for no confirms")),
        ("sustained_success", NotApplicable("publishers ask for no confirms")),
        ("backlog_drained", NotApplicable("publishers ask for no confirms")),
        ("consumers_resumed", Unknown("the analysis has no consumers_resumed")),
    ],
)
def test_without_confirms_publisher_claims_do_not_apply(name: str, expected: Value) -> None:
    assert missing(name, confirms=False) == expected


def test_meaningless_milestone_is_not_applicable_and_missing_one_unknown() -> None:
    assert missing("sustained_success", paced=False) == NotApplicable(
        "rate is max: no intended times"
    )
    assert missing("first_success", paced=False) == Unknown("the analysis has no first_success")
    assert missing("backlog_drained") == NotApplicable("the run has no consumer")
    assert missing("first_success") == Unknown("the analysis has no first_success")


def test_the_description_of_a_window_lists_its_milestones() -> None:
    story = Story().window(2, "kill", opens=40).stage("first_success", 7, window=2)
    assert "first confirm of a new message after 0.200 s" in story_of(
        "available_during_fault", 1, story.evidence
    )
    assert "7.000 s" not in story_of("available_during_fault", 1, story.evidence)


def test_the_description_of_a_window_agrees_with_the_measures() -> None:
    text = story_of("available_during_fault", 1, Story().stage("backlog_drained", 0.161).evidence)
    assert "no backlog" in text and "backlog gone" not in text
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    text = story_of("available_during_fault", 1, stalled.stage("first_success", 7).evidence)
    assert "first confirm of a new message after 6.9 to 7.0 s" in text


def test_each_milestone_has_a_time_of_its_own() -> None:
    for name, seconds in (("consumers_resumed_s", 0.161), ("backlog_drained_s", 0.5)):
        found = fact(Story(), name)
        assert isinstance(found, Interval)
        assert (found.low, found.high) == (seconds, seconds)
    assert fact(Story(), "degraded_s") == fact(Story(), "sustained_success_s")


def test_a_dead_consumer_may_have_received_unseen_messages() -> None:
    silent = Story().stage("consumers_resumed", JUDGED_S, reached=False)
    assert fact(silent, "consumers_resumed") is False
    died = silent.doubt("loss", "consumer_log", worker=7)
    assert isinstance(fact(died, "consumers_resumed"), Unknown)
    assert fact(died, "first_success") is True


def test_consumption_names_the_consumers_it_expects() -> None:
    assert Story().evidence.detail("consumption_resumes", 1) == "1 queue, 1 consumer"


def test_each_kind_of_copy_has_its_own_message_story() -> None:
    story = Story().count("duplicated", "stored_twice", 1)
    story.affect("duplicated", "redelivery", 4_700, at=12.1)
    story.affect("duplicated", "stored_twice", 4_711, at=12.7)
    assert story_of("duplicated.stored_twice", 0, story.evidence).startswith("message 4711 of")


def test_resume_times_need_clients_that_were_present() -> None:
    away = Story().stage("consumers_resumed", JUDGED_S, reached=False)
    away.doubt("availability", "consumers_absent", window=1)
    assert isinstance(fact(away, "consumers_resumed"), Unknown)
    assert fact(away, "sustained_success") is True


def test_without_consumers_there_are_no_consumer_milestones() -> None:
    unread = Story(consumers=0)
    assert fact(unread, "consumers_resumed") == NotApplicable("the run has no consumer")
    assert fact(unread, "first_success") is True


def test_a_message_of_the_first_producer_has_a_name() -> None:
    story = Story().count("lost", "replicated", 1).affect("lost", "replicated", 5, at=12.4)
    story.affected = [replace(row, producer=0) for row in story.affected]
    story.facts = replace(story.facts, workers=(Worker(0, "publisher", True),))
    assert story_of("lost", 0, story.evidence).startswith("message 5 of")


def test_message_0_is_called_the_first() -> None:
    story = Story().count("lost", "replicated", 1).affect("lost", "replicated", 0, at=12.4)
    text = story_of("lost", 0, story.evidence)
    assert text.startswith("message 0 (the first) of publisher 1 (producer 1 in the raw tables)")


def test_a_claim_and_the_run_use_one_longest_silence() -> None:
    story = Story().window(2, "kill", opens=30).silence(24.416).silence(36.437, queue="bills")
    found = fact(story, "silence_s")
    assert isinstance(found, Interval)
    assert (found.low, found.high) == (36.437, 36.437)
    assert str(found) == "36.437 s (queue bills, from +12.0 s)"
    assert story.evidence.claimed("silence_s", 1) == found


def test_of_equal_silences_one_that_did_not_end_is_the_longest() -> None:
    story = Story().silence(24.416).silence(24.416, censored=True, queue="bills")
    found = fact(story, "silence_s")
    assert isinstance(found, Interval)
    assert (found.low, found.high, str(found)) == (
        24.416,
        math.inf,
        "at least 24.416 s (queue bills)",
    )
    both = Story().silence(24.416, censored=True).silence(24.416, censored=True, queue="bills")
    assert str(fact(both, "silence_s")) == "at least 24.416 s"


def test_a_time_known_by_a_bound_has_a_unit_and_a_reason() -> None:
    story = Story().stage("sustained_success", 11.2225, reached=False)
    found = fact(story, "degraded_s")
    assert str(found) == "at least 11.223 s" and str(exactly(2.5)) == "2.5"
    condition = parse_condition("degraded_s <= 20")
    said = answer(condition, 1, found, story.evidence).doubt.text
    assert said == (
        "fault 1: time from the fault until sending was on time for 5 s: at least 11.223 s; "
        "uncertain, because the load ended, or the next fault began, before more of it was "
        "recorded (`degraded_s <= 20`)"
    )
