"""Duplicate deliveries, and the source of each."""

import pytest

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, affected, counts, ns
from tests.rigs.histories.ways import Via

YES, NO, NOT_REPORTED = Redelivered.YES, Redelivered.NO, Redelivered.NOT_REPORTED
NANOSECOND_MS = 0.000001


def duplicated(history: History, queue: str = "orders") -> dict[str, int]:
    return dict(counts(judge(*history.build()), "duplicated", queue=queue))


def delivered_at_100() -> History:
    return History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5)


def test_a_first_delivery_is_no_duplicate_whatever_its_flag() -> None:
    assert duplicated(History().publish(1).confirm(1).deliver(1, redelivered=YES)) == {}


def test_an_audit_copy_of_a_delivered_message_is_no_duplicate() -> None:
    assert duplicated(delivered_at_100().deliver(1, via=Via.AUDIT)) == {}


def test_an_audit_before_the_first_delivery_makes_no_duplicate() -> None:
    history = History().publish(1).deliver(1, at_ms=50, via=Via.AUDIT).deliver(1, at_ms=60)
    assert duplicated(history) == {}


def test_an_unflagged_second_delivery_was_stored_twice() -> None:
    findings = judge(*delivered_at_100().deliver(1, at_ms=200).build())
    assert counts(findings, "duplicated") == {"duplicated stored_twice": 1}
    assert affected(findings, "duplicated") == [("stored_twice", 1, 1, ns(200))]


def test_an_unidentified_second_delivery_is_no_duplicate() -> None:
    history = delivered_at_100().deliver(1, run_ok=False)
    assert duplicated(history) == {}


def test_each_surplus_delivery_counts_even_in_the_drain() -> None:
    history = delivered_at_100().deliver(1).deliver(1, via=Via.DRAIN)
    assert duplicated(history) == {"duplicated stored_twice": 2}


def test_a_duplicate_of_an_unconfirmed_message_is_a_duplicate() -> None:
    assert duplicated(History().publish(1).deliver(1).deliver(1)) == {"duplicated stored_twice": 1}


def test_a_duplicate_is_counted_in_the_queue_of_its_message() -> None:
    history = delivered_at_100().deliver(1, queue="bills")
    assert duplicated(history) == {"duplicated stored_twice": 1}
    assert duplicated(history, queue="bills") == {}


def test_a_second_delivery_of_another_attempt_is_our_own_retry() -> None:
    history = delivered_at_100().publish(1, attempt=2).deliver(1, at_ms=200, attempt=2)
    findings = judge(*history.build())
    assert counts(findings, "duplicated") == {"duplicated publisher_retry": 1}
    assert affected(findings, "duplicated") == [("publisher_retry", 1, 2, ns(200))]


def test_a_retry_that_arrives_first_makes_the_first_attempt_duplicate() -> None:
    history = History().publish(1).publish(1, attempt=2)
    history.deliver(1, at_ms=90, attempt=1).deliver(1, at_ms=80, attempt=2)
    assert affected(judge(*history.build()), "duplicated") == [("publisher_retry", 1, 1, ns(90))]


def test_a_second_copy_of_a_retry_is_no_further_retry() -> None:
    history = delivered_at_100().publish(1, attempt=2)
    history.deliver(1, attempt=2).deliver(1, attempt=2)
    assert duplicated(history) == {
        "duplicated publisher_retry": 1,
        "duplicated stored_twice": 1,
    }


def test_an_attempt_seen_only_by_the_audit_is_a_retry() -> None:
    history = History().publish(1).publish(1, attempt=2).deliver(1, attempt=2, via=Via.AUDIT)
    history.deliver(1).deliver(1, attempt=2)
    assert duplicated(history) == {"duplicated publisher_retry": 1}


def test_a_retry_stays_a_retry_while_two_masters_live() -> None:
    history = delivered_at_100().competing_leaders(150, 250).publish(1, attempt=2)
    assert duplicated(history.deliver(1, at_ms=200, attempt=2)) == {
        "duplicated publisher_retry": 1
    }


