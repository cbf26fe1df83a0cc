"""Duplicate deliveries of logs, which show where each delivery was read."""

from typing import Any

import pytest

from spark_analysis.schema.words import Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, counts
from tests.rigs.histories.ways import Via

YES, NO, NOT_REPORTED = Redelivered.YES, Redelivered.NO, Redelivered.NOT_REPORTED
NANOSECOND_MS = 0.000001
STORED_TWICE = {"duplicated stored_twice": 1}
AMBIGUOUS = {"duplicated ambiguous": 1}


def duplicated(history: History, queue: str = "orders") -> dict[str, int]:
    return dict(counts(judge(*history.build()), "duplicated", queue=queue))


def delivered_at_100() -> History:
    return History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5)


LOG = "broker-a/3"
REDELIVERY, ROLLBACK = {"duplicated redelivery": 1}, {"duplicated offset_rollback": 1}


def read_at_100() -> History:
    return History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5, **at(7))


def at(offset: int, place: str = LOG) -> dict[str, Any]:
    return {"offset": offset, "place": place}


@pytest.mark.parametrize("flag", [YES, NO, NOT_REPORTED])
def test_an_unacknowledged_message_may_be_read_again(flag: Redelivered) -> None:
    history = read_at_100().deliver(1, at_ms=90_000, redelivered=flag, **at(7))
    assert duplicated(history) == REDELIVERY


def test_the_same_place_long_after_our_acknowledgement_is_a_rollback() -> None:
    history = read_at_100().acknowledge(5, at_ms=200)
    edge = 6_200.0
    assert duplicated(history.deliver(1, at_ms=edge, **at(7))) == REDELIVERY
    assert duplicated(history.deliver(1, at_ms=edge + NANOSECOND_MS, **at(7))) == {
        **REDELIVERY,
        **ROLLBACK,
    }


@pytest.mark.parametrize(("opens_ms", "found"), [(6_200, REDELIVERY), (6_201, ROLLBACK)])
def test_progress_interrupted_by_a_fault_may_be_unreported(
    opens_ms: float, found: dict[str, int]
) -> None:
    history = read_at_100().acknowledge(5, at_ms=200).window(opens_ms, over_ms=8_000)
    assert duplicated(history.deliver(1, at_ms=90_000, **at(7))) == found


def while_a_fault_stood() -> History:
    return read_at_100().window(150, over_ms=80_000).acknowledge(5, at_ms=200)


def news(history: History, at_ms: float, offset: int = 8, **rest: Any) -> History:
    """Another message, from behind what was read of the log so far."""
    return history.publish(2, at_ms=20).confirm(2).deliver(2, at_ms=at_ms, **at(offset), **rest)


def test_progress_during_a_fault_may_not_have_reached_the_broker() -> None:
    assert duplicated(while_a_fault_stood().deliver(1, at_ms=90_000, **at(7))) == REDELIVERY


def test_later_log_entries_prove_reported_progress_during_a_fault() -> None:
    def again(news_ms: float) -> dict[str, int]:
        return duplicated(news(while_a_fault_stood(), news_ms).deliver(1, at_ms=90_000, **at(7)))

    assert again(6_200) == ROLLBACK
    assert again(6_200 - NANOSECOND_MS) == REDELIVERY
    assert again(90_000) == REDELIVERY, "both came at once"


@pytest.mark.parametrize(
    ("offset", "elsewhere"), [(6, {}), (8, {"connection": 2}), (8, {"consumer": 9})]
)
def test_old_or_foreign_entries_do_not_prove_reported_progress(
    offset: int, elsewhere: dict[str, Any]
) -> None:
    history = news(while_a_fault_stood(), 30_000, offset, **elsewhere)
    assert duplicated(history.deliver(1, at_ms=90_000, **at(7))) == REDELIVERY


def test_progress_after_a_fault_was_over_needs_no_news() -> None:
    history = read_at_100().window(150, over_ms=199).acknowledge(5, at_ms=200)
    assert duplicated(history.deliver(1, at_ms=90_000, **at(7))) == ROLLBACK


def test_a_consumer_that_left_may_not_have_reported_progress() -> None:
    history = read_at_100().acknowledge(5, at_ms=200).client_event("closed", at_ms=6_000)
    assert duplicated(history.deliver(1, at_ms=90_000, connection=2, **at(7))) == REDELIVERY


def test_progress_passes_a_place_after_all_earlier_acknowledgements() -> None:
    """The message at 7 was acknowledged at 200 ms, and the one at 6 at 30 s or never."""

    def again(six_ms: float | None) -> dict[str, int]:
        history = read_at_100().acknowledge(5, at_ms=200)
        history.publish(2, at_ms=20).confirm(2).deliver(2, at_ms=101, tag=6, **at(6))
        if six_ms is not None:
            history.acknowledge(6, at_ms=six_ms)
        return duplicated(history.deliver(1, at_ms=36_000, tag=9, **at(7)))

    assert again(None) == REDELIVERY
    assert again(30_000) == REDELIVERY
    assert again(30_000 - NANOSECOND_MS) == ROLLBACK


