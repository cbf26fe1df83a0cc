"""How long queues kept consumers waiting in calm times, and once faults were healed."""

import pytest

from spark_analysis.schema.service import Starvation
from spark_analysis.schema.words import Fate, Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.ways import Via

NANOSECOND_MS = 0.000001
OTHER = "refunds"


def rows(history: History, window: int = 0) -> list[Starvation]:
    found = judge(*history.build()).starvation
    return sorted(row for row in found if row.window == window)


def longest(history: History, window: int = 0) -> tuple[float, float]:
    """How long, and since when; of the one queue that has a row. Milliseconds."""
    (row,) = rows(history, window)
    return row.longest_ns / 1e6, row.longest_from_ns / 1e6


def sent(history: History, sequence: int, at_ms: float) -> History:
    """It is confirmed, and so ready, a millisecond later."""
    return history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms + 1)


def test_starvation_lasts_from_the_confirm_to_the_first_delivery() -> None:
    assert longest(sent(History(), 1, 1_000).deliver(1, at_ms=13_000)) == (11_999, 1_001)


def test_messages_delivered_before_their_confirm_never_waited() -> None:
    history = History().publish(1, at_ms=1_000).deliver(1, at_ms=1_002).confirm(1, at_ms=1_005)
    assert longest(history) == (0, 0)


def test_a_message_waits_from_when_a_later_one_overtakes_it() -> None:
    history = sent(History(), 1, 1_000)
    for number in range(2, 12):
        sent(history, number, number * 1_000).deliver(number, at_ms=number * 1_000 + 2)
    assert longest(history.deliver(1, at_ms=13_000)) == (10_998, 2_002)


def test_the_longest_silence_counts_and_then_the_earliest() -> None:
    history = sent(sent(sent(History(), 1, 999), 2, 6_999), 3, 12_999)
    history.deliver(1, at_ms=4_000).deliver(2, at_ms=12_000).deliver(3, at_ms=18_000)
    assert longest(history) == (5_000, 7_000)


@pytest.mark.parametrize(
    ("second_ms", "at_end_ms"),
    [(61_000, 58_999), (60_000, 58_999), (59_000, 1), (1_002, 1)],
)
def test_a_row_says_for_how_long_it_was_silent_at_its_end(
    second_ms: float, at_end_ms: float
) -> None:
    """The load ends at 60 s; the third message waits from a millisecond before that."""
    history = sent(sent(sent(History(), 1, 1_000), 2, 1_000), 3, 59_998)
    history.deliver(1, at_ms=1_001).deliver(2, at_ms=second_ms).deliver(3, at_ms=60_500)
    (row,) = rows(history)
    assert row.silent_at_end_ns == ns(at_end_ms)


def test_nothing_is_silent_at_the_end_if_nothing_waits() -> None:
    (row,) = rows(sent(History(), 1, 1_000).deliver(1, at_ms=13_000))
    assert row.silent_at_end_ns == 0


def test_a_copy_ends_a_silence_but_not_a_messages_wait() -> None:
    history = sent(sent(History(), 1, 1_000), 2, 5_000).deliver(1, at_ms=1_002)
    history.deliver(1, at_ms=9_000, redelivered=Redelivered.YES).deliver(2, at_ms=12_000)
    assert longest(history) == (6_999, 5_001)


def test_a_flagged_first_delivery_was_delivered_before() -> None:
    """The first recipient and time are unknown; so no wait is certain."""
    history = sent(sent(History(), 1, 1_000), 2, 5_000).deliver(1, at_ms=1_002)
    history.deliver(2, at_ms=18_000, redelivered=Redelivered.YES)
    assert [row.due for row in rows(history)] == [1]
    assert longest(history) == (1, 1_001)
    unread = sent(History(), 1, 1_000).deliver(
        1, at_ms=13_000, redelivered=Redelivered.NOT_REPORTED
    )
    assert longest(unread) == (11_999, 1_001)


def test_a_retry_topic_gives_out_and_the_drain_does_not() -> None:
    history = sent(sent(History(), 1, 1_000), 2, 5_000)
    history.deliver(1, at_ms=2_000, via=Via.RETRY_TOPIC).deliver(2, at_ms=70_000, via=Via.DRAIN)
    assert longest(history) == (54_999, 5_001)


def test_each_offset_of_a_log_is_also_checked_alone() -> None:
    history = sent(sent(sent(History(), 1, 1_000), 2, 1_000), 3, 5_000)
    history.deliver(1, at_ms=4_000, place="broker-a/0", offset=0)
    history.deliver(3, at_ms=9_000, place="broker-a/0", offset=1)
    history.deliver(2, at_ms=13_000, place="broker-b/0", offset=0)
    assert [(row.place, row.due, row.longest_ns / 1e6) for row in rows(history)] == [
        ("", 3, 5_000),
        ("broker-a/0", 2, 3_999),
        ("broker-b/0", 1, 11_999),
    ]