@pytest.mark.parametrize("at_ms", [150, 200, 250])
@pytest.mark.parametrize(("flag", "kind"), [(NO, "diverged"), (NOT_REPORTED, "ambiguous")])
def test_an_unflagged_duplicate_while_two_masters_lived_is_diverged(
    at_ms: float, flag: Redelivered, kind: str
) -> None:
    history = (
        delivered_at_100().competing_leaders(150, 250).deliver(1, at_ms=at_ms, redelivered=flag)
    )
    assert duplicated(history) == {f"duplicated {kind}": 1}


@pytest.mark.parametrize("at_ms", [150, 200, 250])
def test_a_rightful_redelivery_stays_one_though_two_masters_lived(at_ms: float) -> None:
    history = (
        delivered_at_100().competing_leaders(150, 250).deliver(1, at_ms=at_ms, redelivered=YES)
    )
    assert duplicated(history) == {"duplicated redelivery": 1}


def test_a_redelivery_after_ack_under_competing_leaders_is_diverged() -> None:
    history = delivered_at_100().acknowledge(5, at_ms=200).competing_leaders(4_000, 5_000)
    assert duplicated(history.deliver(1, at_ms=5_000, redelivered=YES)) == {
        "duplicated diverged": 1
    }
    later = delivered_at_100().acknowledge(5, at_ms=200).competing_leaders(4_000, 5_000)
    later.deliver(1, at_ms=5_000 + NANOSECOND_MS, redelivered=YES)
    assert duplicated(later) == {"duplicated redelivery_after_ack": 1}


@pytest.mark.parametrize("flag", [YES, NO, NOT_REPORTED])
def test_a_duplicate_by_the_retry_topic_is_a_redelivery(flag: Redelivered) -> None:
    history = delivered_at_100().competing_leaders(4_000, 5_000)
    history.deliver(1, at_ms=5_000, redelivered=flag, via=Via.RETRY_TOPIC)
    assert duplicated(history) == {"duplicated redelivery": 1}


def test_after_a_retry_topic_delivery_later_copies_are_duplicates() -> None:
    history = History().publish(1).deliver(1, via=Via.RETRY_TOPIC).deliver(1)
    assert duplicated(history) == {"duplicated stored_twice": 1}


@pytest.mark.parametrize("at_ms", [150 - NANOSECOND_MS, 250 + NANOSECOND_MS])
def test_a_duplicate_outside_competing_leaderships_is_not_diverged(at_ms: float) -> None:
    history = delivered_at_100().competing_leaders(150, 250).deliver(1, at_ms=at_ms)
    assert duplicated(history) == {"duplicated stored_twice": 1}


def test_two_masters_of_another_queue_explain_nothing() -> None:
    history = delivered_at_100().competing_leaders(150, 250, queue="bills").deliver(1, at_ms=200)
    assert duplicated(history) == {"duplicated stored_twice": 1}


@pytest.mark.parametrize("flag", [YES, NO, NOT_REPORTED])
def test_a_duplicate_with_an_offset_and_no_broker_is_ambiguous(flag: Redelivered) -> None:
    history = delivered_at_100().deliver(1, offset=0, redelivered=flag)
    assert duplicated(history) == {"duplicated ambiguous": 1}


def test_a_duplicate_without_a_flag_is_ambiguous() -> None:
    history = delivered_at_100().deliver(1, redelivered=NOT_REPORTED)
    assert duplicated(history) == {"duplicated ambiguous": 1}


def test_the_flag_that_counts_is_that_of_the_surplus_delivery() -> None:
    history = History().publish(1).deliver(1, redelivered=NOT_REPORTED, offset=3).deliver(1)
    assert duplicated(history) == {"duplicated stored_twice": 1}


# --- unflagged, and a fault in between -----------------------------------------------------------

