"""What became of messages that were acknowledged and did not arrive."""

import pytest

from spark_analysis.schema.words import Outcome, Strength
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, affected, counts, ns
from tests.rigs.histories.ways import Via

LOSS = ("lost", "stranded", "loss_unknown", "unreachable")


def confirmed() -> History:
    return History().publish(1, at_ms=10).confirm(1)


def losses(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), *LOSS))


def test_a_confirmed_undelivered_message_is_lost_since_its_sending() -> None:
    findings = judge(*confirmed().build())
    assert counts(findings, *LOSS) == {"lost replicated": 1}
    assert affected(findings, *LOSS) == [("replicated", 1, 0, ns(10))]


def test_a_lost_message_has_its_whole_name_and_queue() -> None:
    history = History().worker(7, "publisher").queue("bills")
    history.publish(3, at_ms=10, producer=7, queue="bills").confirm(3, producer=7)
    (row,) = judge(*history.build()).affected
    assert (row.run, row.queue, row.measure, row.producer) == ("run", "bills", "lost", 7)


@pytest.mark.parametrize("via", [Via.LOAD, Via.DRAIN])
def test_a_message_delivered_by_load_or_drain_is_not_lost(via: Via) -> None:
    assert losses(confirmed().deliver(1, via=via)) == {}


def test_a_message_with_broken_payload_is_corrupt_and_not_lost() -> None:
    assert losses(confirmed().deliver(1, payload_ok=False)) == {}


def test_a_message_delivered_as_another_attempt_is_not_lost() -> None:
    assert losses(confirmed().deliver(1, attempt=9)) == {}


def test_a_message_delivered_before_its_confirm_is_not_lost() -> None:
    assert losses(History().publish(1).deliver(1).confirm(1)) == {}


def test_a_broken_header_delivers_nothing() -> None:
    history = History().publish(0, producer=0).confirm(0, producer=0).deliver_broken()
    assert losses(history) == {"lost replicated": 1}


def test_a_broken_header_is_not_trusted_about_its_run() -> None:
    history = History().publish(0, producer=0).confirm(0, producer=0).deliver_broken()
    history.rows["deliveries"][0]["run_ok"] = 1
    assert losses(history) == {"lost replicated": 1}


def test_a_message_delivered_only_by_the_retry_topic_is_delivered() -> None:
    assert losses(confirmed().deliver(1, via=Via.RETRY_TOPIC)) == {}


def test_a_message_of_another_run_delivers_nothing() -> None:
    assert losses(confirmed().deliver(1, run_ok=False)) == {"lost replicated": 1}


def test_a_confirmed_message_found_by_audit_is_stranded() -> None:
    history = confirmed().deliver(1, at_ms=90, via=Via.AUDIT).deliver(1, at_ms=80, via=Via.AUDIT)
    findings = judge(*history.build())
    assert counts(findings, *LOSS) == {"stranded replicated": 1}
    assert affected(findings, *LOSS) == [("replicated", 1, 0, ns(80))]


def test_a_message_that_was_delivered_and_found_is_not_stranded() -> None:
    assert losses(confirmed().deliver(1, via=Via.AUDIT).deliver(1, via=Via.DRAIN)) == {}


def test_a_find_of_another_message_strands_nothing() -> None:
    history = confirmed().publish(2).settle(2, Outcome.UNKNOWN).deliver(2, via=Via.AUDIT)
    assert losses(history) == {"lost replicated": 1}


def test_loss_is_unknown_where_a_consumer_died() -> None:
    findings = judge(*confirmed().log_open(CONSUMER).build())
    assert counts(findings, *LOSS) == {"loss_unknown consumer_log": 1}
    assert affected(findings, *LOSS) == [("consumer_log", 1, 0, ns(10))]


def test_loss_is_unknown_where_one_consumer_of_many_died() -> None:
    history = confirmed().worker(8, "consumer").worker(9, "consumer", log_closed=False)
    assert losses(history) == {"loss_unknown consumer_log": 1}


def test_loss_is_known_where_only_a_publisher_or_prober_died() -> None:
    history = confirmed().log_open(PUBLISHER).worker(9, "prober", log_closed=False)
    assert losses(history) == {"lost replicated": 1}


@pytest.mark.parametrize("role", ["auditor", "drainer"])
def test_loss_is_known_although_a_worker_without_consumption_died(role: str) -> None:
    assert losses(confirmed().worker(9, role, log_closed=False)) == {"lost replicated": 1}


def test_loss_is_unknown_where_the_queue_was_not_drained() -> None:
    findings = judge(*confirmed().queue(drained=False).build())
    assert counts(findings, *LOSS) == {"loss_unknown drain": 1}
    assert affected(findings, *LOSS) == [("drain", 1, 0, ns(10))]


def test_loss_is_unknown_where_nothing_is_known_of_the_queue() -> None:
    assert losses(confirmed().no_queue_end()) == {"loss_unknown drain": 1}


def test_an_undrained_queue_does_not_hide_another_queues_loss() -> None:
    assert losses(confirmed().queue("bills", drained=False)) == {"lost replicated": 1}


def test_a_missing_message_with_an_unreadable_place_is_unreachable() -> None:
    findings = judge(*confirmed().queue(unreadable=("rmq2",)).build())
    assert counts(findings, *LOSS) == {"unreachable replicated": 1}
    assert affected(findings, *LOSS) == [("replicated", 1, 0, ns(10))]


def test_another_queues_unreadable_place_hides_no_loss_here() -> None:
    history = confirmed().queue("bills", unreadable=("rmq2",))
    assert losses(history) == {"lost replicated": 1}


def test_the_first_reason_for_unknown_loss_counts() -> None:
    history = confirmed().queue(drained=False, unreadable=("rmq2",))
    assert losses(history) == {"loss_unknown drain": 1}
    history.log_open(CONSUMER)
    assert losses(history) == {"loss_unknown consumer_log": 1}
    history.deliver(1, via=Via.AUDIT)
    assert losses(history) == {"stranded replicated": 1}


def test_a_loss_has_the_strongest_strength_that_was_promised() -> None:
    history = History().publish(1).confirm(1, strength=Strength.BUFFERED)
    history.publish(1, attempt=2).confirm(1, attempt=2, strength=Strength.STORED)
    assert losses(history) == {"lost stored": 1}


@pytest.mark.parametrize("strength", list(Strength)[1:])
def test_losses_are_counted_by_strength(strength: Strength) -> None:
    history = History().publish(1).confirm(1, strength=strength)
    assert losses(history) == {f"lost {strength.name.lower()}": 1}


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.CONFIRMED])
def test_unconfirmed_messages_cannot_be_lost(outcome: Outcome) -> None:
    assert losses(History().publish(1).settle(1, outcome)) == {}


def test_equal_losses_are_one_row_with_their_number() -> None:
    history = confirmed().publish(2).confirm(2).publish(3).confirm(3).deliver(3)
    assert losses(history) == {"lost replicated": 2}
