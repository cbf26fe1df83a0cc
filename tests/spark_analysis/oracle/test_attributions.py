"""Which fault windows may have caused what."""

from dataclasses import replace

import pytest

from spark_analysis.schema.facts import LeadershipChange
from spark_analysis.schema.operation_times import OperationTime
from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, ns
from tests.rigs.histories.ways import Via as Ways

NANOSECOND_MS = 0.000001


def attributed(history: History) -> dict[str, str]:
    """The windows of each measure and detail; each story has one case of each."""
    rows = judge(*history.build()).attributions
    assert all(row.count == 1 for row in rows)
    return {f"{row.measure} {row.detail}".rstrip(): row.windows for row in rows}


def lost(history: History | None = None) -> History:
    """Confirmed at 10 s, and gone; what was confirmed at 11 s came at 11.5 s."""
    history = History() if history is None else history
    history.publish(1, at_ms=9_000).confirm(1, at_ms=10_000)
    history.publish(2, at_ms=10_900).confirm(2, at_ms=11_000)
    return history.deliver(2, at_ms=11_500)


def test_a_loss_in_calm_is_charged_to_no_window() -> None:
    assert attributed(lost()) == {"lost replicated": ""}


@pytest.mark.parametrize(
    ("origin_ms", "over_ms", "windows"),
    [
        (5_000, 10_000, "1"),
        (5_000, 10_000 - NANOSECOND_MS, "0,1"),  # the confirm may have been on its way since 9 s
        (5_000, 9_000, "0,1"),
        (5_000, 9_000 - NANOSECOND_MS, ""),
        (5_000, None, "0,1"),  # it ended at 5 s, and when it was over is unknown
        (12_500, None, "1"),
        (12_500 + NANOSECOND_MS, None, ""),
        (12_000, 12_100, "1"),
    ],
)
def test_a_loss_is_attributed_to_faults_until_its_due_delivery(
    origin_ms: float, over_ms: float | None, windows: str
) -> None:
    """It should have come at 12.5 s: a deadline after what the queue had later came."""
    history = History().window(origin_ms, over_ms=over_ms)
    assert attributed(lost(history)) == {"lost replicated": windows}


@pytest.mark.parametrize(
    ("ended_ms", "windows"),
    [(10_000, "1"), (10_000 - NANOSECOND_MS, "0,1"), (6_000, "0,1")],
)
def test_a_loss_after_the_end_may_need_no_fault(ended_ms: float, windows: str) -> None:
    """If it is unknown when the window was over, it is certain only that it lasted to its end."""
    history = History().window(5_000, ended_ms=ended_ms)
    assert attributed(lost(history)) == {"lost replicated": windows}


def test_a_host_that_never_returns_goes_on_causing() -> None:
    history = History().window(5_000, never_ended=True)
    assert attributed(lost(history)) == {"lost replicated": "1"}


def test_a_loss_may_be_attributed_to_two_windows() -> None:
    history = History().window(10_500, over_ms=10_600).window(12_000).window(13_000)
    assert attributed(lost(history)) == {"lost replicated": "1,2"}


def test_ten_windows_are_in_the_order_of_their_numbers() -> None:
    history = History()
    for _ in range(11):
        history.window(10_500)
    assert attributed(lost(history)) == {"lost replicated": "1,2,3,4,5,6,7,8,9,10,11"}


def test_without_later_deliveries_a_loss_has_no_latest_time() -> None:
    history = History().window(50_000).publish(1, at_ms=9_000).confirm(1)
    assert attributed(history) == {"lost replicated": "1"}
    other = History().window(50_000).queue("bills").publish(1, at_ms=9_000).confirm(1)
    other.publish(2, queue="bills").confirm(2).deliver(2)
    assert attributed(other) == {"lost replicated": "1"}


def test_earlier_deliveries_and_the_drain_do_not_bound_a_loss() -> None:
    history = History().window(50_000).publish(2, at_ms=8_000).confirm(2)
    history.publish(1, at_ms=9_000).confirm(1).deliver(2, at_ms=9_500)
    history.publish(3, at_ms=9_600).confirm(3).deliver(3, at_ms=61_000, via=Via.DRAIN)
    assert attributed(history) == {"lost replicated": "1"}


def test_stranded_and_unreachable_messages_are_attributed_like_losses() -> None:
    history = History().window(12_500).window(13_000)
    assert attributed(lost(history).deliver(1, via=Via.AUDIT)) == {"stranded replicated": "1"}
    unread = lost(History().window(12_500).window(13_000)).queue(unreadable=("rmq2",))
    assert attributed(unread) == {"unreachable replicated": "1"}
    undrained = lost(History().window(12_500).window(13_000)).queue(drained=False)
    assert attributed(undrained) == {"loss_unknown drain": "1"}


def test_a_lost_attempt_is_charged_from_its_own_confirm_on() -> None:
    history = History().window(2_000, over_ms=2_500).window(4_000).window(20_000)
    history.publish(1, at_ms=1_000).confirm(1, at_ms=1_100).deliver(1, at_ms=1_200)
    history.publish(1, at_ms=3_000, attempt=2).confirm(1, at_ms=3_100, attempt=2)
    history.publish(2, at_ms=4_500).confirm(2).deliver(2, at_ms=5_000)
    assert attributed(history) == {"attempt_lost replicated": "2"}