AMBIGUOUS = {"duplicated ambiguous": 1}
STORED_TWICE = {"duplicated stored_twice": 1}


def unflagged_at_200(history: History) -> dict[str, int]:
    return duplicated(history.deliver(1, at_ms=200))


def test_an_unflagged_copy_after_a_fault_is_ambiguous() -> None:
    """A new master may deliver unflagged what the old one delivered."""
    findings = judge(*delivered_at_100().window(150).deliver(1, at_ms=200).build())
    assert counts(findings, "duplicated") == AMBIGUOUS
    assert affected(findings, "duplicated") == [("ambiguous", 1, 1, ns(200))]


@pytest.mark.parametrize("over_ms", [100, 150, 200, 300, None])
def test_a_fault_active_at_the_first_copy_makes_duplicates_ambiguous(
    over_ms: float | None,
) -> None:
    assert unflagged_at_200(delivered_at_100().window(50, over_ms=over_ms)) == AMBIGUOUS


def test_a_fault_over_before_the_first_copy_explains_nothing() -> None:
    history = delivered_at_100().window(50, over_ms=100 - NANOSECOND_MS)
    assert unflagged_at_200(history) == STORED_TWICE


def test_an_older_record_leaves_the_end_of_a_fault_unknown() -> None:
    facts, rows = delivered_at_100().window(50, over_ms=60).deliver(1, at_ms=200).build()
    assert counts(judge(facts, rows), "duplicated") == STORED_TWICE
    written = facts.to_json()
    del written["windows"][0]["over_ns"]
    assert counts(judge(Facts.from_json(written), rows), "duplicated") == AMBIGUOUS


def test_that_a_fault_was_undone_does_not_make_it_over() -> None:
    history = delivered_at_100().window(50, ended_ms=60, over_ms=150)
    assert unflagged_at_200(history) == AMBIGUOUS


def test_a_fault_that_came_after_the_second_copy_explains_nothing() -> None:
    assert unflagged_at_200(delivered_at_100().window(200)) == STORED_TWICE
    assert unflagged_at_200(delivered_at_100().window(200 - NANOSECOND_MS)) == AMBIGUOUS


def test_one_of_several_faults_in_between_is_enough() -> None:
    early, late = {"at_ms": 10, "over_ms": 20}, {"at_ms": 300, "over_ms": 400}
    assert unflagged_at_200(delivered_at_100().window(**early).window(**late)) == STORED_TWICE
    history = delivered_at_100().window(**early).window(150, over_ms=160).window(**late)
    assert unflagged_at_200(history) == AMBIGUOUS


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze", "hang", "partition"])
@pytest.mark.parametrize("seen", [True, False])
def test_any_fault_makes_it_ambiguous_seen_to_hold_or_not(kind: str, seen: bool) -> None:
    history = delivered_at_100().window(150, kind=kind, verified=seen, gone=seen)
    assert unflagged_at_200(history) == AMBIGUOUS


def test_two_copies_after_the_same_fault_are_stored_twice() -> None:
    history = delivered_at_100().window(150, over_ms=160)
    history.deliver(1, at_ms=200, redelivered=YES).deliver(1, at_ms=300)
    assert duplicated(history) == {"duplicated redelivery": 1} | STORED_TWICE


def test_a_copy_is_compared_with_its_attempts_latest_one() -> None:
    history = delivered_at_100().publish(1, attempt=2, at_ms=110).window(150, over_ms=160)
    history.deliver(1, at_ms=170, attempt=2).deliver(1, at_ms=200)
    assert duplicated(history) == {"duplicated publisher_retry": 1} | AMBIGUOUS


def test_a_retry_across_a_fault_is_a_retry() -> None:
    history = delivered_at_100().publish(1, attempt=2).window(150)
    assert duplicated(history.deliver(1, at_ms=200, attempt=2)) == {
        "duplicated publisher_retry": 1
    }


