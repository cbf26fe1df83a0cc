"""Counts as claims lean on them: how much was looked at, and how much more there may be."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome, judge
from harness.claims.values import Interval
from harness.view.observations import observe
from spark_analysis.schema.facts import ConsumerGroup, GroupQueue, QueueEnd
from tests.harness.claims.judging import (
    CLAIMS,
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    PASS,
    verdict,
)
from tests.harness.claims.stories_of_majorities import STREAM
from tests.rigs.runs.findings import Story


def of_two_groups() -> Story:
    story, names = Story(), ("a", "b")
    story.facts = replace(
        story.facts,
        queues=tuple(QueueEnd(f"orders-{name}", True, True, "", ()) for name in names),
        consumer_groups=tuple(
            ConsumerGroup(name, (GroupQueue(f"orders-{name}", "orders"),), ()) for name in names
        ),
    )
    return story


def confirmed(number: int, **state: object) -> Story:
    return Story(**state).count("state", "acknowledged", number)


@pytest.mark.parametrize(
    ("number", "planned", "outcome"),
    [
        (99, None, INCONCLUSIVE),
        (100, None, PASS),
        (30, 30, PASS),  # a scenario that sends few on purpose: all of them
        (29, 30, INCONCLUSIVE),
        (99, 500, INCONCLUSIVE),
    ],
)
def test_no_loss_needs_a_hundred_confirms_or_all_intended_messages(
    number: int, planned: int | None, outcome: ClaimOutcome
) -> None:
    """Prove "no loss" by a hundred confirmed messages or by all that were intended."""
    story = confirmed(number, messages=planned)
    assert verdict("confirmed-is-delivered", story).outcome is outcome
    story.count("lost", "replicated", 1)
    assert verdict("confirmed-is-delivered", story).outcome is FAIL


@pytest.mark.parametrize(
    ("came", "planned", "outcome"),
    [
        (99, None, INCONCLUSIVE),
        (100, None, PASS),
        (30, 30, PASS),  # all that the scenario means to delay
        (29, 30, INCONCLUSIVE),
    ],
)
def test_all_of_few_intended_delays_are_needed_for_a_proof(
    came: int, planned: int | None, outcome: ClaimOutcome
) -> None:
    story = Story(delayed_messages=planned).count("delayed", "", 500)
    story.count("could_show", "early", came)
    assert verdict("nothing-early", story).outcome is outcome


def test_too_few_say_how_many_there_were() -> None:
    one = verdict("confirmed-is-delivered", confirmed(99))
    assert one.not_judged[0] == (
        "0 of 99 confirmed messages were lost; uncertain, because there were only 99 confirmed "
        "messages, and 100 are needed (`lost == 0`)"
    )


def test_a_count_of_few_is_reported_as_what_it_is() -> None:
    texts = {one.name: one.text for one in observe(confirmed(9).evidence)}
    assert texts["lost"] == "lost 0 of 9"


@pytest.mark.parametrize(
    ("in_order", "not_certain", "outcome"),
    [(500, 500, PASS), (499, 501, INCONCLUSIVE), (99, 0, INCONCLUSIVE), (100, 0, PASS)],
)
def test_order_is_held_where_half_of_what_came_was_judged(
    in_order: int, not_certain: int, outcome: ClaimOutcome
) -> None:
    story = Story().count("in_order", "", in_order).count("not_judged", "not_certain", not_certain)
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is outcome
    if not_certain > in_order:
        assert "only 499 of 1,000 deliveries could be judged for order" in one.not_judged[0]
    story.count("reordered", "", 1)
    assert verdict("queue-is-first-in-first-out", story).outcome is FAIL


def test_messages_without_an_order_do_not_count_towards_the_half() -> None:
    story = Story().count("in_order", "", 500).count("not_judged", "not_promised", 9_000)
    assert verdict("queue-is-first-in-first-out", story).outcome is PASS
    story.count("not_judged", "not_promised", 0).count("not_judged", "not_at_once", 9_000)
    assert verdict("queue-is-first-in-first-out", story).outcome is PASS


def test_a_message_without_a_bound_queue_is_not_certainly_lost() -> None:
    story = Story().count("lost", "unrouted_possible", 4)
    one = verdict("confirmed-is-delivered", story)
    assert one.outcome is INCONCLUSIVE
    why = "4 were confirmed though perhaps no queue received them"
    assert why in one.not_judged[0]
    assert one.advice == ("publish with mandatory = true",)
    story.count("lost", "replicated", 1)
    assert verdict("confirmed-is-delivered", story).outcome is FAIL


def test_unrouted_copies_and_unrouted_losses_beside_undecided_ones_prove_nothing() -> None:
    story = confirmed(200).count("could_show", "attempt_lost", 2)
    story.count("attempt_lost", "unrouted_possible", 2)
    assert verdict("confirmed-copy-is-kept", story).outcome is INCONCLUSIVE
    story.count("attempt_lost", "replicated", 1)
    assert verdict("confirmed-copy-is-kept", story).outcome is FAIL
    story = confirmed(200).count("lost", "unrouted_possible", 2).count("unreachable", "", 1)
    assert verdict("confirmed-is-delivered", story).outcome is INCONCLUSIVE
    story.count("lost", "replicated", 1)
    assert verdict("confirmed-is-delivered", story).outcome is FAIL


@pytest.mark.parametrize(
    ("windows", "low", "high"),
    [("1", 1, 5), ("1,2", 1, 5), ("2", 1, 1)],
)
def test_another_faults_unrouted_losses_do_not_lower_the_certain_ones(
    windows: str, low: int, high: int
) -> None:
    story = Story(faults=2, windows={"2": {}}).window(2, "kill", opens=40, lasts=5)
    story.count("lost", "replicated", 1, windows="1")
    story.count("lost", "unrouted_possible", 4, windows=windows)
    value = story.evidence.value("lost", among=frozenset({1}))
    assert isinstance(value, Interval)
    assert (value.low, value.high) == (low, high)


@pytest.mark.parametrize(
    ("windows", "low", "high"),
    [("1", 2, 2), ("", 0, 0), ("2", 0, 0), ("1,2", 0, 2)],
)
def test_early_deliveries_count_for_the_faults_that_may_have_caused_them(
    windows: str, low: int, high: int
) -> None:
    story = Story(faults=2, windows={"2": {}}).window(2, "kill", opens=40, lasts=5)
    story.count("delayed", "", 700).count("could_show", "early", 700)
    story.count("early", "", 2, windows=windows)
    value = story.evidence.value("early", among=frozenset({1}))
    assert isinstance(value, Interval)
    assert (value.low, value.high) == (low, high)


def test_marts_that_do_not_attribute_a_measure_count_every_case() -> None:
    """Older ones did not attribute what came early."""
    story = Story().count("delayed", "", 700).count("could_show", "early", 700)
    story.count("early", "", 2)
    counted = replace(story.evidence.counted, attributions=())
    value = counted.value("early", "", frozenset({1}))
    assert isinstance(value, Interval)
    assert (value.low, value.high) == (2, 2)


@pytest.mark.parametrize(("rolled_back", "outcome"), [(29, INCONCLUSIVE), (30, PASS), (100, PASS)])
def test_planned_rollbacks_are_what_commits_and_checks_leave(
    rolled_back: int, outcome: ClaimOutcome
) -> None:
    planned = {"messages_in_transactions": 90, "messages_to_commit": 40, "messages_to_check": 20}
    story = Story(**planned).count("transactions", "rollback", 500)
    story.count("could_show", "rolled_back_but_delivered", rolled_back)
    assert verdict("rolled-back-stays-unseen", story).outcome is outcome


def test_few_messages_do_not_prove_that_none_is_stored_twice() -> None:
    few = Story().count("in_order", "", 99)
    one = verdict("one-copy", few)
    assert one.outcome is INCONCLUSIVE
    assert "there were only 99" in one.not_judged[0]


def test_order_observations_include_the_unknown_ones() -> None:
    story = Story().count("reordered", "", 2).count("reorder_unknown", "", 5)
    texts = {one.name: one.text for one in observe(story.evidence)}
    assert "2 of 21,407" in texts["reordered"]


@pytest.mark.parametrize(
    ("measure", "detail", "outcome"),
    [
        ("duplicated", "redelivery", PASS),
        ("acknowledged_late", "", NOT_APPLICABLE),  # perhaps it had to be redelivered
        ("duplicated", "publisher_retry", NOT_APPLICABLE),
        ("duplicated", "redelivery_after_ack", NOT_APPLICABLE),
    ],
)
def test_only_legitimate_redeliveries_show_a_requeue(
    measure: str, detail: str, outcome: ClaimOutcome
) -> None:
    claim = "duplicates-are-requeued"
    assert verdict(claim, Story()).outcome is NOT_APPLICABLE
    assert verdict(claim, Story().count(measure, detail, 1)).outcome is outcome
    not_redelivered = Story().count("not_redelivered", "", 1)
    assert verdict(claim, not_redelivered).outcome is FAIL, "what is proved needs nothing besides"


def test_redelivery_caused_by_another_fault_shows_no_requeue() -> None:
    story = Story().window(2, "close", opens=40, lasts=5)
    story.count("duplicated", "redelivery", 1, windows="2")
    assert verdict("duplicates-are-requeued", story).outcome is NOT_APPLICABLE


def test_with_one_queue_nothing_can_be_misrouted() -> None:
    one = verdict("nothing-misrouted", Story())
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == (
        "not applicable, because with one queue nothing could be misrouted (`misrouted == 0`)",
    )
    assert verdict("nothing-misrouted", Story().queue("")).outcome is NOT_APPLICABLE
    assert verdict("nothing-misrouted", Story().queue("bills")).outcome is PASS


def test_with_one_queue_misrouting_is_impossible_despite_incomplete_logs() -> None:
    def of(queues: int) -> Story:
        story = Story().doubt("loss", "consumer_log", worker=7)
        return story.queue("bills") if queues > 1 else story

    assert verdict("nothing-misrouted", of(1)).outcome is NOT_APPLICABLE
    assert verdict("nothing-misrouted", of(2)).outcome is INCONCLUSIVE


def test_a_misrouted_message_counts_even_with_one_declared_queue() -> None:
    assert verdict("nothing-misrouted", Story().count("misrouted", "", 1)).outcome is FAIL


def test_logs_have_no_redelivery_by_connection() -> None:
    def of_log() -> Story:
        return Story().starved(0.1, place="a:0")

    one = verdict("held-is-not-redelivered", of_log())
    assert one.outcome is NOT_APPLICABLE
    assert "a log delivers by the progress of groups" in one.not_judged[0]
    assert verdict("held-is-not-redelivered", Story().starved(0.1)).outcome is PASS
    for other in ("nothing-corrupt", "one-copy"):
        assert verdict(other, of_log()).outcome is PASS
    broken = of_log().count("duplicated", "redelivered_without_cause", 1)
    assert verdict("held-is-not-redelivered", broken).outcome is FAIL, (
        "it is on record all the same"
    )


# --- what no message of the run could have shown -------------------------------------------------

OPPORTUNITIES = [
    ("confirmed-copy-is-kept", "attempt_lost", "no confirmed message was sent again"),
    (
        "unacknowledged-is-redelivered",
        "not_redelivered",
        "no connection held an unacknowledged message when it ended",
    ),
]
EACH = pytest.mark.parametrize(("claim", "measure", "why"), OPPORTUNITIES)


@EACH
def test_one_message_that_could_have_shown_it_is_enough(
    claim: str, measure: str, why: str
) -> None:
    assert verdict(claim, Story().count("could_show", measure, 1)).outcome is PASS
    one = verdict(claim, Story().count("could_show", measure, 0))
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == (f"not applicable, because {why} (`{measure} == 0`)",)


@EACH
def test_one_message_is_not_enough_where_too_little_was_judged(
    claim: str, measure: str, why: str
) -> None:
    few = Story().count("state", "acknowledged", 99).count("in_order", "", 99)
    assert verdict(claim, few.count("could_show", measure, 1)).outcome is INCONCLUSIVE


@EACH
def test_a_violation_counts_though_no_message_could_have_shown_it(
    claim: str, measure: str, why: str
) -> None:
    broken = Story().count("could_show", measure, 0).count(measure, "", 1)
    assert verdict(claim, broken).outcome is FAIL


@pytest.mark.parametrize(
    ("claim", "measure", "log", "outcome"),
    [
        ("confirmed-copy-is-kept", "attempt_lost", "publisher_log", INCONCLUSIVE),
        ("confirmed-copy-is-kept", "attempt_lost", "consumer_log", NOT_APPLICABLE),
        ("unacknowledged-is-redelivered", "not_redelivered", "publisher_log", INCONCLUSIVE),
        ("unacknowledged-is-redelivered", "not_redelivered", "consumer_log", INCONCLUSIVE),
    ],
)
def test_an_open_log_may_hide_a_message_that_could_have_shown_it(
    claim: str, measure: str, log: str, outcome: ClaimOutcome
) -> None:
    story = Story().doubt("loss", log, worker=7).count("could_show", measure, 0)
    one = verdict(claim, story)
    assert one.outcome is outcome
    if outcome is INCONCLUSIVE:
        assert "does not reach the end of the run" in one.not_judged[0]


@EACH
def test_marts_without_the_count_leave_the_verdict_as_it_was(
    claim: str, measure: str, why: str
) -> None:
    evidence = Story().count("could_show", measure, 0).evidence
    old = replace(evidence, uncounted=frozenset({measure}))
    one = judge(CLAIMS[claim], old)
    assert one.outcome is PASS


@pytest.mark.parametrize(
    ("closed", "outcome"), [(True, ClaimOutcome.FAIL), (False, ClaimOutcome.INCONCLUSIVE)]
)
@pytest.mark.parametrize("detail", ["redelivery", "offset_rollback"])
def test_an_open_log_excuses_reading_from_before(
    detail: str, closed: bool, outcome: ClaimOutcome
) -> None:
    """A drain goes on where the dead consumer last reported, before what its log holds."""
    story = Story(**STREAM).count("duplicated", detail, 40)  # type: ignore[arg-type]
    if not closed:
        story = story.doubt("loss", "consumer_log", worker=7)
    assert verdict("reading-begins-at-the-offset", story).outcome is outcome


def test_a_history_without_ends_of_connections_may_hide_what_was_held() -> None:
    evidence = Story().count("could_show", "not_redelivered", 0).evidence
    without_events = replace(evidence, unshown={"not_redelivered": "no client event is on record"})
    one = judge(CLAIMS["unacknowledged-is-redelivered"], without_events)
    assert one.outcome is INCONCLUSIVE
    assert "no client event is on record" in one.not_judged[0]


def test_a_claim_names_what_it_allows_and_what_it_cannot_judge() -> None:
    late = verdict("acknowledged-is-not-redelivered", Story().count("acknowledged_late", "", 2))
    assert "(2 more were acknowledged less than 1 s before the redelivery," in late.judged[0]
    certain = Story().count("not_judged", "not_certain", 1).count("not_judged", "not_at_once", 4)
    order = verdict("queue-is-first-in-first-out", certain)
    assert "(1 more could not be judged for order)" in order.judged[0]


def test_a_claim_about_windows_has_evidence_of_its_own() -> None:
    story = Story().count("could_show", "not_redelivered", 0).count("acknowledged_late", "", 1)
    one = verdict("duplicates-are-requeued", story)
    assert one.outcome is NOT_APPLICABLE
    why = "no redelivered message was certainly unacknowledged: the acknowledgement of 1 perhaps"
    assert why in one.not_judged[0]
    both = verdict("duplicates-are-requeued", story.count("duplicated", "redelivery", 3))
    assert both.outcome is PASS
    assert both.judged[1] == (
        "fault 1: an unacknowledged message was redelivered: yes (redelivered: 3 not "
        "acknowledged, 1 whose acknowledgement perhaps came too late) (`redelivered == true`)"
    )
    assert verdict("unacknowledged-is-redelivered", story).outcome is NOT_APPLICABLE


@pytest.mark.parametrize("copies", [0, 3])
def test_a_second_copy_may_be_the_clients_own_if_it_resends(copies: int) -> None:
    story = confirmed(200).count("state", "delivered", 200)
    if copies:
        story.count("duplicated", "stored_twice", copies)
    own = replace(story.evidence, resends="lib may send a message again by itself: it must")
    one = judge(CLAIMS["one-copy"], own)
    assert one.outcome is NOT_APPLICABLE
    assert "lib may send a message again by itself" in one.not_judged[0]
    by_broker = FAIL if copies else PASS
    assert verdict("one-copy", story).outcome is by_broker


def test_each_of_two_groups_had_to_get_every_confirmed_message() -> None:
    texts = {one.name: one.text for one in observe(of_two_groups().evidence)}
    assert texts["lost"] == "lost 0 of 21,400 × 2 groups"


def test_nothing_is_misrouted_between_the_groups_of_one_queue() -> None:
    story = of_two_groups().count("in_order", "", 21_400)
    one = verdict("nothing-misrouted", story)
    assert one.outcome is NOT_APPLICABLE
    assert "publishers send to one destination" in one.not_judged[0]


def in_order_of_two_groups(of_a: int, of_b: int) -> Story:
    story = of_two_groups().without("in_order")
    for queue, number in (("orders-a", of_a), ("orders-b", of_b)):
        story.count_in(queue, "in_order", "", number)
    return story


@pytest.mark.parametrize(
    ("of_a", "of_b", "outcome"),
    [(100, 100, PASS), (9_000, 99, INCONCLUSIVE), (0, 9_000, INCONCLUSIVE)],
)
def test_each_of_two_groups_needs_a_hundred_deliveries(
    of_a: int, of_b: int, outcome: ClaimOutcome
) -> None:
    story = in_order_of_two_groups(of_a, of_b)
    for claim in ("queue-is-first-in-first-out", "one-copy"):
        assert verdict(claim, story).outcome is outcome, claim


def test_too_few_of_one_group_are_named_with_the_group() -> None:
    (why, *_) = verdict("one-copy", in_order_of_two_groups(9_000, 99)).not_judged
    assert "there were only 99 delivered messages in group b, and 100 are needed" in why


def test_each_group_needs_half_of_its_deliveries_judged_for_order() -> None:
    story = in_order_of_two_groups(9_000, 200)
    story.count_in("orders-b", "not_judged", "not_certain", 201)
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is INCONCLUSIVE
    assert "only 200 of 401 deliveries in group b could be judged for order" in one.not_judged[0]


@pytest.mark.parametrize(("of_b", "outcome"), [(100, PASS), (99, INCONCLUSIVE)])
def test_each_of_two_groups_needs_a_hundred_delayed_messages(
    of_b: int, outcome: ClaimOutcome
) -> None:
    story = of_two_groups().count("delayed", "", 500)
    story.count_in("orders-a", "could_show", "early", 500)
    story.count_in("orders-b", "could_show", "early", of_b)
    assert verdict("nothing-early", story).outcome is outcome


def test_a_count_of_a_fault_stands_beside_that_of_the_run() -> None:
    story = Story().count("in_order", "", 900).count("reordered", "", 297, windows="1")
    story.count("reordered", "", 74, windows="")
    counted = story.evidence.counted
    text = "297 of 1,271 (attributed to fault 1; 371 in the run)"
    assert str(counted.value("reordered", "", frozenset({1}))) == text
    assert str(counted.value("reordered", "")) == "371 of 1,271"
    alone = Story().count("in_order", "", 900).count("reordered", "", 297, windows="1")
    assert str(alone.evidence.counted.value("reordered", "", frozenset({1}))) == "297 of 1,197"
