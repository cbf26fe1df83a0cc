"""Claims against runs: preconditions, what is not known, and the weight of outcomes."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome, ClaimVerdict, over_runs, worst
from harness.judging.exits import of_claims
from tests.harness.claims.judging import (
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    PASS,
    outcomes,
    verdict,
)
from tests.rigs.runs.findings import Story


def test_a_pass_says_what_was_judged() -> None:
    assert verdict("election-loses-nothing", Story()).judged == (
        "0 of 21,400 confirmed messages were lost (`lost == 0`)",
        "0 of 21,400 confirmed messages were stranded (`stranded == 0`)",
    )
    assert verdict("mirror-takes-over", Story()).judged == (
        "fault 1: clients were served while the fault was active: yes (served: the cluster as a "
        "whole, 1 queue, 1 publisher) (`available_during_fault == true`)",
    )


def test_a_claim_that_holds_has_no_story() -> None:
    assert {verdict(name, Story()).story for name in ("one-copy", "mirror-takes-over")} == {""}


def test_a_false_precondition_is_not_applicable_and_says_which() -> None:
    one = verdict("election-loses-nothing", Story(synchronised_mirrors_at_fault=0))
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == (
        "fault 1: synchronised mirrors when the fault began: 0; "
        "the claim applies only if this is: at least 1 "
        "(`synchronised_mirrors_at_fault >= 1`)",
    )


def test_an_unknown_precondition_is_inconclusive_even_beside_a_loss() -> None:
    story = Story(synchronised_mirrors_at_fault=None).count("lost", "replicated", 3)
    one = verdict("election-loses-nothing", story)
    assert one.outcome is INCONCLUSIVE
    assert "synchronised_mirrors_at_fault: it was not recorded" in one.not_judged[0]


def test_a_false_precondition_outweighs_an_unknown_one() -> None:
    story = Story(synchronised_mirrors_at_fault=None, confirms=False)
    assert verdict("election-loses-nothing", story).outcome is NOT_APPLICABLE


def test_a_fail_shows_the_trace_of_the_earliest_message() -> None:
    story = Story().count("lost", "replicated", 2)
    story.affect("lost", "replicated", 4711, at=12.7).affect("lost", "replicated", 4702, at=12.4)
    one = verdict("election-loses-nothing", story)
    assert one.outcome is FAIL
    assert one.judged[0] == (
        "2 of 21,400 confirmed messages were lost; the claim allows none (`lost == 0`)"
    )
    assert one.story == (
        "message 4702 of publisher 1 (producer 1 in the raw tables) in orders was first sent at "
        "+12.400 s and confirmed (by all required replicas), never delivered; its queue was "
        "emptied (drained), and it was in no other place that was then read (the audit)"
    )


def test_fail_about_a_window_lists_its_stages_and_known_facts() -> None:
    one = verdict("unnotified-consumer-waits-forever", Story())
    assert one.outcome is FAIL
    assert "first delivery of a new message after 0.161 s" in one.story
    assert "3.10" in one.known


def test_a_warning_says_what_it_predicted_and_what_was_found() -> None:
    one = verdict("unnotified-consumer-waits-forever", Story())
    assert ": yes" in one.judged[0]
    assert "; the warning predicts: no (`consumption_resumes == false`)" in one.judged[0]


def test_loss_with_an_open_upper_bound_is_still_a_fail() -> None:
    story = Story().count("lost", "replicated", 3).count("loss_unknown", "drain", 50)
    story.doubt("loss", "drain", queue="orders")
    assert verdict("election-loses-nothing", story).outcome is FAIL


def test_no_loss_found_where_some_may_be_is_inconclusive() -> None:
    story = Story().count("loss_unknown", "drain", 50).doubt("loss", "drain", queue="orders")
    one = verdict("election-loses-nothing", story)
    assert one.outcome is INCONCLUSIVE
    assert "50 messages are undecided, because orders was not drained" in one.not_judged[0]
    assert one.advice == (
        "see why the queue could not be emptied; if messages kept coming, raise drain_limit",
    )


def test_a_meaningless_condition_stands_beside_an_undecided_one() -> None:
    story = Story(consumers=0).count("loss_unknown", "drain", 50)
    one = verdict("mirrored-queue-works-on", story.doubt("loss", "drain", queue="orders"))
    assert one.outcome is INCONCLUSIVE
    assert one.not_judged[0].startswith("0 of 21,400 confirmed messages were lost; uncertain")
    assert one.not_judged[-1] == (
        "fault 1: not applicable, because the run has no consumer (`consumption_resumes == true`)"
    )


def test_an_unreadable_place_without_run_messages_leaves_loss_judged() -> None:
    story = Story().doubt("loss", "unreadable", queue="orders")
    assert verdict("election-loses-nothing", story).outcome is PASS
    story.count("unreachable", "replicated", 4)
    assert verdict("election-loses-nothing", story).outcome is INCONCLUSIVE


def test_open_publisher_log_matters_only_if_an_outcome_is_open() -> None:
    story = Story().doubt("loss", "publisher_log", worker=1)
    assert verdict("confirmed-is-delivered", story).outcome is PASS
    story.count("lost_indeterminate", "", 2)
    assert verdict("confirmed-is-delivered", story).outcome is INCONCLUSIVE


def test_possible_delivery_to_a_dead_consumer_is_not_certainly_stranded() -> None:
    story = Story().count("stranded", "replicated", 2).doubt("loss", "consumer_log", worker=7)
    assert verdict("election-loses-nothing", story).outcome is INCONCLUSIVE


def test_an_undrained_message_is_not_certainly_stranded() -> None:
    story = Story().count("stranded", "replicated", 2)
    assert verdict("confirmed-is-delivered", story).outcome is FAIL
    one = verdict("confirmed-is-delivered", story.doubt("loss", "drain", queue="orders"))
    assert one.outcome is INCONCLUSIVE
    assert one.not_judged[0].startswith(
        "2 of 21,400 confirmed messages were stranded; uncertain, because orders was not drained"
    )


def test_undrained_queue_leaves_stranded_messages_of_another_queue_stranded() -> None:
    story = Story().count("stranded", "replicated", 2).doubt("loss", "drain", queue="bills")
    assert verdict("confirmed-is-delivered", story).outcome is FAIL


def test_in_a_run_in_doubt_no_warning_comes_true() -> None:
    story = Story(no_ack=True, acknowledges=False).count("lost", "replicated", 3)
    assert verdict("no-ack-loses", story).outcome is PASS
    one = verdict("no-ack-loses", story.doubt("run", "causality"))
    assert one.outcome is INCONCLUSIVE
    assert "before it was sent" in one.not_judged[0]
    assert verdict("no-ack-loses", story.unverified("no probe saw it")).outcome is INCONCLUSIVE


def test_an_open_consumer_log_leaves_counts_of_deliveries_open() -> None:
    story = Story().doubt("loss", "consumer_log", worker=7)
    assert verdict("nothing-corrupt", story).outcome is INCONCLUSIVE
    assert verdict("nothing-corrupt", story.count("corrupt", "payload", 1)).outcome is FAIL


def test_an_ambiguous_duplicate_leaves_open_whether_anything_is_stored_twice() -> None:
    assert verdict("one-copy", Story()).outcome is PASS
    story = Story().count("duplicated", "ambiguous", 2)
    assert verdict("one-copy", story).outcome is INCONCLUSIVE
    story.count("duplicated", "stored_twice", 1)
    assert verdict("one-copy", story).outcome is FAIL


@pytest.mark.parametrize(("out_s", "outcome"), [(15, FAIL), (2.15, FAIL), (2.14, INCONCLUSIVE)])
def test_a_stall_of_140_ms_only_lengthens_an_outage(out_s: float, outcome: ClaimOutcome) -> None:
    story = Story().service("out").doubt("availability", "stalled", window=1, worker=1)
    key = (1, "run", "", "fault")
    story.services[key] = replace(story.services[key], worst_ns=round(out_s * 1e9))
    takes_over = verdict("mirror-takes-over", story)
    assert takes_over.outcome is outcome
    stalled = "publisher 1 stalled 140 ms, 0.3 s after the fault began (host busy)" in "".join(
        takes_over.not_judged
    )
    assert stalled is (outcome is INCONCLUSIVE)
    assert verdict("election-loses-nothing", story).outcome is PASS


@pytest.mark.parametrize(("late_s", "outcome"), [(1.9, PASS), (2.0, INCONCLUSIVE)])
def test_a_stall_of_a_deadline_leaves_open_what_seems_served(
    late_s: float, outcome: ClaimOutcome
) -> None:
    story = Story().doubt("availability", "stalled", window=1, worker=1, late_s=late_s)
    assert verdict("mirror-takes-over", story).outcome is outcome


def test_an_open_log_leaves_open_what_seems_out() -> None:
    story = Story().service("out").doubt("availability", "publisher_log", window=1, worker=1)
    assert verdict("mirror-takes-over", story).outcome is INCONCLUSIVE


def test_a_stall_cannot_invent_a_delivery() -> None:
    story = Story().doubt("availability", "stalled", window=1, worker=1)
    assert verdict("unnotified-consumer-waits-forever", story).outcome is FAIL
    story.silent_consumer()
    assert verdict("unnotified-consumer-waits-forever", story).outcome is INCONCLUSIVE


def test_availability_is_unknown_without_publishers() -> None:
    story = Story().doubt("availability", "publishers_absent", window=1)
    takes_over = verdict("mirror-takes-over", story)
    assert takes_over.outcome is INCONCLUSIVE
    assert "a fault kept all publishers away" in takes_over.not_judged[0]
    assert verdict("election-loses-nothing", story).outcome is PASS


def test_without_consumers_only_what_they_would_have_got_is_unknown() -> None:
    story = Story().doubt("availability", "consumers_absent", window=1).silent_consumer()
    assert verdict("mirror-takes-over", story).outcome is PASS
    assert verdict("unnotified-consumer-waits-forever", story).outcome is INCONCLUSIVE


def test_stall_in_another_window_is_no_reason_for_this_one() -> None:
    story = Story().doubt("availability", "stalled", window=0, worker=1)
    assert verdict("mirror-takes-over", story).outcome is PASS


def test_an_unverified_fault_leaves_nothing_but_proved_violations() -> None:
    story = Story().unverified("not verified active: the process runs")
    assert set(outcomes(story).values()) == {INCONCLUSIVE, NOT_APPLICABLE}
    one = verdict("mirror-takes-over", story)
    assert "fault 1: not verified active: the process runs" in one.not_judged[0]
    assert "fault 1: fault 1" not in one.not_judged[0]
    story.count("lost", "replicated", 1)
    assert verdict("confirmed-is-delivered", story).outcome is FAIL
    assert verdict("election-loses-nothing", story).outcome is INCONCLUSIVE


def test_a_clock_problem_is_a_doubt_about_the_whole_run() -> None:
    story = Story().doubt("run", "clock")
    story.facts = replace(story.facts, clock_problem="the machine was suspended for 3.0 s")
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is INCONCLUSIVE
    assert "suspended for 3.0 s" in one.not_judged[0]


def test_at_rate_max_there_is_no_service_to_judge() -> None:
    story = Story()
    story.facts = replace(story.facts, paced=False)
    story.services.clear()
    story.exposed(due=0, sent=2_000)
    one = verdict("mirror-takes-over", story)
    assert one.outcome is NOT_APPLICABLE
    assert "rate is max" in one.not_judged[0]
    assert verdict("mirrored-queue-works-on", story).outcome is NOT_APPLICABLE
    story.count("lost", "replicated", 1)
    assert verdict("mirrored-queue-works-on", story).outcome is FAIL


def test_without_confirms_no_claim_of_loss_passes() -> None:
    story = Story().count("state", "acknowledged", 0).count("state", "not_sent", 9)
    one = verdict("confirmed-is-delivered", story)
    assert one.outcome is INCONCLUSIVE
    assert "no message was confirmed" in one.not_judged[0]


def test_a_run_without_any_message_passes_nothing() -> None:
    story = Story()
    story.counts.clear()
    assert PASS not in outcomes(story.steady()).values()


def test_faultless_run_judges_claims_that_need_no_fault() -> None:
    found = outcomes(Story().steady())
    assert found["confirmed-is-delivered"] is PASS
    assert found["confirmed-is-on-disk"] is NOT_APPLICABLE
    assert found["mirror-takes-over"] is NOT_APPLICABLE


def test_without_deliveries_order_is_unknown() -> None:
    story = Story()
    story.without("in_order")
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is INCONCLUSIVE
    assert "nothing was delivered" in one.not_judged[0]


def test_order_that_was_not_promised_is_not_applicable() -> None:
    story = Story().count("not_judged", "not_promised", 21_400)
    story.without("in_order")
    assert verdict("queue-is-first-in-first-out", story).outcome is NOT_APPLICABLE
    story.count("not_judged", "redelivered", 3)
    assert verdict("queue-is-first-in-first-out", story).outcome is INCONCLUSIVE


def test_heaviest_window_gives_the_reason_and_the_others_are_omitted() -> None:
    story = Story(clients_reached_another=True).window(2, "hang", opens=40, lasts=10)
    story.state["windows"] = {"2": {"fault_target_role": "none"}}
    assert verdict("mirror-takes-over", story).judged[0].startswith("fault 1:")
    assert verdict("any-node-reaches-any-queue", story).judged[0].startswith("fault 2:")
    story.service("out", window=2)
    assert verdict("any-node-reaches-any-queue", story).outcome is FAIL
    assert verdict("mirror-takes-over", story).outcome is PASS


def test_roles_at_the_first_fault_do_not_describe_the_second() -> None:
    story = Story().window(2, "kill", opens=40, lasts=10)
    assert verdict("mirror-takes-over", story).outcome is INCONCLUSIVE


def test_the_heaviest_outcome_wins() -> None:
    assert worst([PASS, NOT_APPLICABLE]) is PASS
    assert worst([PASS, INCONCLUSIVE]) is INCONCLUSIVE
    assert worst([INCONCLUSIVE, FAIL, PASS]) is FAIL
    assert worst([]) is NOT_APPLICABLE


def over(claim: str, *stories: Story) -> ClaimOutcome:
    return over_runs(verdict(claim, story) for story in stories)


def test_promise_over_several_runs_takes_the_worst_result() -> None:
    assert over("mirror-takes-over", Story(), Story().service("out", ended="undo")) is FAIL


def test_a_warning_came_true_where_it_did_in_one_run() -> None:
    true, untrue = Story().silent_consumer(), Story()
    unknown = Story().few(due=5).consumption(False, scope="consumer", name="7", due=3)
    assert over("unnotified-consumer-waits-forever", untrue, true, untrue) is PASS
    assert over("unnotified-consumer-waits-forever", untrue, untrue) is FAIL
    assert over("unnotified-consumer-waits-forever") is NOT_APPLICABLE
    assert verdict("unnotified-consumer-waits-forever", unknown).outcome is not PASS


def test_one_example_proves_a_claim_about_some_cases() -> None:
    losing = {"acknowledges": False, "no_ack": True}
    harmed, whole = Story(**losing).count("lost", "replicated", 3), Story(**losing)
    assert over("no-ack-loses", whole, harmed) is PASS
    assert over("no-ack-loses", whole, whole) is INCONCLUSIVE


def _run(*outcomes: ClaimOutcome, warns: bool = False, some: bool = False) -> list[ClaimVerdict]:
    return [ClaimVerdict("c", outcome, "", "", "", warns=warns, some=some) for outcome in outcomes]


def _warned(*outcomes: ClaimOutcome) -> list[ClaimVerdict]:
    """One promise was kept, and these became of warnings."""
    return _run(PASS) + _run(*outcomes, warns=True)


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        ([_run(PASS, NOT_APPLICABLE)], 0),
        ([_run(PASS), _run(FAIL, INCONCLUSIVE)], 1),
        ([_run(PASS), _run(INCONCLUSIVE)], 2),
        ([_run(PASS), _run(NOT_APPLICABLE)], 2),
        ([_run(PASS), []], 2),
        ([_run(FAIL), []], 1),
        ([], 2),
        ([_warned(FAIL)], 0),
        ([_warned(INCONCLUSIVE)], 0),
        ([_run(PASS) + _run(INCONCLUSIVE, some=True)], 0),
        ([_run(PASS, warns=True)], 2),
        ([_run(NOT_APPLICABLE) + _run(FAIL, warns=True)], 2),
        ([_run(FAIL) + _run(PASS, warns=True)], 1),
    ],
)
def test_promises_alone_set_the_exit_code(runs: list[list[ClaimVerdict]], code: int) -> None:
    assert of_claims(runs) == code