def test_a_flagged_copy_across_a_fault_is_a_redelivery() -> None:
    history = delivered_at_100().window(150).deliver(1, at_ms=200, redelivered=YES)
    assert duplicated(history) == {"duplicated redelivery": 1}


def test_a_copy_under_competing_leaders_is_diverged_despite_other_faults() -> None:
    assert unflagged_at_200(delivered_at_100().competing_leaders(150, 250).window(150)) == {
        "duplicated diverged": 1
    }


# --- flagged, and what we had acknowledged -------------------------------------------------------


def test_a_flagged_duplicate_without_acknowledgement_is_a_valid_redelivery() -> None:
    history = delivered_at_100().deliver(1, at_ms=5_000, redelivered=YES)
    assert duplicated(history) == {"duplicated redelivery": 1}


def acknowledged_at_200(**frame: int) -> History:
    """Delivered by tag 5 at 100 ms and acknowledged at 200 ms."""
    return delivered_at_100().acknowledge(5, at_ms=200, **frame)


def again_at(history: History, at_ms: float, **delivery: int) -> dict[str, int]:
    return duplicated(history.deliver(1, at_ms=at_ms, redelivered=YES, connection=2, **delivery))


AFTER_ACK = {"duplicated redelivery_after_ack": 1}
REDELIVERY = {"duplicated redelivery": 1}
TOO_LATE = {"duplicated ambiguous": 1}  # Our acknowledgement may not have arrived.


def test_a_redelivery_over_a_second_after_ack_is_a_violation() -> None:
    history = acknowledged_at_200().deliver(1, at_ms=1_201, redelivered=YES, connection=2)
    findings = judge(*history.build())
    assert counts(findings, "duplicated") == AFTER_ACK
    assert affected(findings, "duplicated") == [("redelivery_after_ack", 1, 1, ns(1_201))]


def test_our_acknowledgement_must_be_a_second_old() -> None:
    assert again_at(acknowledged_at_200(), 1_200 - NANOSECOND_MS) == TOO_LATE
    assert again_at(acknowledged_at_200(), 1_200) == AFTER_ACK


def test_a_redelivery_before_our_acknowledgement_is_valid() -> None:
    assert again_at(acknowledged_at_200(), 200) == REDELIVERY
    assert again_at(acknowledged_at_200(), 200 + NANOSECOND_MS) == TOO_LATE


def test_late_acknowledgements_are_counted_on_their_own_too() -> None:
    history = acknowledged_at_200().window(1_000)
    findings = judge(*history.deliver(1, at_ms=5_000, redelivered=YES, connection=2).build())
    assert counts(findings, "acknowledged_late") == {"acknowledged_late": 1}
    assert counts(findings, "duplicated") == TOO_LATE


@pytest.mark.parametrize(
    ("first_tag", "last_tag", "expected"),
    [
        (1, 5, AFTER_ACK),
        (5, 9, AFTER_ACK),
        (1, 9, AFTER_ACK),
        (1, 4, REDELIVERY),
        (6, 9, REDELIVERY),
    ],
)
def test_a_frame_acknowledges_the_tags_it_covers(
    first_tag: int, last_tag: int, expected: dict[str, int]
) -> None:
    history = delivered_at_100().acknowledge(first_tag, last_tag, at_ms=200)
    assert again_at(history, 5_000) == expected


def test_a_frame_that_ends_before_it_begins_acknowledges_nothing() -> None:
    history = delivered_at_100().publish(2).deliver(2, tag=7)
    assert again_at(history.acknowledge(7, 5, at_ms=200), 5_000) == REDELIVERY
    assert again_at(delivered_at_100().acknowledge(9, 1, at_ms=200), 5_000) == REDELIVERY


def test_an_acknowledgement_frame_matches_tags_delivered_out_of_order() -> None:
    history = History().publish(1).publish(2).deliver(2, at_ms=110, tag=5)
    history.deliver(1, at_ms=100, tag=16).acknowledge(16, at_ms=200)
    assert again_at(history, 5_000) == AFTER_ACK