def test_a_fault_before_all_acknowledgements_precedes_any_progress() -> None:
    history = read_at_100().acknowledge(5, at_ms=200).window(5_000, over_ms=6_000)
    history.publish(2, at_ms=20).confirm(2).deliver(2, at_ms=101, tag=6, **at(6))
    history.acknowledge(6, at_ms=10_000)
    assert duplicated(history.deliver(1, at_ms=36_000, tag=9, **at(7))) == ROLLBACK


@pytest.mark.parametrize(
    "elsewhere", [at(8), at(6, "broker-b/3"), {**at(6), "queue": "bills"}, {"place": LOG}]
)
def test_later_places_and_other_logs_do_not_block_progress(elsewhere: dict[str, Any]) -> None:
    history = read_at_100().acknowledge(5, at_ms=200)
    history.publish(2, at_ms=20).confirm(2).deliver(2, at_ms=101, tag=6, **elsewhere)
    assert duplicated(history.deliver(1, at_ms=36_000, tag=9, **at(7))) == ROLLBACK


def test_a_place_read_twice_is_passed_after_either_acknowledgement() -> None:
    history = read_at_100().deliver(1, at_ms=300, tag=6, **at(7)).acknowledge(6, at_ms=400)
    history.deliver(1, at_ms=36_000, tag=9, **at(7))
    assert duplicated(history) == REDELIVERY | ROLLBACK


def test_an_offset_read_after_an_unreported_one_is_still_passed() -> None:
    history = delivered_at_100().deliver(1, at_ms=150, tag=6, **at(7)).acknowledge(6, at_ms=200)
    history.deliver(1, at_ms=36_000, tag=9, **at(7))
    assert duplicated(history) == AMBIGUOUS | ROLLBACK


def test_a_log_place_under_competing_leaders_may_be_diverged() -> None:
    history = read_at_100().competing_leaders(150, 250)
    assert duplicated(history.deliver(1, at_ms=200, **at(8))) == {"duplicated diverged": 1}
    again = read_at_100().competing_leaders(150, 250)
    assert duplicated(again.deliver(1, at_ms=200, **at(7))) == REDELIVERY


def test_a_retry_topics_copy_has_a_place_of_its_own() -> None:
    history = read_at_100().deliver(1, at_ms=200, via=Via.RETRY_TOPIC, **at(8))
    assert duplicated(history) == REDELIVERY


RETRY = {**at(0, "broker-a/retry/0"), "via": Via.RETRY_TOPIC}
AFTER_ACK = {"duplicated redelivery_after_ack": 1}


@pytest.mark.parametrize(("at_ms", "found"), [(6_200, REDELIVERY), (6_201, AFTER_ACK)])
def test_the_retry_topic_redelivers_nothing_behind_the_progress(
    at_ms: float, found: dict[str, int]
) -> None:
    history = read_at_100().acknowledge(5, at_ms=200)
    assert duplicated(history.deliver(1, at_ms=at_ms, tag=9, **RETRY)) == found


def test_progress_that_was_held_up_forbids_no_retry() -> None:
    history = read_at_100().acknowledge(5, at_ms=200)
    history.publish(2, at_ms=20).confirm(2).deliver(2, at_ms=101, tag=6, **at(6))
    assert duplicated(history.deliver(1, at_ms=36_000, tag=9, **RETRY)) == REDELIVERY


def test_any_of_the_places_that_were_passed_forbids_a_retry() -> None:
    history = read_at_100().deliver(1, at_ms=150, tag=6, **at(0, "broker-b/3"))
    history.acknowledge(6, at_ms=200).deliver(1, at_ms=36_000, tag=9, **RETRY)
    assert duplicated(history) == STORED_TWICE | AFTER_ACK


def test_a_place_without_a_broker_forbids_no_retry() -> None:
    history = History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5, offset=7)
    history.acknowledge(5, at_ms=200).deliver(1, at_ms=36_000, tag=9, **RETRY)
    assert duplicated(history) == REDELIVERY


@pytest.mark.parametrize("place", [at(8), at(7, "broker-b/3")])
def test_another_place_of_a_log_holds_it_a_second_time(place: dict[str, Any]) -> None:
    assert duplicated(read_at_100().deliver(1, at_ms=200, **place)) == STORED_TWICE


def test_an_offset_without_a_broker_is_never_passed() -> None:
    history = History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5, offset=7)
    history.acknowledge(5, at_ms=200).deliver(1, at_ms=36_000, tag=9, offset=7)
    assert duplicated(history) == AMBIGUOUS


def test_a_broker_without_an_offset_is_no_log_place() -> None:
    history = History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5, place=LOG)
    assert duplicated(history.deliver(1, at_ms=200, **at(7))) == AMBIGUOUS


def test_an_unknown_offset_makes_other_offsets_inconclusive() -> None:
    assert duplicated(delivered_at_100().deliver(1, at_ms=200, **at(7))) == AMBIGUOUS
