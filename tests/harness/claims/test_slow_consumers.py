"""Claims about consumption where consumers take time for each message."""

from typing import Any

import pytest

from harness.claims.judge import ClaimVerdict
from harness.claims.state import KnownFacts
from harness.claims.values import Interval, Unknown
from harness.plan.facts import OPERATED
from harness.plan.vocabulary import STARVED
from tests.harness.claims.claim_stories import (
    delayed_in_steady_state,
    delaying,
    served_in_steady_state,
    story_of,
)
from tests.harness.claims.judging import FAIL, INCONCLUSIVE, PASS, verdict
from tests.rigs.runs.findings import Story

IN_STEADY_STATE = "consumer_wait_in_steady_state_s"
SLOW: dict[str, Any] = {"processing_s": 0.02}
WHY = "consumers take 0.02 s for each message, so messages may wait for them"


def of(claim: str, story: Story, **state: object) -> ClaimVerdict:
    """Its verdict, where these facts are declared as well."""
    story.state |= state
    return verdict(claim, story)


@pytest.mark.parametrize(
    ("seconds", "quick", "slow"), [(5.0, PASS, PASS), (5.1, FAIL, INCONCLUSIVE)]
)
def test_slow_consumers_may_wait_long_in_steady_state(
    seconds: float, quick: object, slow: object
) -> None:
    claim = "consumed-in-steady-state"
    assert of(claim, served_in_steady_state().starved(seconds)).outcome is quick
    found = of(claim, served_in_steady_state().starved(seconds), **SLOW)
    assert found.outcome is slow
    assert any(WHY in line for line in found.not_judged) is (slow is INCONCLUSIVE)


@pytest.mark.parametrize(
    ("seconds", "quick", "slow"), [(5.0, PASS, PASS), (5.1, FAIL, INCONCLUSIVE)]
)
def test_slow_consumers_may_wait_long_after_a_fault(
    seconds: float, quick: object, slow: object
) -> None:
    claim = "consumed-after-fault"
    assert of(claim, story_of().starved(seconds, window=1)).outcome is quick
    assert of(claim, story_of().starved(seconds, window=1), **SLOW).outcome is slow


def test_a_wait_of_slow_consumers_keeps_an_earlier_doubt() -> None:
    story = served_in_steady_state(**SLOW).starved(14).doubt("loss", "consumer_log", worker=7)
    value = story.evidence.value(IN_STEADY_STATE)
    assert isinstance(value, Interval)
    assert (value.low, value.high) == (0, 14)
    assert WHY not in str(value.doubt)


def test_advice_does_not_ask_for_more_than_slow_consumers_can_take() -> None:
    """Neither of a wait, nor where too little was sent to judge service or consumption."""
    found = {
        state: [
            *of("consumed-after-fault", _reassigning(), **dict(state)).advice,
            *of("mirror-takes-over", Story().few(), **dict(state)).advice,
            *of("consumed-in-steady-state", _unfed(), **dict(state)).advice,
        ]
        for state in ((), tuple(SLOW.items()))
    }
    quick, slow = found.values()
    assert [("send more" in each) for each in quick] == [False, True, True]
    assert slow == [
        "extend the load after the fault by 60 s (`recovery`), and run it without `processing`, "
        "or with a lower `rate`",
        "let the fault last longer (`lasts`)",
        "extend the steady state (`baseline`)",
    ]


def _reassigning() -> Story:
    """Return a story in which a place of a log waits until the load ends."""
    return story_of(progress_kept_by="brokers").starved(30, window=1, place="broker-b/0")


def _unfed() -> Story:
    """Return a story without a fault, in which consumers had too little to be judged by."""
    story = served_in_steady_state().steady()
    story.starvation.clear()
    return story


def test_a_place_of_a_log_may_wait_for_slow_consumers() -> None:
    story = served_in_steady_state(**SLOW).starved(12, place="broker-b/3")
    value = story.evidence.value(IN_STEADY_STATE)
    assert isinstance(value, Interval)
    assert (value.low, value.high, value.doubt) == (0, 12, WHY)


def test_consumption_that_slow_consumers_did_not_resume_is_unknown() -> None:
    value = story_of(**SLOW).consumption(False).evidence.value("consumption_resumes", 1)
    assert isinstance(value, Unknown)
    assert value.reason.endswith(f", but {WHY}")
    assert of("mirrored-queue-works-on", story_of().consumption(False)).outcome is FAIL
    assert of("mirrored-queue-works-on", story_of().consumption(False), **SLOW).outcome is (
        INCONCLUSIVE
    )
    assert of("mirrored-queue-works-on", story_of(), **SLOW).outcome is PASS


