"""Surplus deliveries, and where each is from."""

import pytest

from spark_analysis.definition.judge import judge
from spark_analysis.schema.words import Redelivered, Via
from tests.histories import History, affected, counts, ns

YES, NO, NOT_TOLD = Redelivered.YES, Redelivered.NO, Redelivered.NOT_TOLD
NANOSECOND_MS = 0.000001


def duplicated(history: History, queue: str = "orders") -> dict[str, int]:
    return dict(counts(judge(*history.build()), "duplicated", queue=queue))


def delivered_at_100() -> History:
    return History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5)


def test_a_first_delivery_is_no_duplicate_whatever_its_flag() -> None:
    assert duplicated(History().publish(1).confirm(1).deliver(1, redelivered=YES)) == {}


def test_what_the_audit_finds_of_a_delivered_message_is_no_duplicate() -> None:
    assert duplicated(delivered_at_100().deliver(1, via=Via.AUDIT)) == {}


def test_what_the_audit_finds_before_the_first_delivery_makes_that_no_duplicate() -> None:
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


def test_a_duplicate_of_a_message_nobody_confirmed_is_a_duplicate() -> None:
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


def test_a_retry_that_arrives_first_makes_the_first_attempt_the_surplus() -> None:
    history = History().publish(1).publish(1, attempt=2)
    history.deliver(1, at_ms=90, attempt=1).deliver(1, at_ms=80, attempt=2)
    assert affected(judge(*history.build()), "duplicated") == [("publisher_retry", 1, 1, ns(90))]


def test_the_second_copy_of_a_retry_is_not_a_retry_again() -> None:
    history = delivered_at_100().publish(1, attempt=2)
    history.deliver(1, attempt=2).deliver(1, attempt=2)
    assert duplicated(history) == {
        "duplicated publisher_retry": 1,
        "duplicated stored_twice": 1,
    }


def test_an_attempt_that_only_the_audit_had_seen_is_still_a_retry() -> None:
    history = History().publish(1).publish(1, attempt=2).deliver(1, attempt=2, via=Via.AUDIT)
    history.deliver(1).deliver(1, attempt=2)
    assert duplicated(history) == {"duplicated publisher_retry": 1}


def test_a_retry_stays_a_retry_while_two_masters_live() -> None:
    history = delivered_at_100().rivals(150, 250).publish(1, attempt=2)
    assert duplicated(history.deliver(1, at_ms=200, attempt=2)) == {
        "duplicated publisher_retry": 1
    }


@pytest.mark.parametrize("at_ms", [150, 200, 250])
@pytest.mark.parametrize("flag", [YES, NO, NOT_TOLD])
def test_a_duplicate_while_two_masters_lived_is_diverged(at_ms: float, flag: Redelivered) -> None:
    history = delivered_at_100().rivals(150, 250).deliver(1, at_ms=at_ms, redelivered=flag)
    assert duplicated(history) == {"duplicated diverged": 1}


@pytest.mark.parametrize("at_ms", [150 - NANOSECOND_MS, 250 + NANOSECOND_MS])
def test_a_duplicate_before_or_after_two_masters_lived_did_not_diverge(at_ms: float) -> None:
    history = delivered_at_100().rivals(150, 250).deliver(1, at_ms=at_ms)
    assert duplicated(history) == {"duplicated stored_twice": 1}


def test_two_masters_of_another_queue_explain_nothing() -> None:
    history = delivered_at_100().rivals(150, 250, queue="bills").deliver(1, at_ms=200)
    assert duplicated(history) == {"duplicated stored_twice": 1}


@pytest.mark.parametrize("flag", [YES, NO])
def test_a_duplicate_with_an_offset_is_ambiguous(flag: Redelivered) -> None:
    history = delivered_at_100().deliver(1, offset=0, redelivered=flag)
    assert duplicated(history) == {"duplicated ambiguous": 1}


def test_a_duplicate_without_a_flag_is_ambiguous() -> None:
    history = delivered_at_100().deliver(1, redelivered=NOT_TOLD)
    assert duplicated(history) == {"duplicated ambiguous": 1}


def test_the_flag_that_counts_is_that_of_the_surplus_delivery() -> None:
    history = History().publish(1).deliver(1, redelivered=NOT_TOLD, offset=3).deliver(1)
    assert duplicated(history) == {"duplicated stored_twice": 1}


def test_a_flagged_duplicate_of_what_we_never_acknowledged_is_the_brokers_right() -> None:
    history = delivered_at_100().deliver(1, at_ms=5_000, redelivered=YES)
    assert duplicated(history) == {"duplicated redelivery": 1}


def acknowledged_at_200(**frame: int) -> History:
    """Delivered by tag 5 at 100 ms and acknowledged at 200 ms."""
    return delivered_at_100().acknowledge(5, at_ms=200, **frame)


def again_at(history: History, at_ms: float, **delivery: int) -> dict[str, int]:
    return duplicated(history.deliver(1, at_ms=at_ms, redelivered=YES, connection=2, **delivery))


