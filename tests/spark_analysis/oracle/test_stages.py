"""The stages of recovery after each fault."""

import pytest

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.words import Outcome, Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.ways import Via

NANOSECOND_MS = 0.000001


def stages(history: History, window: int = 1) -> dict[str, Stage]:
    found = judge(*history.build()).stages
    return {row.stage: row for row in found if row.window == window}


def reached(stage: Stage) -> tuple[bool, float]:
    return stage.reached, stage.after_ns / 1_000_000


def faulted(at_ms: float = 10_000, returned_ms: float = 10_300) -> History:
    return History().window(at_ms, returned_ms=returned_ms, ended_ms=20_000)


def test_every_window_but_0_has_its_stages_and_their_uncertainty() -> None:
    history = faulted().window(30_000).publish(1, at_ms=11_000).confirm(1, at_ms=12_000)
    assert sorted(judge(*history.deliver(1, at_ms=13_000).build()).stages) == [
        Stage("run", 1, "backlog_drained", True, ns(3_000), ns(300)),
        Stage("run", 1, "consumers_resumed", True, ns(3_000), ns(300)),
        Stage("run", 1, "first_success", True, ns(2_000), ns(300)),
        Stage("run", 1, "sustained_success", False, ns(1_000), ns(300)),
        Stage("run", 2, "backlog_drained", False, ns(30_000), 0),
        Stage("run", 2, "consumers_resumed", False, ns(30_000), 0),
        Stage("run", 2, "first_success", False, ns(30_000), 0),
        Stage("run", 2, "sustained_success", False, ns(30_000), 0),
    ]


def test_a_run_without_faults_has_no_stages() -> None:
    assert judge(*History().publish(1).confirm(1).deliver(1).build()).stages == ()


def test_without_confirms_only_the_consumers_are_judged() -> None:
    history = History(confirms=False).window(10_000).publish(1, at_ms=10_000)
    assert set(stages(history)) == {"consumers_resumed"}


def test_at_full_rate_sustained_success_is_not_judged() -> None:
    expected = {"consumers_resumed", "first_success", "backlog_drained"}
    assert set(stages(History(paced=False).window(10_000))) == expected


def first_success(history: History, window: int = 1) -> tuple[bool, float]:
    return reached(stages(history, window)["first_success"])


def test_first_success_is_the_first_confirm_sent_during_the_fault() -> None:
    history = faulted().publish(1, at_ms=10_300).publish(2, at_ms=10_400)
    assert first_success(history.confirm(1, at_ms=12_000).confirm(2, at_ms=11_000)) == (
        True,
        1_000,
    )


def test_a_confirm_of_an_earlier_send_is_no_first_success() -> None:
    history = faulted().publish(1, at_ms=10_300 - NANOSECOND_MS).confirm(1, at_ms=11_000)
    assert first_success(history) == (False, 50_000)


def test_only_a_confirm_is_a_success() -> None:
    history = faulted().publish(1, at_ms=10_300).settle(1, Outcome.RETURNED, at_ms=11_000)
    assert first_success(history) == (False, 50_000)


def test_a_confirm_of_an_unknown_attempt_is_no_success() -> None:
    history = faulted().publish(1, at_ms=11_000).confirm(1, attempt=2, at_ms=12_000)
    assert first_success(history) == (False, 50_000)


def test_the_confirmed_attempt_itself_must_be_sent_during_the_fault() -> None:
    history = faulted().publish(1, at_ms=9_000).publish(1, at_ms=11_000, attempt=2)
    history.confirm(1, at_ms=12_000)
    assert first_success(history) == (False, 50_000)
    assert first_success(history.confirm(1, at_ms=13_000, attempt=2)) == (True, 3_000)


def test_a_success_after_the_next_origin_belongs_to_that_window() -> None:
    history = faulted().window(15_000).publish(1, at_ms=15_000).confirm(1, at_ms=17_000)
    assert first_success(history, 1) == (False, 5_000)
    assert first_success(history, 2) == (True, 2_000)