def test_an_unanswered_publish_is_attributed_from_its_sending() -> None:
    history = History().window(8_000, over_ms=9_000).window(12_500).window(13_000)
    history.publish(1, at_ms=9_000).settle(1, Outcome.UNKNOWN, at_ms=10_000)
    history.publish(2, at_ms=10_900).confirm(2, at_ms=11_000).deliver(2, at_ms=11_500)
    assert attributed(history) == {"lost_indeterminate": "1,2"}


def test_a_duplicate_is_attributed_to_faults_since_the_previous_delivery() -> None:
    history = History().window(150, over_ms=160).window(250, over_ms=260).window(350)
    history.publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100).deliver(1, at_ms=200)
    history.deliver(1, at_ms=300, redelivered=Redelivered.YES)
    assert attributed(history) == {"duplicated ambiguous": "1", "duplicated redelivery": "2"}


def test_a_reorder_is_charged_from_its_sending_to_its_arrival() -> None:
    history = History().window(5, over_ms=9).window(40).window(61)
    for sequence in (1, 2):
        history.publish(sequence, at_ms=9 + sequence).confirm(sequence)
    assert attributed(history.deliver(2, at_ms=50).deliver(1, at_ms=60)) == {"reordered": "2"}


def test_cases_with_the_same_possible_windows_are_one_row() -> None:
    history = lost(History().window(12_000))
    history.publish(5, at_ms=9_000).confirm(5, at_ms=10_000)
    (row,) = judge(*history.build()).attributions
    assert (row.measure, row.windows, row.count) == ("lost", "1", 2)


def test_a_finding_that_needs_no_fault_is_attributed_to_none() -> None:
    history = History().window(5).publish(1).settle(1, Outcome.REFUSED).deliver(1)
    assert judge(*history.deliver_broken().build()).attributions == ()


def test_beside_an_operation_a_loss_may_need_no_fault() -> None:
    for over_ms, windows in ((10_000, "0,1"), (8_000, "1"), (None, "0,1")):
        history = lost(History().window(12_000))
        facts, rows = history.build()
        over_ns = None if over_ms is None else ns(over_ms)
        operation = LeadershipChange(ns(5_000), over_ns)
        found = judge(replace(facts, leadership_changes=(operation,)), rows).attributions
        assert [row.windows for row in found] == [windows]
        end = replace(operation, of_process_end=True)
        found = judge(replace(facts, leadership_changes=(end,)), rows).attributions
        assert [row.windows for row in found] == ["1"], "the end of a process is no operation"


def test_an_operation_explains_a_loss_until_it_is_over() -> None:
    history = lost(History().window(12_000))
    facts, rows = history.build()
    later = LeadershipChange(ns(5_000), None)  # a leader may move at any time after it
    for over_ms, moves_leader, windows in (
        (10_000, True, "0,1"),
        (8_000, True, "1"),
        (10_000, False, "1"),
    ):
        at_work = OperationTime(ns(5_000), ns(over_ms), moves_leader=moves_leader)
        run = replace(facts, leadership_changes=(later,), operations=(at_work,))
        found = judge(run, rows).attributions
        assert [row.windows for row in found] == [windows]


def test_each_place_of_a_log_shows_when_a_message_should_have_come() -> None:
    history = History().window(50_000).publish(1, at_ms=9_000).confirm(1, at_ms=10_000)
    for sequence, place in ((2, "broker-a/0"), (3, "broker-b/0")):
        history.publish(sequence, at_ms=8_000).confirm(sequence, at_ms=8_001)
        history.deliver(sequence, at_ms=8_002, place=place, offset=0)
    history.publish(4, at_ms=11_000).confirm(4).deliver(4, place="broker-a/0", offset=1)
    assert attributed(history) == {"lost replicated": "1"}, "broker b may have had it still"
    history.publish(5, at_ms=12_000).confirm(5).deliver(5, place="broker-b/0", offset=1)
    assert attributed(history) == {"lost replicated": ""}


def test_a_retry_topic_is_no_place_of_a_log() -> None:
    """Its first row of a message says nothing of the log: no later message comes by it."""
    history = History().window(50_000).publish(1, at_ms=9_000).confirm(1, at_ms=10_000)
    history.publish(2, at_ms=8_000).confirm(2, at_ms=8_001)
    again = {"place": "broker-a/retry/0", "offset": 0, "via": Ways.RETRY_TOPIC}
    history.deliver(2, at_ms=8_002, **again)
    history.publish(3, at_ms=11_000).confirm(3).deliver(3, place="broker-a/0", offset=1)
    assert attributed(history) == {"lost replicated": ""}


# --- clocks that are not the run's ---------------------------------------------------------------


def apart(history: History) -> History:
    """Publisher and consumer are off by 30 and 20 ms: together by 50 ms, either way."""
    return history.clock(PUBLISHER, 30).clock(CONSUMER, 20)