AFTER_ACK = {"duplicated redelivery_after_ack": 1}
REDELIVERY = {"duplicated redelivery": 1}


def test_a_redelivery_over_a_second_after_our_acknowledgement_came_after_it() -> None:
    history = acknowledged_at_200().deliver(1, at_ms=1_201, redelivered=YES, connection=2)
    findings = judge(*history.build())
    assert counts(findings, "duplicated") == AFTER_ACK
    assert affected(findings, "duplicated") == [("redelivery_after_ack", 1, 1, ns(1_201))]


def test_our_acknowledgement_must_be_over_a_second_old() -> None:
    assert again_at(acknowledged_at_200(), 1_200) == REDELIVERY
    assert again_at(acknowledged_at_200(), 1_200 + NANOSECOND_MS) == AFTER_ACK


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


def test_a_frame_finds_its_tag_among_those_that_came_out_of_order() -> None:
    history = History().publish(1).publish(2).deliver(2, at_ms=110, tag=5)
    history.deliver(1, at_ms=100, tag=16).acknowledge(16, at_ms=200)
    assert again_at(history, 5_000) == AFTER_ACK


def test_of_several_frames_that_cover_a_tag_the_earliest_counts() -> None:
    history = delivered_at_100().acknowledge(1, 9, at_ms=4_900).acknowledge(1, 9, at_ms=200)
    assert again_at(history, 5_000) == AFTER_ACK


@pytest.mark.parametrize("elsewhere", [{"consumer": 3}, {"connection": 3}])
def test_an_acknowledgement_elsewhere_acknowledges_nothing_here(elsewhere: dict[str, int]) -> None:
    assert again_at(acknowledged_at_200(**elsewhere), 5_000) == REDELIVERY


@pytest.mark.parametrize("kind", ["lost", "closed"])
def test_an_acknowledgement_on_a_connection_that_ended_may_not_have_arrived(kind: str) -> None:
    history = acknowledged_at_200().client_event(kind, at_ms=5_000)
    assert again_at(history, 5_000) == REDELIVERY


def test_a_connection_that_ended_after_the_redelivery_had_lived_on() -> None:
    history = acknowledged_at_200().client_event("lost", at_ms=5_000 + NANOSECOND_MS)
    assert again_at(history, 5_000) == AFTER_ACK


def test_the_first_end_of_a_connection_counts() -> None:
    history = acknowledged_at_200().client_event("closed", at_ms=6_000)
    history.client_event("lost", at_ms=300)
    assert again_at(history, 5_000) == REDELIVERY


def test_what_else_happens_to_a_connection_does_not_end_it() -> None:
    assert again_at(acknowledged_at_200().client_event("blocked", at_ms=300), 5_000) == AFTER_ACK


@pytest.mark.parametrize("elsewhere", [{"worker": 3}, {"connection": 3}])
def test_the_end_of_another_connection_ends_nothing_here(elsewhere: dict[str, int]) -> None:
    history = acknowledged_at_200().client_event("lost", at_ms=300, **elsewhere)
    assert again_at(history, 5_000) == AFTER_ACK


def test_an_acknowledgement_of_another_attempt_is_none_of_this_one() -> None:
    history = History().publish(1).publish(1, attempt=2)
    history.deliver(1, at_ms=100, tag=5).acknowledge(5, at_ms=200)
    history.deliver(1, at_ms=300, attempt=2)
    history.deliver(1, at_ms=5_000, attempt=2, redelivered=YES)
    assert duplicated(history) == {
        "duplicated publisher_retry": 1,
        "duplicated redelivery": 1,
    }


def test_an_acknowledgement_of_a_later_attempt_is_none_of_this_one() -> None:
    history = History().publish(1).publish(1, attempt=2)
    history.deliver(1, at_ms=100, attempt=2, tag=5).acknowledge(5, at_ms=200)
    history.deliver(1, at_ms=300)
    history.deliver(1, at_ms=5_000, redelivered=YES)
    assert duplicated(history) == {
        "duplicated publisher_retry": 1,
        "duplicated redelivery": 1,
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


def test_a_tag_acknowledged_on_a_connection_that_ended_is_not_saved_by_another_one() -> None:
    history = acknowledged_at_200().client_event("lost", at_ms=300)
    history.deliver(1, at_ms=400, redelivered=YES, connection=2)
    assert again_at(history, 5_000) == {"duplicated redelivery": 2}


def test_an_acknowledgement_of_what_the_audit_found_is_none() -> None:
    history = History().publish(1).deliver(1, at_ms=50, via=Via.AUDIT, consumer=3, tag=5)
    history.acknowledge(5, at_ms=60, consumer=3).deliver(1, at_ms=100)
    assert again_at(history, 5_000) == REDELIVERY


@pytest.mark.parametrize("later", [{"consumer": 3}, {"connection": 2}, {"tag": 6}])
def test_of_deliveries_at_one_time_the_smaller_consumer_connection_and_tag_was_first(
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