def test_a_success_at_the_limit_is_in_time() -> None:
    history = faulted().publish(1, at_ms=11_000).confirm(1, at_ms=60_000)
    assert first_success(history) == (True, 50_000)
    history = faulted().publish(1, at_ms=11_000).confirm(1, at_ms=60_000 + NANOSECOND_MS)
    assert first_success(history) == (False, 50_000)


def consumers_resumed(history: History, window: int = 1) -> tuple[bool, float]:
    return reached(stages(history, window)["consumers_resumed"])


def test_consumers_resume_with_the_first_delivery_sent_during_the_fault() -> None:
    history = faulted().publish(1, at_ms=10_300).publish(2, at_ms=10_400)
    history.deliver(1, at_ms=12_000).deliver(2, at_ms=11_000)
    assert consumers_resumed(history) == (True, 1_000)


def test_a_delivery_of_an_earlier_send_proves_no_resumption() -> None:
    history = faulted().publish(1, at_ms=10_300 - NANOSECOND_MS).deliver(1, at_ms=11_000)
    assert consumers_resumed(history) == (False, 50_000)


@pytest.mark.parametrize(
    ("via", "resumed"),
    [
        (Via.LOAD, (True, 2_000)),
        (Via.RETRY_TOPIC, (True, 2_000)),
        (Via.DRAIN, (False, 50_000)),
        (Via.AUDIT, (False, 50_000)),
    ],
)
def test_consumers_resume_by_load_or_retry_topic(via: Via, resumed: tuple[bool, float]) -> None:
    history = faulted().publish(1, at_ms=11_000).deliver(1, at_ms=12_000, via=via)
    assert consumers_resumed(history) == resumed


def test_an_unsent_delivery_is_no_resumption() -> None:
    history = faulted().deliver(9, at_ms=11_000).publish(1, at_ms=11_000)
    history.deliver(1, at_ms=12_000, attempt=2).deliver(1, at_ms=12_000, run_ok=False)
    assert consumers_resumed(history) == (False, 50_000)


def test_a_retry_and_a_redelivery_show_that_consumers_resumed() -> None:
    history = faulted().publish(1, at_ms=9_000).deliver(1, at_ms=9_001)
    history.publish(1, at_ms=11_000, attempt=2)
    history.deliver(1, at_ms=12_000, attempt=2, redelivered=Redelivered.YES)
    assert consumers_resumed(history) == (True, 2_000)


def test_consumers_that_resume_after_the_next_origin_did_not_before() -> None:
    history = faulted().window(15_000).publish(1, at_ms=11_000).deliver(1, at_ms=15_001)
    assert consumers_resumed(history) == (False, 5_000)
    at_limit = faulted().window(15_000).publish(1, at_ms=11_000).deliver(1, at_ms=15_000)
    assert consumers_resumed(at_limit) == (True, 5_000)


def drained(history: History, window: int = 1) -> tuple[bool, float]:
    return reached(stages(history, window)["backlog_drained"])


def resumed(history: History | None = None) -> History:
    """Consumers are back 400 ms after the fault."""
    history = faulted() if history is None else history
    return history.publish(0, at_ms=10_350).confirm(0).deliver(0, at_ms=10_400)


def waiting(
    history: History, sequence: int, from_ms: float, until_ms: float, via: Via = Via.LOAD
) -> History:
    """One message that waits from its confirm until its delivery; too long is over a second."""
    history.publish(sequence, at_ms=from_ms).confirm(sequence, at_ms=from_ms)
    return history.deliver(sequence, at_ms=until_ms, via=via)


def test_the_backlog_is_drained_with_the_last_late_message() -> None:
    history = waiting(waiting(resumed(), 1, 11_000, 14_000), 2, 13_000, 16_000)
    assert drained(history) == (True, 6_000)


def test_without_late_messages_the_backlog_drains_when_consumers_resume() -> None:
    assert drained(resumed()) == (True, 400)


