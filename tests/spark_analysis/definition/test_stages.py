"""The stages of recovery after each fault."""

import pytest

from spark_analysis.definition.judge import judge
from spark_analysis.schema.findings import Stage
from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.histories import History, ns

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
        Stage("run", 2, "backlog_drained", True, 0, 0),
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


def test_first_success_is_the_first_confirm_of_what_was_sent_under_the_fault() -> None:
    history = faulted().publish(1, at_ms=10_300).publish(2, at_ms=10_400)
    assert first_success(history.confirm(1, at_ms=12_000).confirm(2, at_ms=11_000)) == (
        True,
        1_000,
    )


def test_a_confirm_of_what_was_sent_before_the_fault_had_returned_is_no_success() -> None:
    history = faulted().publish(1, at_ms=10_300 - NANOSECOND_MS).confirm(1, at_ms=11_000)
    assert first_success(history) == (False, 50_000)


def test_only_a_confirm_is_a_success() -> None:
    history = faulted().publish(1, at_ms=10_300).settle(1, Outcome.RETURNED, at_ms=11_000)
    assert first_success(history) == (False, 50_000)


def test_a_confirm_of_an_attempt_nobody_knows_is_no_success() -> None:
    history = faulted().publish(1, at_ms=11_000).confirm(1, attempt=2, at_ms=12_000)
    assert first_success(history) == (False, 50_000)


def test_the_attempt_that_was_confirmed_is_the_one_that_must_have_been_sent_so_late() -> None:
    history = faulted().publish(1, at_ms=9_000).publish(1, at_ms=11_000, attempt=2)
    history.confirm(1, at_ms=12_000)
    assert first_success(history) == (False, 50_000)
    assert first_success(history.confirm(1, at_ms=13_000, attempt=2)) == (True, 3_000)


def test_a_success_in_the_next_windows_time_is_that_windows_and_bounds_this_one() -> None:
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


def test_consumers_resumed_with_the_first_delivery_of_what_was_sent_under_the_fault() -> None:
    history = faulted().publish(1, at_ms=10_300).publish(2, at_ms=10_400)
    history.deliver(1, at_ms=12_000).deliver(2, at_ms=11_000)
    assert consumers_resumed(history) == (True, 1_000)


def test_a_delivery_of_what_was_sent_before_the_fault_had_returned_shows_nothing() -> None:
    history = faulted().publish(1, at_ms=10_300 - NANOSECOND_MS).deliver(1, at_ms=11_000)
    assert consumers_resumed(history) == (False, 50_000)


@pytest.mark.parametrize("via", [Via.DRAIN, Via.AUDIT, Via.RETRY_TOPIC])
def test_consumers_resume_by_load_only(via: Via) -> None:
    history = faulted().publish(1, at_ms=11_000).deliver(1, at_ms=12_000, via=via)
    assert consumers_resumed(history) == (False, 50_000)


def test_consumers_do_not_resume_with_a_delivery_that_nobody_sent() -> None:
    history = faulted().deliver(9, at_ms=11_000).publish(1, at_ms=11_000)
    history.deliver(1, at_ms=12_000, attempt=2).deliver(1, at_ms=12_000, run_ok=False)
    assert consumers_resumed(history) == (False, 50_000)


def test_a_retry_and_a_redelivery_show_that_consumers_resumed() -> None:
    history = faulted().publish(1, at_ms=9_000).deliver(1, at_ms=9_001)
    history.publish(1, at_ms=11_000, attempt=2)
    history.deliver(1, at_ms=12_000, attempt=2, redelivered=Redelivered.YES)
    assert consumers_resumed(history) == (True, 2_000)


def test_consumers_that_resume_in_the_next_windows_time_did_not_in_this_one() -> None:
    history = faulted().window(15_000).publish(1, at_ms=11_000).deliver(1, at_ms=15_001)
    assert consumers_resumed(history) == (False, 5_000)
    at_limit = faulted().window(15_000).publish(1, at_ms=11_000).deliver(1, at_ms=15_000)
    assert consumers_resumed(at_limit) == (True, 5_000)


def drained(history: History, window: int = 1) -> tuple[bool, float]:
    return reached(stages(history, window)["backlog_drained"])


def waiting(
    history: History, sequence: int, from_ms: float, until_ms: float, via: Via = Via.LOAD
) -> History:
    """One message in the backlog from its confirm until its delivery."""
    history.publish(sequence, at_ms=from_ms).confirm(sequence, at_ms=from_ms)
    return history.deliver(sequence, at_ms=until_ms, via=via)


def test_the_backlog_is_drained_when_the_last_stretch_above_the_base_ends() -> None:
    history = waiting(waiting(faulted(), 1, 11_000, 12_000), 2, 13_000, 14_000)
    assert drained(history) == (True, 4_000)


def test_where_no_backlog_grew_it_is_drained_when_the_fault_was_in_force() -> None:
    assert drained(faulted()) == (True, 300)


def test_a_backlog_that_was_gone_before_the_fault_was_in_force_delays_nothing() -> None:
    assert drained(waiting(faulted(), 1, 10_100, 10_200)) == (True, 300)
    assert drained(waiting(faulted(), 1, 10_100, 10_400)) == (True, 400)