def test_the_earliest_acknowledgement_of_a_tag_counts() -> None:
    history = delivered_at_100().acknowledge(1, 9, at_ms=4_900).acknowledge(1, 9, at_ms=200)
    assert again_at(history, 5_000) == AFTER_ACK


@pytest.mark.parametrize("elsewhere", [{"consumer": 3}, {"connection": 3}])
def test_an_acknowledgement_elsewhere_acknowledges_nothing_here(elsewhere: dict[str, int]) -> None:
    assert again_at(acknowledged_at_200(**elsewhere), 5_000) == REDELIVERY


@pytest.mark.parametrize("kind", ["lost", "closed"])
def test_an_acknowledgement_that_its_connection_outlived_by_a_second_arrived(kind: str) -> None:
    shortly = acknowledged_at_200().client_event(kind, at_ms=1_200 - NANOSECOND_MS)
    assert again_at(shortly, 5_000) == TOO_LATE
    longer = acknowledged_at_200().client_event(kind, at_ms=1_200)
    assert again_at(longer, 5_000) == AFTER_ACK


def test_a_duplicate_counts_whichever_way_it_arrives() -> None:
    history = acknowledged_at_200().client_event("closed", at_ms=65_000)
    assert again_at(history, 70_000, via=Via.DRAIN, consumer=9) == AFTER_ACK


@pytest.mark.parametrize("flag", [YES, NO, NOT_REPORTED])
def test_the_retry_topic_is_a_delivery_like_any_other(flag: Redelivered) -> None:
    def by_retry_topic(ended_ms: float) -> dict[str, int]:
        history = acknowledged_at_200().client_event("lost", at_ms=ended_ms)
        history.deliver(1, at_ms=5_000, redelivered=flag, via=Via.RETRY_TOPIC)
        return duplicated(history)

    assert by_retry_topic(1_200) == AFTER_ACK
    assert by_retry_topic(1_200 - NANOSECOND_MS) == TOO_LATE


@pytest.mark.parametrize("flag", [NO, NOT_REPORTED])
def test_an_unflagged_copy_after_a_later_fault_is_a_redelivery(flag: Redelivered) -> None:
    def after(opens_ms: float) -> dict[str, int]:
        history = acknowledged_at_200().window(opens_ms)
        return duplicated(history.deliver(1, at_ms=5_000, redelivered=flag, connection=2))

    assert after(1_200) == AFTER_ACK
    assert after(1_200 - NANOSECOND_MS) == AMBIGUOUS


@pytest.mark.parametrize(
    ("at_ms", "found"), [(1_200 - NANOSECOND_MS, TOO_LATE), (1_200, AFTER_ACK)]
)
def test_without_redelivered_flags_our_acknowledgements_decide(
    at_ms: float, found: dict[str, int]
) -> None:
    history = acknowledged_at_200().deliver(1, at_ms=at_ms, redelivered=NOT_REPORTED)
    assert duplicated(history) == found


def test_an_unflagged_copy_in_steady_state_is_stored_twice() -> None:
    assert duplicated(acknowledged_at_200().deliver(1, at_ms=5_000)) == STORED_TWICE


def test_an_unflagged_message_was_not_acknowledged_too_late() -> None:
    history = acknowledged_at_200().window(1_000).deliver(1, at_ms=5_000)
    assert counts(judge(*history.build()), "acknowledged_late") == {}


def test_a_connection_that_ended_after_the_redelivery_had_lived_on() -> None:
    history = acknowledged_at_200().client_event("lost", at_ms=5_000 + NANOSECOND_MS)
    assert again_at(history, 5_000) == AFTER_ACK


def test_the_first_end_of_a_connection_counts() -> None:
    history = acknowledged_at_200().client_event("closed", at_ms=6_000)
    history.client_event("lost", at_ms=300)
    assert again_at(history, 5_000) == TOO_LATE