def test_a_deadline_is_not_too_long() -> None:
    assert drained(waiting(resumed(), 1, 11_000, 12_000)) == (True, 400)
    assert drained(waiting(resumed(), 1, 11_000, 12_000 + NANOSECOND_MS))[1] > 2_000


def test_without_resumed_consumers_no_backlog_drains() -> None:
    assert drained(faulted()) == (False, 50_000)
    assert drained(waiting(faulted(), 1, 5_000, 12_000)) == (False, 50_000)


def test_without_consumers_there_is_no_backlog_to_drain() -> None:
    assert "backlog_drained" not in stages(faulted().no_consumer())


def test_messages_that_arrived_before_the_fault_delay_no_drain() -> None:
    assert drained(waiting(resumed(), 1, 8_000, 10_300)) == (True, 400)
    assert drained(waiting(resumed(), 1, 8_000, 10_450)) == (True, 450)


def test_an_earlier_backlog_does_not_hide_the_faults_backlog() -> None:
    history = waiting(resumed(), 1, 5_000, 8_000)
    assert drained(waiting(history, 2, 11_000, 13_000)) == (True, 3_000)


def test_a_late_message_at_the_limit_prevents_drained_backlog() -> None:
    history = waiting(resumed().window(15_000), 1, 11_000, 15_000 + NANOSECOND_MS)
    assert drained(history) == (False, 5_000)
    assert drained(waiting(resumed().window(15_000), 1, 11_000, 15_000)) == (True, 5_000)


def test_a_message_not_yet_late_counts_for_the_next_window() -> None:
    history = waiting(resumed().window(15_000), 1, 14_000, 16_500)
    assert drained(history) == (True, 400)
    history.publish(8, at_ms=15_500).confirm(8).deliver(8, at_ms=15_600)
    assert drained(history, 2) == (True, 1_500)


def test_messages_read_by_the_drain_waited_until_the_end() -> None:
    assert drained(waiting(resumed(), 1, 11_000, 70_000, via=Via.DRAIN)) == (False, 50_000)
    in_time = waiting(resumed(), 1, 59_000, 70_000, via=Via.DRAIN)
    assert drained(in_time) == (True, 400)
    too_long = waiting(resumed(), 1, 59_000 - NANOSECOND_MS, 70_000, via=Via.DRAIN)
    assert drained(too_long) == (False, 50_000)


def test_a_delivery_by_the_retry_topic_ends_the_wait() -> None:
    history = waiting(resumed(), 1, 11_000, 14_000, via=Via.RETRY_TOPIC)
    assert drained(history) == (True, 4_000)


def test_a_duplicate_in_the_drain_does_not_change_the_backlog() -> None:
    history = waiting(resumed(), 1, 11_000, 14_000).deliver(1, at_ms=61_000, via=Via.DRAIN)
    assert drained(history) == (True, 4_000)


def test_the_first_of_two_deliveries_ends_the_wait() -> None:
    assert drained(waiting(resumed(), 1, 11_000, 14_000).deliver(1, at_ms=17_000)) == (True, 4_000)


def test_a_message_that_was_never_delivered_is_left_out() -> None:
    history = resumed().publish(1, at_ms=11_000).confirm(1).deliver(1, via=Via.AUDIT)
    assert drained(history) == (True, 400)


def test_a_message_that_was_never_confirmed_is_left_out() -> None:
    history = resumed().publish(2, at_ms=11_000).settle(2, Outcome.UNKNOWN)
    assert drained(history.deliver(2, at_ms=19_000)) == (True, 400)


def test_a_message_delivered_before_its_confirm_did_not_wait() -> None:
    history = resumed().publish(2, at_ms=13_000).deliver(2, at_ms=18_000)
    assert drained(history.confirm(2, at_ms=19_000)) == (True, 400)


def test_a_fault_returning_after_the_next_origin_shows_no_drain() -> None:
    history = History().window(10_000, returned_ms=12_000).window(11_000)
    assert drained(history) == (False, 1_000)