@pytest.mark.parametrize(("place", "offset"), [(None, 4), ("broker-a/0", -1)])
def test_a_place_needs_both_an_offset_and_a_broker(place: str | None, offset: int) -> None:
    history = sent(History(), 1, 1_000).deliver(1, at_ms=4_000, place=place, offset=offset)
    assert [row.place for row in rows(history)] == [""]


def test_a_message_delivered_only_by_drain_waited_until_load_end() -> None:
    history = sent(History(), 1, 1_000).deliver(1, at_ms=59_000, via=Via.DRAIN)
    assert longest(history) == (58_999, 1_001)


def test_an_undelivered_message_is_a_loss_and_no_starvation() -> None:
    assert rows(sent(History(), 1, 1_000)) == []


def test_an_unconfirmed_message_causes_no_starvation() -> None:
    assert rows(History().publish(1, at_ms=1_000).deliver(1, at_ms=13_000)) == []


def test_a_delayed_message_waits_from_its_due_time() -> None:
    history = sent(History(), 1, 1_000).terms(1, wait_ms=10_000).deliver(1, at_ms=13_000)
    assert longest(history) == (2_000, 11_000)


def test_a_committed_message_waits_from_its_confirm() -> None:
    history = sent(History(), 1, 1_000).terms(1, fate=Fate.COMMIT).deliver(1, at_ms=13_000)
    assert longest(history) == (11_999, 1_001)


def test_each_queue_has_a_row_of_its_own() -> None:
    history = sent(History(), 1, 1_000).deliver(1, at_ms=1_002).queue(OTHER)
    history.publish(2, at_ms=2_000, queue=OTHER).confirm(2, at_ms=2_001).deliver(2, at_ms=9_000)
    assert [(row.queue, row.longest_ns / 1e6) for row in rows(history)] == [
        ("orders", 1),
        (OTHER, 6_999),
    ]


@pytest.mark.parametrize(("at_ms", "due"), [(58_999, [1]), (58_999 + NANOSECOND_MS, [])])
def test_messages_ready_within_the_last_deadline_are_not_due(at_ms: float, due: list[int]) -> None:
    history = sent(History(), 1, at_ms).deliver(1, at_ms=59_500)
    assert [row.due for row in rows(history)] == due


def test_a_message_ready_five_seconds_before_load_end_is_due() -> None:
    """Use clients with a deadline of 30 s."""
    history = sent(sent(History(deadline_ms=30_000), 1, 54_999), 2, 54_999.5)
    assert [row.due for row in rows(history.deliver(1).deliver(2))] == [1]


def test_the_calm_ends_with_the_first_fault() -> None:
    history = sent(History().window(20_000), 1, 5_000).deliver(1, at_ms=30_000)
    assert longest(history) == (14_999, 5_001)


def test_starvation_after_faults_counts_once_clients_could_return() -> None:
    """Begin a deadline and the clients' time to come back after the fault ended."""
    history = History().window(20_000, gone_ms=30_000)
    sent(sent(history, 1, 5_000), 2, 34_000).deliver(1, at_ms=44_000).deliver(2, at_ms=44_001)
    (row,) = rows(history, 1)
    assert (row.from_ns / 1e6, row.until_ns / 1e6, row.due) == (33_000, 60_000, 1)
    assert longest(history, 1) == (11_000, 33_000)


def test_starvation_after_a_fault_of_unknown_end_has_both_extremes() -> None:
    """The undo had returned at 20 s. Of the later time both rows stand though nothing was due."""
    history = History().window(20_000)
    sent(history, 1, 24_000).deliver(1, at_ms=34_000)
    found = sorted((row.from_ns / 1e6, row.due, row.longest_ns / 1e6) for row in rows(history, 1))
    assert found == [(23_000, 1, 9_999), (28_000, 0, 6_000)]


def test_a_fault_that_was_not_seen_to_end_heals_nothing() -> None:
    history = sent(History().window(20_000, gone=False), 1, 34_000).deliver(1, at_ms=44_000)
    assert rows(history, 1) == []


def test_recovery_is_checked_until_the_next_fault() -> None:
    history = History().window(10_000, gone_ms=12_000).window(30_000)
    assert longest(sent(history, 1, 20_000).deliver(1, at_ms=40_000), 1) == (9_999, 20_001)


def test_without_time_between_two_faults_nothing_is_checked() -> None:
    history = History().window(10_000, gone_ms=12_000).window(15_000)
    assert rows(sent(history, 1, 12_500).deliver(1, at_ms=40_000), 1) == []


def test_without_consumers_or_confirms_there_is_no_starvation() -> None:
    assert rows(sent(History().no_consumer(), 1, 1_000).deliver(1, via=Via.DRAIN)) == []
    assert rows(sent(History(confirms=False), 1, 1_000).deliver(1, at_ms=13_000)) == []