def test_a_blocked_connection_has_not_ended() -> None:
    assert again_at(acknowledged_at_200().client_event("blocked", at_ms=300), 5_000) == AFTER_ACK


@pytest.mark.parametrize("elsewhere", [{"worker": 3}, {"connection": 3}])
def test_the_end_of_another_connection_ends_nothing_here(elsewhere: dict[str, int]) -> None:
    history = acknowledged_at_200().client_event("lost", at_ms=300, **elsewhere)
    assert again_at(history, 5_000) == AFTER_ACK


# --- our acknowledgement, and a fault on its way -------------------------------------------------


def test_an_acknowledgement_lost_with_the_master_excuses_its_successor() -> None:
    history = acknowledged_at_200().window(300, returned_ms=310, ended_ms=20_300, kind="freeze")
    assert again_at(history, 11_900) == TOO_LATE


def test_an_acknowledgement_must_precede_the_fault_by_a_second() -> None:
    assert again_at(acknowledged_at_200().window(1_200 - NANOSECOND_MS), 11_900) == TOO_LATE
    assert again_at(acknowledged_at_200().window(1_200), 11_900) == AFTER_ACK


def test_an_acknowledgement_without_a_master_proves_nothing() -> None:
    history = delivered_at_100().window(150, over_ms=12_000).acknowledge(5, at_ms=5_000)
    assert again_at(history, 11_900) == TOO_LATE
    assert again_at(history, 60_000) == {"duplicated ambiguous": 2}


def test_a_fault_after_the_redelivery_excuses_nothing() -> None:
    assert again_at(acknowledged_at_200().window(5_000), 5_000) == AFTER_ACK
    history = acknowledged_at_200().window(1_201 - NANOSECOND_MS)
    assert again_at(history, 1_201) == AFTER_ACK


def test_a_fault_over_before_the_first_delivery_excuses_nothing() -> None:
    assert again_at(acknowledged_at_200().window(50, over_ms=100), 5_000) == TOO_LATE
    history = acknowledged_at_200().window(50, over_ms=100 - NANOSECOND_MS)
    assert again_at(history, 5_000) == AFTER_ACK


def test_acknowledging_a_delivery_of_a_fault_later_may_be_useless() -> None:
    history = delivered_at_100().window(50, over_ms=150).acknowledge(5, at_ms=5_000)
    assert again_at(history, 9_000) == TOO_LATE


def test_the_first_fault_after_an_acknowledgement_decides() -> None:
    """Any fault in between may have swallowed the acknowledgement."""
    history = acknowledged_at_200().window(1_000, over_ms=1_500).window(3_000, over_ms=3_500)
    assert again_at(history, 5_000) == TOO_LATE
    history = acknowledged_at_200().window(1_500, over_ms=1_600).window(3_000, over_ms=3_500)
    assert again_at(history, 5_000) == AFTER_ACK


def test_a_late_fault_does_not_outweigh_one_near_the_acknowledgement() -> None:
    history = acknowledged_at_200().window(3_000, over_ms=3_500).window(1_000, over_ms=1_500)
    assert again_at(history, 5_000) == TOO_LATE


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze", "hang", "partition"])
@pytest.mark.parametrize("seen", [True, False])
def test_any_fault_may_swallow_an_acknowledgement_even_an_unverified_one(
    kind: str, seen: bool
) -> None:
    history = acknowledged_at_200().window(300, over_ms=400, kind=kind, verified=seen, gone=seen)
    assert again_at(history, 5_000) == TOO_LATE


def test_one_acknowledged_delivery_after_the_fault_is_enough() -> None:
    history = acknowledged_at_200().window(300, over_ms=400)
    history.deliver(1, at_ms=500, redelivered=YES, connection=2, tag=7)
    history.acknowledge(7, at_ms=510, connection=2)
    history.deliver(1, at_ms=5_000, redelivered=YES, connection=2)
    assert duplicated(history) == TOO_LATE | AFTER_ACK


