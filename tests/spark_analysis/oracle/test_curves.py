"""What a page draws beside seconds: what counts as a latency, and when whose sends failed."""

from spark_analysis.schema.curves import SLICES_MAX, Latency, Sending, slice_length_s
from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import PUBLISHER, History, ns


def latencies(story: History) -> tuple[Latency, ...]:
    return judge(*story.build()).latencies


def one(second: int, p50_ms: float, p99_ms: float, messages: int) -> tuple[Latency, ...]:
    return (Latency("run", second, ns(p50_ms), ns(p99_ms), messages),)


def test_latency_counts_from_the_intended_time_in_its_own_second() -> None:
    story = History().publish(1, at_ms=1_900, intended_ms=900).confirm(1, at_ms=2_100)
    assert latencies(story) == one(0, 1_200, 1_200, 1)


def test_the_first_confirm_of_any_attempt_ends_it() -> None:
    story = History().publish(1, at_ms=0).settle(1, Outcome.UNKNOWN, at_ms=5)
    story.publish(1, at_ms=10, attempt=2).publish(1, at_ms=20, attempt=3)
    story.confirm(1, at_ms=90, attempt=3).confirm(1, at_ms=40, attempt=2)
    assert latencies(story) == one(0, 40, 40, 1)


def test_unconfirmed_messages_have_no_latency() -> None:
    story = History().publish(1, at_ms=0).not_sent(2, intended_ms=1)
    story.publish(3, at_ms=2).settle(3, Outcome.REFUSED, at_ms=3)
    assert latencies(story) == ()


def test_at_rate_max_it_counts_from_the_first_sending() -> None:
    story = History(paced=False).publish(1, at_ms=3).publish(1, at_ms=9, attempt=2)
    story.confirm(1, at_ms=13, attempt=2)
    assert latencies(story) == one(0, 10, 10, 1)


def test_percentiles_are_values_that_were_measured() -> None:
    story = History()
    for number in range(100):
        story.publish(number, at_ms=number).confirm(number, at_ms=2 * number + 1)
    assert latencies(story) == one(0, 50, 99, 100)


def test_two_producers_with_the_same_sequence_are_two_messages() -> None:
    story = History().publish(1, at_ms=0).publish(1, at_ms=0, producer=9)
    story.confirm(1, at_ms=4).confirm(1, at_ms=8, producer=9)
    assert latencies(story) == one(0, 4, 8, 2)


def test_canaries_are_left_out() -> None:
    story = History().publish(1, at_ms=0, producer=-1).confirm(1, at_ms=4, producer=-1)
    assert latencies(story) == ()


def test_slices_of_a_long_run_span_several_seconds() -> None:
    story = History(load_ms=(0, 400_000))
    for number in range(400):
        story.publish(number, at_ms=1_000 * number).confirm(number, at_ms=1_000 * number + number)
    found = latencies(story)
    assert [row.second for row in found] == [*range(0, 400, 5)]
    assert found[1] == Latency("run", 5, ns(7), ns(9), 5)


def test_a_longer_run_has_longer_slices_and_not_more() -> None:
    for span_s in (1, 179, 180, 1_000, 40_000, 10_000_000):
        length_s = slice_length_s([5, 4 + span_s])
        assert span_s // length_s + 1 <= SLICES_MAX, (span_s, length_s)
    assert slice_length_s([]) == 1


def test_without_confirms_there_is_neither() -> None:
    found = judge(*History(confirms=False).publish(1).build())
    assert (found.latencies, found.sending) == ((), ())


def test_failed_sends_are_counted_by_second() -> None:
    story = History().publish(1, at_ms=100).settle(1, Outcome.UNKNOWN).confirm(1)
    story.publish(2, at_ms=200).settle(2, Outcome.UNKNOWN)
    story.publish(2, attempt=2, at_ms=1_300).confirm(2, attempt=2)
    story.publish(3, at_ms=1_400)  # It was not settled.
    story.not_sent(4, intended_ms=9_000)
    assert judge(*story.build()).sending == (
        Sending("run", PUBLISHER, 0, 2, 1),
        Sending("run", PUBLISHER, 1, 2, 0),
    )