@pytest.mark.parametrize(
    ("origin_ms", "over_ms", "windows"),
    [
        (5_000, 10_050, "1"),  # it reaches into the time between by any clock
        (5_000, 10_050 - NANOSECOND_MS, "0,1"),
        (5_000, 8_950, "0,1"),
        (5_000, 8_950 - NANOSECOND_MS, ""),  # by none
        (12_450, None, "1"),
        (12_450 + NANOSECOND_MS, None, "0,1"),
        (12_550, None, "0,1"),
        (12_550 + NANOSECOND_MS, None, ""),
    ],
)
def test_no_attribution_is_finer_than_the_clocks(
    origin_ms: float, over_ms: float | None, windows: str
) -> None:
    """Sent at 9 s and confirmed at 10 s, it should have come at 12.5 s."""
    history = apart(History()).window(origin_ms, over_ms=over_ms)
    assert attributed(lost(history)) == {"lost replicated": windows}


def test_the_clocks_of_publishers_and_consumers_count_together() -> None:
    for worker, bound_ms in ((PUBLISHER, 50), (CONSUMER, 50)):
        history = History().clock(worker, bound_ms).window(5_000, over_ms=9_950)
        assert attributed(lost(history)) == {"lost replicated": "0,1"}
        history = History().clock(worker, bound_ms).window(5_000, over_ms=8_949)
        assert attributed(lost(history)) == {"lost replicated": ""}


def test_a_certain_window_does_not_exclude_a_possible_one() -> None:
    history = apart(History()).window(5_000, over_ms=10_000).window(11_000, over_ms=11_001)
    assert attributed(lost(history)) == {"lost replicated": "1,2"}


@pytest.mark.parametrize(
    ("confirmed_ms", "origin_ms", "windows"),
    [
        (9_900, 12_450, "1"),  # by any clock it was confirmed no earlier than what was lost
        (10_100 - NANOSECOND_MS, 12_450 + NANOSECOND_MS, "0,1"),
        (10_100 - NANOSECOND_MS, 50_000, "0,1"),  # it may have been confirmed earlier
        (10_100, 50_000, ""),  # by any clock it shows when the other one should have come
        (9_900 - NANOSECOND_MS, 12_450, "1"),
        (9_900 - NANOSECOND_MS, 50_000, "1"),
    ],
)
def test_the_order_of_two_confirms_is_as_exact_as_clocks(
    confirmed_ms: float, origin_ms: float, windows: str
) -> None:
    """It was confirmed at 10 s and lost; the only other one came at 11.5 s."""
    history = apart(History()).window(origin_ms)
    history.publish(1, at_ms=9_000).confirm(1, at_ms=10_000)
    history.publish(2, at_ms=9_100).confirm(2, at_ms=confirmed_ms).deliver(2, at_ms=11_500)
    assert attributed(history) == {"lost replicated": windows}


def test_no_fault_stands_before_several_windows() -> None:
    history = apart(History()).window(5_000, over_ms=9_960).window(6_000, over_ms=9_970)
    assert attributed(lost(history)) == {"lost replicated": "0,1,2"}


def test_a_duplicate_is_attributed_no_finer_than_the_clocks() -> None:
    def of(origin_ms: float, over_ms: float) -> str:
        history = apart(History()).window(origin_ms, over_ms=over_ms)
        history.publish(1, at_ms=10).confirm(1).deliver(1, at_ms=1_000).deliver(1, at_ms=2_000)
        (windows,) = attributed(history).values()
        return windows

    assert of(100, 950) == of(100, 1_050 - NANOSECOND_MS) == "0,1"
    assert of(100, 950 - NANOSECOND_MS) == ""
    assert of(100, 1_050) == of(1_950, 1_960) == "1"
    assert of(1_950 + NANOSECOND_MS, 1_960) == of(2_050, 2_060) == "0,1"
    assert of(2_050 + NANOSECOND_MS, 2_060) == ""


LATEST_MS = 22_011  # its wait is over at 21 s: 11 ms of slack, and the broker's second


@pytest.mark.parametrize(
    ("origin_ms", "over_ms", "windows"),
    [
        (5_000, 11_000, "1"),
        (5_000, 11_000 - NANOSECOND_MS, ""),
        (5_000, None, "0,1"),
        (LATEST_MS, None, "1"),
        (LATEST_MS + NANOSECOND_MS, None, ""),  # it was late already
        (15_000, 15_100, "1"),
    ],
)
def test_an_overdue_message_is_attributed_to_faults_during_its_wait(
    origin_ms: float, over_ms: float | None, windows: str
) -> None:
    """Confirmed at 11 s, to be delayed by 10 s, and delivered at 40 s."""
    history = History().window(origin_ms, over_ms=over_ms)
    history.publish(1, at_ms=10_990).terms(1, wait_ms=10_000).confirm(1, at_ms=11_000)
    found = attributed(history.deliver(1, at_ms=40_000))
    assert {name: of for name, of in found.items() if name == "overdue"} == {"overdue": windows}
