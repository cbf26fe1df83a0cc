"""What was given out, never acknowledged, and never came again."""

import pytest

from spark_analysis.schema.messages import Attribution
from spark_analysis.schema.words import Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, History, affected, counts, ns
from tests.rigs.histories.ways import Via

NANOSECOND_MS = 0.000001
MEASURES = ("not_redelivered", "not_redelivered_unknown")
FORGOTTEN = {"not_redelivered": 1}


def counts_of(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), *MEASURES))


def given_out(history: History | None = None) -> History:
    history = History() if history is None else history
    return history.publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5)


def left(history: History, at_ms: float = 200) -> History:
    return history.client_event("lost", at_ms=at_ms)


def test_unacknowledged_messages_that_never_return_are_not_redelivered() -> None:
    findings = judge(*left(given_out()).build())
    assert counts(findings, *MEASURES) == FORGOTTEN
    assert affected(findings, *MEASURES) == [("", 1, 1, ns(100))]


def test_messages_on_an_open_connection_may_still_be_acknowledged() -> None:
    assert counts_of(given_out()) == {}
    assert counts_of(given_out().client_event("lost", at_ms=200, connection=2)) == {}
    assert counts_of(given_out().client_event("blocked", at_ms=200)) == {}


def test_a_connection_that_had_ended_before_was_given_nothing() -> None:
    assert counts_of(left(given_out(), 100)) == FORGOTTEN
    assert counts_of(left(given_out(), 100 - NANOSECOND_MS)) == {}


def test_acknowledged_messages_need_no_redelivery() -> None:
    assert counts_of(left(given_out()).acknowledge(5, at_ms=199)) == {}
    assert counts_of(left(given_out()).acknowledge(4, at_ms=199)) == FORGOTTEN


@pytest.mark.parametrize("via", [Via.DRAIN, Via.AUDIT])
def test_messages_found_by_drain_or_audit_were_kept(via: Via) -> None:
    assert counts_of(left(given_out()).deliver(1, at_ms=300, via=via, connection=9)) == {}


@pytest.mark.parametrize(("brokers", "found"), [(True, FORGOTTEN), (False, {})])
def test_what_the_audit_finds_in_a_log_may_be_passed(brokers: bool, found: dict[str, int]) -> None:
    """A log keeps everything. A consumer that keeps its own place may have gone on by itself."""

    def passed(via: Via) -> History:
        history = History(brokers_keep_progress=brokers).publish(1, at_ms=10).confirm(1)
        history.deliver(1, at_ms=100, tag=5, place="broker-a/0", offset=7)
        return left(history).deliver(1, via=via, consumer=9, place="host/0", offset=7)

    assert counts_of(passed(Via.AUDIT)) == found
    assert counts_of(passed(Via.HALF)) == found
    assert counts_of(passed(Via.DRAIN)) == {}
    undrained = passed(Via.AUDIT).queue(drained=False)
    assert counts_of(undrained) == ({"not_redelivered_unknown drain": 1} if brokers else {})


def test_a_redelivery_to_an_open_connection_suffices() -> None:
    history = left(given_out()).deliver(1, redelivered=Redelivered.YES, connection=2)
    assert counts_of(history) == {}


def test_two_abandoned_deliveries_count_once() -> None:
    history = left(given_out()).deliver(1, at_ms=300, connection=2, via=Via.RETRY_TOPIC)
    history.client_event("closed", at_ms=400, connection=2)
    findings = judge(*history.build())
    assert counts(findings, *MEASURES) == FORGOTTEN
    assert affected(findings, *MEASURES) == [("", 1, 1, ns(300))]


def test_one_that_was_acknowledged_once_is_known_to_be_done() -> None:
    history = left(given_out().acknowledge(5, at_ms=150)).deliver(1, at_ms=300, connection=2)
    assert counts_of(history.client_event("closed", at_ms=400, connection=2)) == {}


def test_every_attempt_is_checked_separately() -> None:
    history = left(given_out()).publish(1, attempt=2).deliver(1, attempt=2, connection=2)
    assert counts_of(history) == FORGOTTEN
    history.client_event("lost", connection=2)
    assert counts_of(history) == {"not_redelivered": 2}


def test_a_reader_without_acknowledgements_allows_no_redelivery() -> None:
    assert counts_of(left(given_out(History(acknowledges=False)))) == {}