def test_no_warning_of_silent_consumers_comes_true_by_slow_ones() -> None:
    claim = "unnotified-consumer-waits-forever"
    assert of(claim, story_of().consumption(False)).outcome is PASS
    assert of(claim, story_of().consumption(False), **SLOW).outcome is INCONCLUSIVE


def test_delayed_messages_may_be_overdue_by_slow_consumers() -> None:
    claim = "nothing-overdue"
    assert of(claim, delayed_in_steady_state(1)).outcome is FAIL
    assert of(claim, delayed_in_steady_state(1), **SLOW).outcome is INCONCLUSIVE
    assert of(claim, delayed_in_steady_state(), **SLOW).outcome is PASS


def test_delays_by_slow_consumers_confirm_no_warning() -> None:
    claim = "dead-master-delays-messages"
    assert of(claim, delaying(93)).outcome is PASS
    assert of(claim, delaying(93), **SLOW).outcome is INCONCLUSIVE


@pytest.mark.parametrize(
    ("detail", "place", "outcome"),
    [
        ("offset_rollback", "broker-a/0", INCONCLUSIVE),
        ("redelivery_after_ack", "broker-a/0", INCONCLUSIVE),
        ("redelivery_after_ack", "", FAIL),
    ],
)
def test_a_library_may_discard_late_acknowledgements_of_a_log(
    detail: str, place: str, outcome: object
) -> None:
    def story() -> Story:
        return story_of().count("duplicated", detail, 1).starved(0.1, place=place)

    claim = "acknowledged-is-not-redelivered"
    assert of(claim, story()).outcome is FAIL
    assert of(claim, story(), **SLOW).outcome is outcome


def test_losses_and_order_are_judged_as_always() -> None:
    for claim in ("confirmed-is-delivered", "one-copy", "unacknowledged-is-redelivered"):
        assert of(claim, story_of(), **SLOW).outcome is PASS
    assert of("confirmed-is-delivered", story_of().count("lost", "", 3), **SLOW).outcome is FAIL


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"consumers": 1}, ""),  # an older run: before there was a choice
        ({"processing_s": 0}, ""),
        ({"processing_s": {"not_applicable": "there is none"}}, ""),
        ({"processing_s": 0.02}, "consumers take 0.02 s for each message"),
        ({"processing_s": 2}, "consumers take 2 s for each message"),
        ({"processing_s": None}, "it is not recorded how long consumers take"),
        ({}, "it is not recorded how long consumers take"),
    ],
)
def test_consumers_may_be_slow_where_that_is_not_recorded(
    document: dict[str, object], why: str
) -> None:
    found = KnownFacts.from_json(document).slow_consumers
    assert found.startswith(why)
    assert bool(found) == bool(why)


@pytest.mark.parametrize("name", ["consumers", "operations", "priorities"])
def test_what_a_run_lacks_is_unknown_where_it_is_not_recorded(name: str) -> None:
    def lacks(value: object) -> bool | Unknown:
        return KnownFacts.from_json({name: value}).lacks(name)

    assert [lacks(0), lacks({"not_applicable": "it has none"})] == [True, True]
    assert [lacks(2), lacks({"at_least": 1})] == [False, False]
    assert lacks(None) == Unknown(f"{name}: it was not recorded")
    assert KnownFacts().lacks(name) == Unknown(f"{name}: it was not recorded")
    for value in (True, "many", {"at_least": 0}):
        assert isinstance(lacks(value), Unknown), value


@pytest.mark.parametrize("name", ["consumers", "priorities", "progress_kept_by"])
def test_a_wait_is_unknown_if_its_conditions_are_not_recorded(name: str) -> None:
    story = story_of(**{name: None}).starved(14, window=1)
    found = story.evidence.value(STARVED, 1)
    assert found == Unknown(f"{name}: it was not recorded")
    assert of("consumed-after-fault", story).outcome is INCONCLUSIVE


def test_results_of_operations_are_unknown_if_operations_are_not_recorded() -> None:
    evidence = story_of(operations=None).evidence
    assert evidence.value(next(iter(OPERATED)), 0) == Unknown("operations: it was not recorded")