def test_one_delivery_acknowledged_long_before_the_fault_is_enough() -> None:
    history = acknowledged_at_200().deliver(1, at_ms=300, redelivered=YES, connection=2, tag=7)
    history.acknowledge(7, at_ms=4_500, connection=2).window(5_000)
    assert again_at(history, 9_000) == TOO_LATE | AFTER_ACK


# --- whose acknowledgement -----------------------------------------------------------------------


def test_an_acknowledgement_of_another_attempt_is_none_of_this_one() -> None:
    history = History().publish(1).publish(1, attempt=2)
    history.client_event("consuming", at_ms=1)
    history.deliver(1, at_ms=100, tag=5).acknowledge(5, at_ms=200)
    history.deliver(1, at_ms=300, attempt=2)
    history.deliver(1, at_ms=5_000, attempt=2, redelivered=YES)
    assert duplicated(history) == {
        "duplicated publisher_retry": 1,
        "duplicated redelivered_without_cause": 1,
    }


def test_an_acknowledgement_of_a_later_attempt_does_not_count() -> None:
    history = History().publish(1).publish(1, attempt=2)
    history.client_event("consuming", at_ms=1)
    history.deliver(1, at_ms=100, attempt=2, tag=5).acknowledge(5, at_ms=200)
    history.deliver(1, at_ms=300)
    history.deliver(1, at_ms=5_000, redelivered=YES)
    assert duplicated(history) == {
        "duplicated publisher_retry": 1,
        "duplicated redelivered_without_cause": 1,
    }


def test_any_earlier_delivery_may_be_the_one_that_was_acknowledged() -> None:
    history = delivered_at_100().client_event("lost", at_ms=150)
    history.deliver(1, at_ms=200, redelivered=YES, connection=2, tag=7)
    history.acknowledge(7, at_ms=210, connection=2)
    history.deliver(1, at_ms=5_000, redelivered=YES, connection=3)
    assert duplicated(history) == REDELIVERY | AFTER_ACK


def test_a_redelivery_is_no_earlier_delivery_of_itself() -> None:
    history = History().publish(1).deliver(1, at_ms=100, connection=2, tag=5)
    history.acknowledge(1, 9, at_ms=200)
    history.deliver(1, at_ms=5_000, redelivered=YES, connection=1, tag=7)
    assert duplicated(history) == REDELIVERY


def test_another_connection_does_not_confirm_a_lost_connections_acknowledgement() -> None:
    history = acknowledged_at_200().client_event("lost", at_ms=300)
    history.deliver(1, at_ms=400, redelivered=YES, connection=2)
    assert again_at(history, 5_000) == {"duplicated ambiguous": 2}


def test_an_acknowledgement_of_what_the_audit_found_is_none() -> None:
    history = History().publish(1).deliver(1, at_ms=50, via=Via.AUDIT, consumer=3, tag=5)
    history.acknowledge(5, at_ms=60, consumer=3).deliver(1, at_ms=100)
    assert again_at(history, 5_000) == REDELIVERY


@pytest.mark.parametrize("later", [{"consumer": 3}, {"connection": 2}, {"tag": 6}])
def test_simultaneous_deliveries_are_ordered_by_consumer_connection_and_tag(
    later: dict[str, int],
) -> None:
    place = {"consumer": 2, "connection": 1, "tag": 5}
    history = History().publish(1).publish(1, attempt=2)
    history.deliver(1, at_ms=50, attempt=2, **{**place, **later}).deliver(1, at_ms=50, **place)
    assert affected(judge(*history.build()), "duplicated") == [("publisher_retry", 1, 2, ns(50))]


def test_delivery_order_is_not_row_order() -> None:
    facts, rows = delivered_at_100().deliver(1, at_ms=200, redelivered=YES).build()
    backwards = {table: list(reversed(of_table)) for table, of_table in rows.items()}
    assert judge(facts, backwards) == judge(facts, rows)