def test_with_open_records_missing_redelivery_is_unknown() -> None:
    unread = left(given_out()).queue(unreadable=("rmq2",))
    assert counts_of(unread) == {"not_redelivered_unknown unreadable": 1}
    undrained = unread.queue(drained=False, unreadable=("rmq2",))
    assert counts_of(undrained) == {"not_redelivered_unknown drain": 1}
    assert counts_of(undrained.log_open(CONSUMER)) == {"not_redelivered_unknown consumer_log": 1}


def test_every_later_window_may_have_caused_a_missing_redelivery() -> None:
    history = left(given_out()).window(50, over_ms=99).window(90_000)
    assert judge(*history.build()).attributions == (
        Attribution("run", "not_redelivered", "", "2", 1),
    )


def killed(history: History) -> History:
    """A fault ended the consumer for good at 200 ms."""
    return history.away(CONSUMER, 200)


def test_a_killed_consumers_deliveries_may_have_been_acknowledged() -> None:
    findings = judge(*killed(given_out()).build())
    assert counts(findings, *MEASURES) == {"not_redelivered_unknown consumer_killed": 1}
    assert counts_of(left(killed(given_out()))) == FORGOTTEN, "its end is on record"
    before = left(killed(given_out()), 99)
    assert counts_of(before) == {"not_redelivered_unknown consumer_killed": 1}, "it lived on"
    two = killed(given_out()).client_event("lost", at_ms=50, connection=0)
    assert counts_of(left(two)) == FORGOTTEN, "whatever other connections of it ended"
    assert counts_of(killed(given_out()).acknowledge(5, at_ms=199)) == {}


def test_a_killed_consumers_redelivered_messages_were_kept() -> None:
    assert counts_of(killed(given_out()).deliver(1, at_ms=300, via=Via.DRAIN, consumer=9)) == {}
    assert counts_of(killed(given_out()).deliver(1, at_ms=300, consumer=9)) == {}


def test_only_a_consumer_that_never_came_back_was_killed() -> None:
    assert counts_of(given_out().away(CONSUMER, 200, 300)) == {}
    assert counts_of(given_out().away(9, 200)) == {}


def test_an_undrained_queue_is_named_before_a_killed_consumer() -> None:
    history = killed(given_out()).queue(drained=False)
    assert counts_of(history) == {"not_redelivered_unknown drain": 1}


def unconfirmed(history: History | None = None) -> History:
    return left((history or History()).publish(1, at_ms=10).deliver(1, at_ms=100, tag=5))


def test_a_fault_may_take_what_was_given_out_unconfirmed() -> None:
    open_one = {"not_redelivered_unknown unconfirmed": 1}
    assert counts_of(unconfirmed()) == FORGOTTEN, "no fault can have taken it"
    assert counts_of(unconfirmed().window(50)) == open_one
    assert counts_of(unconfirmed().window(50, over_ms=100)) == open_one
    assert counts_of(unconfirmed().window(50, over_ms=100 - NANOSECOND_MS)) == FORGOTTEN
    assert counts_of(unconfirmed().window(9_000)) == open_one, "it may have waited until then"
    assert counts_of(left(given_out()).window(50)) == FORGOTTEN, "what is confirmed is kept"
    undrained = unconfirmed().window(50).queue(drained=False)
    assert counts_of(undrained) == {"not_redelivered_unknown drain": 1}


def test_faults_of_clients_take_nothing_from_a_broker() -> None:
    assert counts_of(unconfirmed().window(50, kind="client_freeze")) == FORGOTTEN
    assert counts_of(unconfirmed().window(50, kind="reset")) == FORGOTTEN


def test_a_clock_may_move_a_delivery_into_a_fault() -> None:
    history = unconfirmed().window(50, over_ms=80)
    assert counts_of(history.clock(CONSUMER, 19)) == FORGOTTEN
    assert counts_of(history.clock(CONSUMER, 20)) == {"not_redelivered_unknown unconfirmed": 1}


def test_each_attempt_needs_a_confirm_of_its_own() -> None:
    history = unconfirmed().window(50).publish(1, attempt=2).confirm(1, attempt=2)
    history.deliver(1, attempt=2, connection=2).client_event("lost", connection=2)
    assert counts_of(history) == FORGOTTEN | {"not_redelivered_unknown unconfirmed": 1}
