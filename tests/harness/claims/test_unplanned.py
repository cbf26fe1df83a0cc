"""Brokers' processes that ended without a plan: what is not judged for it, and what is."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome
from spark_analysis.schema.facts import Cause, ProcessEnd
from spark_analysis.schema.service import OUT
from tests.harness.claims.claim_stories import served_in_steady_state
from tests.harness.claims.judging import FAIL, INCONCLUSIVE, NOT_APPLICABLE, PASS, verdict
from tests.rigs.runs.findings import RECORDED, Story, ns

FAULT = "mirror-takes-over"  # about a window, as it was: from 12 s on, and no other window


def ended(
    story: Story, at: float, cause: Cause = Cause.OUTSIDE, until: float | None = None
) -> Story:
    end = ProcessEnd("rmq3", ns(at), cause, "signal 9", None if until is None else ns(until))
    story.facts = replace(story.facts, process_ends=(*story.facts.process_ends, end))
    return story


def broken() -> Story:
    """A claim about its window is broken."""
    return Story().service(OUT)


@pytest.mark.parametrize(
    ("at", "until", "outcome"),
    [
        (5, None, INCONCLUSIVE),  # it was down when the fault came
        (14, None, INCONCLUSIVE),
        (50, None, INCONCLUSIVE),  # what is counted is read after that
        (5, 11.9, FAIL),  # it was back
        (5, 12.1, INCONCLUSIVE),
    ],
)
def test_outside_kill_during_a_window_leaves_it_unjudged(
    at: float, until: float | None, outcome: ClaimOutcome
) -> None:
    assert verdict(FAULT, ended(broken(), at, until=until)).outcome is outcome


def test_a_window_passes_no_more_than_it_fails_then() -> None:
    assert verdict(FAULT, Story()).outcome is PASS
    assert verdict(FAULT, ended(Story(), 14)).outcome is INCONCLUSIVE


def test_an_end_of_unknown_cause_counts_as_external() -> None:
    assert verdict(FAULT, ended(broken(), 14, Cause.UNKNOWN)).outcome is INCONCLUSIVE


def test_a_broker_that_ends_by_itself_excuses_nothing() -> None:
    assert verdict(FAULT, ended(broken(), 14, Cause.ITSELF)).outcome is FAIL
    assert verdict(FAULT, ended(Story(), 14, Cause.ITSELF)).outcome is PASS


def test_a_window_that_was_over_before_is_judged() -> None:
    story = Story(faults=2, windows={"2": dict(RECORDED)}).window(2, "kill", opens=40, lasts=10)
    one = verdict(FAULT, ended(story, 45))
    assert one.outcome is INCONCLUSIVE
    assert one.not_judged[0].startswith("fault 2: rmq3 ended")
    assert all(line.startswith("fault 1") for line in one.judged)
    assert one.judged
    assert verdict(FAULT, ended(story.service(OUT), 45)).outcome is FAIL


def test_verdict_names_the_ended_process_its_time_and_remedy() -> None:
    one = verdict(FAULT, ended(broken(), 14.04))
    assert one.not_judged == ("fault 1: rmq3 ended at +14.0 s, unplanned: signal 9",)
    assert one.advice


@pytest.mark.parametrize(("at", "outcome"), [(20, INCONCLUSIVE), (59, INCONCLUSIVE), (None, FAIL)])
def test_steady_state_outage_with_an_outside_cause_is_not_judged(
    at: float | None, outcome: ClaimOutcome
) -> None:
    story = served_in_steady_state().outage(40, 45)
    story = story if at is None else ended(story, at)
    assert verdict("available-in-steady-state", story).outcome is outcome


def test_end_during_the_fault_leaves_the_steady_state_before_judged() -> None:
    story = Story().outage(10, 11.9)
    for second in range(60):
        story.second(second, confirmed=200)
    assert verdict("available-in-steady-state", ended(story, 14)).outcome is not INCONCLUSIVE


def test_broker_that_ends_by_itself_breaks_steady_state() -> None:
    story = ended(served_in_steady_state().outage(40, 45), 40, Cause.ITSELF)
    assert verdict("available-in-steady-state", story).outcome is FAIL


@pytest.mark.parametrize("cause", Cause)
def test_an_unconditional_promise_is_judged_after_any_end(cause: Cause) -> None:
    lost = ended(Story(), 14, cause).count("lost", "replicated", 3)
    assert verdict("confirmed-is-delivered", lost).outcome is FAIL
    assert verdict("confirmed-is-delivered", ended(Story(), 14, cause)).outcome is PASS


@pytest.mark.parametrize("cause", Cause)
def test_transient_messages_go_with_a_process_that_ends(cause: Cause) -> None:
    story = Story(persistent=False).steady().count("lost", "buffered", 3)
    assert verdict("confirmed-is-delivered", story).outcome is FAIL
    assert verdict("confirmed-is-delivered", ended(story, 14, cause)).outcome is NOT_APPLICABLE


# --- a lost watch -------------------------------------------------------------------------------


def unwatched(story: Story) -> Story:
    story.facts = replace(story.facts, process_watch_lost="the engine is gone")
    return story


@pytest.mark.parametrize("story", [Story, broken])
def test_without_a_watch_no_window_is_judged(story: Callable[[], Story]) -> None:
    one = verdict(FAULT, unwatched(story()))
    assert one.outcome is INCONCLUSIVE
    (reason,) = one.not_judged
    assert reason.startswith("fault 1: mqproof lost the watch of brokers' processes")
    assert reason.endswith("the engine is gone")
    assert one.advice


def test_without_a_watch_the_steady_state_is_not_judged() -> None:
    story = served_in_steady_state().outage(40, 45)
    assert verdict("available-in-steady-state", unwatched(story)).outcome is INCONCLUSIVE


def test_without_a_watch_an_unconditional_promise_is_judged() -> None:
    lost = unwatched(Story()).count("lost", "replicated", 3)
    assert verdict("confirmed-is-delivered", lost).outcome is FAIL


def test_without_a_watch_transient_messages_may_be_gone_with_a_process() -> None:
    story = Story(persistent=False).steady().count("lost", "buffered", 3)
    assert verdict("confirmed-is-delivered", unwatched(story)).outcome is INCONCLUSIVE