def test_the_base_is_the_largest_backlog_before_the_first_fault() -> None:
    history = waiting(faulted(), 1, 5_000, 6_000)
    assert drained(waiting(history, 2, 11_000, 12_000)) == (True, 300)
    two_deep = waiting(waiting(history, 3, 11_000, 13_000), 4, 11_500, 12_500)
    assert drained(two_deep) == (True, 2_500)


def test_a_backlog_that_stands_at_the_start_of_load_is_in_the_base() -> None:
    history = History(load_ms=(4_000, 60_000)).window(10_000)
    waiting(waiting(history, 1, 3_000, 4_001), 2, 11_000, 12_000)
    assert drained(history) == (True, 0)


def test_a_backlog_before_load_is_not_in_the_base() -> None:
    history = History(load_ms=(4_000, 60_000)).window(10_000)
    waiting(waiting(history, 1, 3_000, 4_000), 2, 11_000, 12_000)
    assert drained(history) == (True, 2_000)


def test_a_backlog_that_begins_with_the_fault_is_not_in_the_base() -> None:
    assert drained(waiting(faulted(), 1, 10_000, 12_000)) == (True, 2_000)
    assert drained(waiting(faulted(), 1, 10_000 - NANOSECOND_MS, 12_000)) == (True, 300)


def test_the_base_of_a_load_that_begins_with_the_fault_is_empty() -> None:
    history = History(load_ms=(10_000, 60_000)).window(10_000)
    assert drained(waiting(history, 1, 9_000, 12_000)) == (True, 2_000)


def test_the_base_of_a_load_that_begins_after_the_fault_is_empty() -> None:
    history = History(load_ms=(10_000, 60_000)).window(9_000)
    assert drained(waiting(history, 1, 8_000, 12_000)) == (True, 3_000)


def test_the_base_of_every_window_is_that_before_the_first() -> None:
    history = waiting(waiting(faulted(), 1, 11_000, 12_000), 2, 31_000, 32_000).window(30_000)
    assert drained(history, 2) == (True, 2_000)


def test_a_backlog_that_stands_at_the_limit_is_not_drained() -> None:
    history = waiting(faulted().window(15_000), 1, 11_000, 15_000 + NANOSECOND_MS)
    assert drained(history) == (False, 5_000)
    assert drained(history, 2) == (True, NANOSECOND_MS)


def test_a_backlog_that_ends_at_the_limit_is_drained() -> None:
    assert drained(waiting(faulted().window(15_000), 1, 11_000, 15_000)) == (True, 5_000)


def test_a_backlog_that_grows_after_the_limit_is_the_next_windows() -> None:
    history = waiting(faulted().window(15_000), 1, 16_000, 17_000)
    assert drained(history) == (True, 300)
    assert drained(history, 2) == (True, 2_000)


def test_what_only_the_drain_delivered_was_in_the_backlog_to_the_end() -> None:
    history = waiting(faulted(), 1, 11_000, 12_000, via=Via.DRAIN)
    assert drained(history) == (False, 50_000)


def test_a_message_that_only_the_drain_delivered_is_one_message_deep() -> None:
    history = waiting(waiting(faulted(), 1, 5_000, 6_000), 2, 11_000, 12_000, via=Via.DRAIN)
    assert drained(history) == (True, 300)
    assert drained(waiting(history, 3, 13_000, 14_000)) == (True, 4_000)


def test_a_surplus_delivery_by_the_drain_leaves_the_backlog_as_it_was() -> None:
    history = waiting(faulted(), 1, 11_000, 12_000).deliver(1, at_ms=61_000, via=Via.DRAIN)
    assert drained(history) == (True, 2_000)


def test_a_message_that_was_never_delivered_is_not_in_the_backlog() -> None:
    history = faulted().publish(1, at_ms=11_000).confirm(1).deliver(1, via=Via.AUDIT)
    assert drained(history) == (True, 300)


def test_a_message_that_was_never_confirmed_is_not_in_the_backlog() -> None:
    history = waiting(faulted(), 1, 11_000, 12_000)
    history.publish(2, at_ms=11_000).settle(2, Outcome.UNKNOWN).deliver(2, at_ms=19_000)
    assert drained(history) == (True, 2_000)


def test_a_message_delivered_before_its_confirm_was_never_in_the_backlog() -> None:
    history = waiting(faulted(), 1, 11_000, 12_000)
    history.publish(2, at_ms=13_000).deliver(2, at_ms=13_001).confirm(2, at_ms=14_000)
    assert drained(history) == (True, 2_000)


def test_a_message_delivered_before_its_confirm_hides_no_other() -> None:
    history = waiting(faulted(), 1, 12_500, 13_500)
    history.publish(2, at_ms=12_900).deliver(2, at_ms=13_000).confirm(2, at_ms=14_000)
    assert drained(history) == (True, 3_500)


def test_of_two_deliveries_the_first_ends_the_wait() -> None:
    assert drained(waiting(faulted(), 1, 11_000, 12_000).deliver(1, at_ms=15_000)) == (True, 2_000)


def test_one_message_leaves_as_another_comes_and_the_backlog_stays() -> None:
    history = waiting(faulted(), 1, 9_000, 11_000)
    waiting(waiting(history, 2, 11_000, 12_000), 3, 12_000, 13_000)
    assert drained(history) == (True, 300)


def test_a_fault_that_returns_after_the_next_ones_origin_shows_no_drained_backlog() -> None:
    history = History().window(10_000, returned_ms=12_000).window(11_000)
    assert drained(history) == (False, 1_000)
