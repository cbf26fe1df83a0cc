"""What a broker may lose, and what only looks lost: fates of transactions, offsets of logs, queues
that do not last, drains that stop early, and runs with too little to judge. Tiny histories, each
broken one beside a healthy one that nearly looks like it. What must be said follows from
docs/verdicts.md, by the argument of each story."""

from typing import Any

import pytest

from spark_analysis.schema.words import Fate, Outcome
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History
from tests.rigs.histories.claim_names import (
    ACKED,
    AT_OFFSET,
    CHECKED,
    CONSUMED,
    DELIVERED,
    ELECTION,
    FIFO,
    NO_ACK_LOSES,
    OF_MIRRORS,
    ONE_COPY,
    REFUSED,
    ROLLED_BACK,
    STEADY,
    TORN,
    UNACKED,
    UNEXPECTED,
    UNSYNCHRONISED,
)
from tests.rigs.histories.sketches import (
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    failover,
)
from tests.rigs.histories.ways import Via

UNKNOWN, CONFIRMED, REFUSED_ = Outcome.UNKNOWN, Outcome.CONFIRMED, Outcome.REFUSED
MESSAGES = 20
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_what_is_missing_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def tiny(messages: int = MESSAGES, **options: bool) -> Sketch:
    """Ten messages a second, as many as the scenario plans."""
    sketch = calm(messages * 100, **options)
    sketch.declared["messages"] = messages
    return sketch


def drained(sketch: Sketch, *sequences: int) -> Sketch:
    """The drain gets these, and no consumer."""
    for place, sequence in enumerate(sequences):
        sketch.first(sequence).named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        sketch.first(sequence).move(10_000 + place)
    return sketch


# --- polling, priorities, and consumers that stop ------------------------------------------------


@case(passes=f"{DELIVERED} {ONE_COPY}", lost=0)
def the_consumer_stops_and_the_drain_gets_the_rest() -> Sketch:
    return drained(tiny(), *range(12, 20))


@case(DELIVERED, lost=1)
def the_consumer_stops_and_the_drain_gets_all_but_one() -> Sketch:
    sketch = drained(tiny(), *range(12, 20))
    sketch.lose(15)
    return sketch


def left(*sequences: int) -> Sketch:
    """No consumer got these, and the drain did not end."""
    sketch = tiny()
    sketch.lose(*sequences)
    sketch.history.queue(drained=False)
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=8)
def the_consumer_stops_and_the_drain_does_not_end() -> Sketch:
    return left(*range(12, 20))


@case(passes=DELIVERED, unknown=f"{ONE_COPY} {UNEXPECTED}")
def all_came_though_the_drain_did_not_end() -> Sketch:
    return left()


@case(unknown=DELIVERED, loss_unknown=1, stranded=7)
def the_audit_finds_all_but_one_of_what_an_unended_drain_left() -> Sketch:
    """Consumers may get the rest."""
    sketch = left(*range(12, 20))
    for sequence in range(12, 19):
        sketch.deliver(sequence, 20_000 + sequence, via=Via.AUDIT)
    return sketch


@case(passes=DELIVERED, not_applicable=f"{CONSUMED} {ACKED}", lost=0)
def no_consumer_reads_before_the_drain() -> Sketch:
    sketch = drained(tiny(), *range(20))
    sketch.history.no_consumer()
    sketch.history.rows["client_events"].clear()
    sketch.declared |= {"consumers": 0, "acknowledges": False}
    return sketch


@case(DELIVERED, lost=1)
def no_consumer_reads_and_the_drain_misses_one() -> Sketch:
    sketch = no_consumer_reads_before_the_drain()
    sketch.lose(7)
    return sketch


def polled() -> Sketch:
    sketch = tiny()
    sketch.declared["polls"] = True
    return sketch


@case(passes=f"{DELIVERED} {ACKED} {ONE_COPY}")
def every_poll_gets_a_message() -> Sketch:
    return polled()


@case(passes=DELIVERED, lost=0)
def polls_get_nothing_at_last_and_the_drain_the_rest() -> Sketch:
    """An empty answer is no loss."""
    return drained(polled(), *range(10, 20))


@case(DELIVERED, lost=1)
def neither_a_poll_nor_the_drain_gets_one() -> Sketch:
    sketch = drained(polled(), *range(10, 20))
    sketch.lose(12)
    return sketch


def with_priorities(*, ordered: bool) -> Sketch:
    """Message 3 has a low priority, and comes after all others."""
    sketch = tiny()
    sketch.declared["priorities"] = 5
    sketch.first(3).move(1_990)
    sketch.history.queue(ordered=ordered)
    return sketch


@case(passes=DELIVERED, not_applicable=f"{CONSUMED} {FIFO}", lost=0)
def a_low_priority_waits_for_all_others() -> Sketch:
    return with_priorities(ordered=False)


@case(FIFO, not_applicable=CONSUMED, reordered=1)
def one_of_a_key_is_overtaken_where_each_key_has_a_priority() -> Sketch:
    """Messages of one key have one priority, and keep their order."""
    return with_priorities(ordered=True)


@case(passes=FIFO, not_applicable=CONSUMED, reordered=0)
def one_of_another_key_is_overtaken_where_each_key_has_a_priority() -> Sketch:
    sketch = with_priorities(ordered=True)
    sketch.sent[PUBLISHER, 3, 1].named["key"] = 1
    return sketch


@case(DELIVERED, not_applicable=f"{CONSUMED} {FIFO}", lost=1)
def a_low_priority_never_comes() -> Sketch:
    sketch = with_priorities(ordered=False)
    sketch.lose(3)
    return sketch


# --- what was never confirmed, and confirms of all sorts -----------------------------------------


@case(passes=DELIVERED, lost=0, lost_indeterminate=1)
def nacked_and_gone() -> Sketch:
    sketch = tiny()
    sketch.answer(7, UNKNOWN)
    sketch.lose(7)
    sketch.declared["messages"] = MESSAGES - 1
    return sketch


@case(passes=DELIVERED, not_applicable=REFUSED, revived=1)
def nacked_and_delivered() -> Sketch:
    sketch = tiny()
    sketch.answer(7, UNKNOWN)
    sketch.declared["messages"] = MESSAGES - 1
    return sketch


@case(DELIVERED, lost=1)
def nacked_then_confirmed_and_gone() -> Sketch:
    sketch = tiny()
    sketch.answer(7, UNKNOWN, CONFIRMED)
    sketch.lose(7)
    return sketch


@case(REFUSED, refused_but_delivered=1)
def refused_and_delivered() -> Sketch:
    sketch = tiny()
    sketch.answer(7, REFUSED_)
    return sketch


@case(not_applicable=REFUSED, refused_but_delivered=0)
def refused_and_confirmed_and_delivered() -> Sketch:
    """The records do not say that it was not taken."""
    sketch = tiny()
    sketch.answer(7, REFUSED_, CONFIRMED)
    return sketch


@case(DELIVERED, lost=1)
def one_confirm_covers_all_and_one_of_them_is_gone() -> Sketch:
    """A confirm with `multiple`, at the end of the load."""
    sketch = tiny()
    for sequence in range(MESSAGES):
        sketch.answer(sequence, CONFIRMED, settled_ms=1_999)
    sketch.lose(3)
    return sketch


@case(passes=DELIVERED, lost=0)
def delivered_before_the_one_confirm_that_covers_all() -> Sketch:
    sketch = tiny()
    for sequence in range(MESSAGES):
        sketch.answer(sequence, CONFIRMED, settled_ms=1_999)
    return sketch


@case(unknown=DELIVERED, lost=0)
def nothing_was_confirmed_and_nothing_came() -> Sketch:
    sketch = tiny()
    for one in sketch.sent.values():
        one.outcomes = (UNKNOWN,)
    sketch.came.clear()
    return sketch


@case(not_applicable=f"{DELIVERED} {STEADY}", lost=0, lost_indeterminate=1)
def without_confirms_one_is_gone() -> Sketch:
    sketch = tiny(confirms=False)
    sketch.declared["confirms"] = False
    for one in sketch.sent.values():
        one.outcomes = (Outcome.UNCONFIRMED,)
    sketch.lose(7)
    return sketch


# --- too little, or nothing ----------------------------------------------------------------------


def nothing_sent() -> Sketch:
    sketch = tiny()
    sketch.sent.clear()
    sketch.came.clear()
    return sketch


@case(unknown=f"{DELIVERED} {ONE_COPY} {ACKED} {UNEXPECTED}")
def no_message_at_all() -> Sketch:
    return nothing_sent()


@case(UNEXPECTED, unknown=DELIVERED, unexpected=1)
def no_message_was_sent_and_one_comes() -> Sketch:
    sketch = nothing_sent()
    sketch.deliver(7, 760, attempt=1)
    return sketch


@case(unknown=f"{UNEXPECTED} {DELIVERED}", unexpected=0, unrecorded=1)
def no_message_is_on_record_and_one_comes_while_its_publisher_died() -> Sketch:
    sketch = no_message_was_sent_and_one_comes()
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(unknown=f"{DELIVERED} {ONE_COPY} {ACKED}", lost=0)
def three_of_twenty_planned_messages_all_came() -> Sketch:
    sketch = tiny(3)
    sketch.declared["messages"] = MESSAGES
    return sketch


@case(DELIVERED, lost=1)
def three_of_twenty_planned_messages_and_one_lost() -> Sketch:
    sketch = three_of_twenty_planned_messages_all_came()
    sketch.lose(1)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY} {ACKED}", unknown=STEADY)
def three_planned_messages_all_came() -> Sketch:
    """They show nothing of availability."""
    return tiny(3)


@case(unknown=DELIVERED, lost=0)
def the_last_of_the_planned_messages_was_not_confirmed() -> Sketch:
    sketch = tiny()
    sketch.answer(19, UNKNOWN)
    return sketch


# --- queues that do not last ---------------------------------------------------------------------


def transient(kind: str = "kill", *, messages: int = 30, verified: bool = True) -> Sketch:
    """The master of a transient queue fails at 2 s, for half a second."""
    sketch = tiny(messages)
    sketch.declared |= {"durable": False, "priorities": 0, "promote_on_failure": None}
    sketch.fault(2_000, 2_500, kind=kind, verified=verified)
    sketch.recorded[1] |= {"mirrors_at_fault": 0, "synchronised_mirrors_at_fault": 0}
    return sketch


@case(not_applicable=DELIVERED, lost=1)
def transient_and_gone_with_its_broker() -> Sketch:
    sketch = transient()
    sketch.lose(19)
    return sketch


@case(DELIVERED, lost=1)
def transient_and_gone_while_its_broker_ran() -> Sketch:
    """Later messages came before the fault, so no end of a broker took it."""
    sketch = transient_and_gone_with_its_broker()
    sketch.lose(2)
    sketch.deliver(19, 1_960)
    return sketch


@case(not_applicable=DELIVERED, lost=1)
def transient_and_overtaken_by_a_higher_priority_when_its_broker_ended() -> Sketch:
    """It may have waited until the fault."""
    sketch = transient_and_gone_while_its_broker_ran()
    sketch.declared["priorities"] = 5
    return sketch


@case(not_applicable=DELIVERED, lost=1)
def transient_and_delayed_until_its_broker_had_ended() -> Sketch:
    sketch = transient_and_gone_while_its_broker_ran()
    sketch.history.terms(2, due_ms=2_400)
    return sketch


@case(DELIVERED, lost=1)
def persistence_undeclared_and_gone_while_its_broker_ran() -> Sketch:
    sketch = transient_and_gone_while_its_broker_ran()
    sketch.declared |= {"durable": True, "persistent": None}
    return sketch


@case(DELIVERED, lost=1)
def transient_and_gone_without_a_fault() -> Sketch:
    sketch = tiny()
    sketch.declared["durable"] = False
    sketch.lose(7)
    return sketch


@case(DELIVERED, lost=1)
def persistence_undeclared_and_gone_without_a_fault() -> Sketch:
    """No broker ended, so nothing had to survive one."""
    sketch = tiny()
    sketch.declared["persistent"] = None
    sketch.lose(7)
    return sketch


@case(unknown=DELIVERED, lost=1)
def persistence_undeclared_and_gone_with_its_broker() -> Sketch:
    sketch = transient_and_gone_with_its_broker()
    sketch.declared |= {"durable": True, "persistent": None}
    return sketch


def unread(sketch: Sketch) -> Sketch:
    """Its consumers acknowledge nothing: the broker deletes what it sends."""
    sketch.declared |= {"acknowledges": False, "no_ack": True}
    for one in sketch.came:
        one.acked_ms = None
    return sketch


@case(not_applicable=DELIVERED, passes=NO_ACK_LOSES, lost=1)
def without_acknowledgements_one_is_gone() -> Sketch:
    sketch = unread(tiny())
    sketch.lose(7)
    return sketch


@case(not_applicable=DELIVERED, unknown=NO_ACK_LOSES)
def without_acknowledgements_all_came() -> Sketch:
    """One run without an example refutes no sentence about some cases."""
    return unread(tiny())


# --- transactions --------------------------------------------------------------------------------


def transactions(fate: Fate, *answers: Outcome) -> Sketch:
    """Every message is a transaction of that fate, with these answers."""
    sketch = tiny()
    sketch.history.queue(ordered=False, quiet_ms=30_000)
    planned: dict[Fate, dict[str, Any]] = {
        Fate.COMMIT: {"messages_to_commit": MESSAGES, "messages_to_check": 0},
        Fate.ROLLBACK: {"messages_to_commit": 0, "messages_to_check": 0},
        Fate.COMMIT_WHEN_CHECKED: {"messages_to_commit": 0, "messages_to_check": MESSAGES},
    }
    sketch.declared |= {"messages_in_transactions": MESSAGES, **planned[fate]}
    for sequence in range(MESSAGES):
        sketch.history.terms(sequence, fate=fate)
        sketch.answer(sequence, *answers)
    return sketch


def rolled_back(*answers: Outcome) -> Sketch:
    """None of them comes."""
    sketch = transactions(Fate.ROLLBACK, *answers)
    sketch.came.clear()
    return sketch


@case(passes=ROLLED_BACK, rolled_back_but_delivered=0)
def rolled_back_and_nothing_comes() -> Sketch:
    return rolled_back(REFUSED_)


@case(ROLLED_BACK, rolled_back_but_delivered=1)
def rolled_back_and_one_comes() -> Sketch:
    sketch = rolled_back(REFUSED_)
    sketch.deliver(7, 760)
    return sketch


@case(ROLLED_BACK, rolled_back_but_delivered=1)
def rolled_back_and_the_audit_finds_the_message() -> Sketch:
    sketch = rolled_back(REFUSED_)
    sketch.deliver(7, 20_000, via=Via.AUDIT)
    return sketch


@case(passes=ROLLED_BACK, rolled_back_but_delivered=0)
def rolled_back_and_the_audit_finds_the_half() -> Sketch:
    sketch = rolled_back(REFUSED_)
    sketch.deliver(7, 20_000, acked=False, via=Via.HALF, consumer=90, connection=9)
    return sketch


@case(unknown=ROLLED_BACK, rollback_unknown=1)
def one_comes_whose_rollback_was_not_answered() -> Sketch:
    """Its producer may have died before the rollback arrived."""
    sketch = rolled_back(REFUSED_)
    sketch.answer(7, UNKNOWN)
    sketch.deliver(7, 760)
    return sketch


@case(unknown=ROLLED_BACK, rolled_back_but_delivered=0)
def no_rollback_was_answered_and_nothing_comes() -> Sketch:
    """Nothing shows that any of them was rolled back, so no broker could fail."""
    return rolled_back(UNKNOWN)


@case(unknown=ROLLED_BACK, rolled_back_but_delivered=0)
def one_rollback_was_answered_and_nothing_comes() -> Sketch:
    """One of twenty shows too little."""
    sketch = rolled_back(UNKNOWN)
    sketch.answer(7, REFUSED_)
    return sketch


@case(unknown=ROLLED_BACK, rolled_back_but_delivered=0)
def nothing_that_was_to_be_rolled_back_was_sent() -> Sketch:
    sketch = rolled_back(REFUSED_)
    sketch.sent.clear()
    for sequence in range(MESSAGES):
        sketch.history.not_sent(sequence, intended_ms=50 + sequence * 100)
    return sketch


@case(passes=f"{TORN} {DELIVERED}", torn_transaction=0)
def committed_and_all_come() -> Sketch:
    return transactions(Fate.COMMIT, CONFIRMED)


@case(DELIVERED, lost=1, torn_transaction=0)
def committed_and_one_is_gone() -> Sketch:
    sketch = transactions(Fate.COMMIT, CONFIRMED)
    sketch.lose(7)
    return sketch


def halved(sketch: Sketch) -> Sketch:
    sketch.lose(7)
    sketch.deliver(7, 20_000, acked=False, via=Via.HALF, consumer=90, connection=9)
    return sketch


@case(f"{DELIVERED} {TORN}", torn_transaction=1, stranded=1)
def committed_and_a_half_stays() -> Sketch:
    return halved(transactions(Fate.COMMIT, CONFIRMED))


@case(DELIVERED, passes=TORN, torn_transaction=0, stranded=1)
def committed_and_half_and_message_stay() -> Sketch:
    """The commit is there, but no client looks at it."""
    sketch = halved(transactions(Fate.COMMIT, CONFIRMED))
    sketch.deliver(7, 20_001, via=Via.AUDIT)
    return sketch


@case(unknown=f"{DELIVERED} {TORN}", torn_transaction=0, unreachable=1)
def committed_and_a_half_stays_beside_an_unread_place() -> Sketch:
    sketch = halved(transactions(Fate.COMMIT, CONFIRMED))
    sketch.history.queue(ordered=False, unreadable=("broker-b",))
    return sketch


@case(passes=f"{DELIVERED} {TORN}", lost_indeterminate=1, torn_transaction=0)
def the_commit_was_not_answered_and_it_is_gone() -> Sketch:
    sketch = halved(transactions(Fate.COMMIT, CONFIRMED))
    sketch.answer(7, UNKNOWN)
    sketch.declared |= {"messages": 19, "messages_to_commit": 19, "messages_in_transactions": 19}
    return sketch


def checked(until_s: float = 6) -> Sketch:
    """The broker has to check every transaction within this time; one of them stays a half."""
    sketch = halved(transactions(Fate.COMMIT_WHEN_CHECKED, CONFIRMED))
    sketch.declared["checks_within_s"] = until_s
    return sketch


@case(CHECKED, unknown=DELIVERED, unchecked=1)
def one_was_never_checked() -> Sketch:
    return checked()


@case(unknown=f"{CHECKED} {DELIVERED}", unchecked=0, unchecked_unknown=1)
def one_was_not_checked_and_the_time_for_it_was_not_over() -> Sketch:
    return checked(until_s=60)


@case(unknown=f"{CHECKED} {DELIVERED}", unchecked=0, unchecked_unknown=1)
def one_was_not_checked_and_its_producer_had_left() -> Sketch:
    sketch = checked()
    sketch.history.client_event("closed", at_ms=2_500, worker=PUBLISHER)
    return sketch


@case(CHECKED, unknown=DELIVERED, unchecked=1)
def one_was_not_checked_and_its_producer_left_later() -> Sketch:
    sketch = checked()
    sketch.history.client_event("closed", at_ms=9_500, worker=PUBLISHER)
    return sketch


@case(passes=f"{CHECKED} {DELIVERED}", unchecked=0)
def all_were_checked_and_come() -> Sketch:
    sketch = transactions(Fate.COMMIT_WHEN_CHECKED, CONFIRMED)
    sketch.declared["checks_within_s"] = 6
    return sketch


# --- delays, and a fault that comes meanwhile ----------------------------------------------------


def delayed_and_gone(due_ms: float) -> Sketch:
    """It is sent at 10 s; later messages come at once; the master is killed at 15 s."""
    sketch = failover()
    sketch.history.terms(100, due_ms=due_ms)
    sketch.lose(100)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def delayed_until_after_the_kill_and_gone() -> Sketch:
    """It waited when the master was killed."""
    return delayed_and_gone(25_000)


@case(DELIVERED, lost=1)
def delayed_until_three_seconds_before_the_kill_and_gone() -> Sketch:
    """It had to come before the kill."""
    return delayed_and_gone(12_000)


@case(unknown=DELIVERED, lost=0, loss_unknown__not_due=1)
def delayed_until_after_the_drain_and_gone() -> Sketch:
    return delayed_and_gone(80_000)


# --- logs and their offsets ----------------------------------------------------------------------


def log(*, kept_by: str = "brokers", messages: int = 30) -> Sketch:
    """Message n is at offset n. The load lasts until 20 s."""
    sketch = Sketch(History(load_ms=(0, 20_000)))
    sketch.declared |= {"messages": messages, "progress_kept_by": kept_by}
    sketch.history.client_event("consuming", at_ms=1)
    sketch.flow(50, messages * 100)
    for one in sketch.came:
        one.named |= {"place": "broker-a", "offset": one.sequence}
    return sketch


def at(offset: int) -> dict[str, Any]:
    return {"place": "broker-a", "offset": offset}


@case(ACKED, duplicated__offset_rollback=5)
def read_again_ten_seconds_after_the_acknowledgement() -> Sketch:
    sketch = log()
    for sequence in range(10, 15):
        sketch.deliver(sequence, 12_000 + sequence, **at(sequence))
    return sketch


@case(ACKED, duplicated__offset_rollback=5)
def read_again_ten_seconds_after_the_acknowledgement_by_a_consumer_that_dies() -> Sketch:
    """Brokers kept the group's progress, and its connection still lived then."""
    sketch = read_again_ten_seconds_after_the_acknowledgement()
    sketch.history.log_open(CONSUMER)
    return sketch


@case(passes=f"{ACKED} {ONE_COPY}", duplicated__redelivery=5)
def read_again_four_seconds_after_the_acknowledgement() -> Sketch:
    """Clients report their progress every 5 s."""
    sketch = log()
    for sequence in range(10, 15):
        sketch.deliver(sequence, 6_000 + sequence, **at(sequence))
    return sketch


@case(passes=f"{ACKED} {ONE_COPY}", duplicated__redelivery=5)
def read_again_from_an_offset_that_was_never_acknowledged_on() -> Sketch:
    """Progress passes an offset when all before it is acknowledged."""
    sketch = read_again_ten_seconds_after_the_acknowledgement()
    sketch.forget_to_acknowledge(9)
    return sketch


@case(ACKED, duplicated__offset_rollback=5)
def read_again_though_a_later_offset_was_never_acknowledged() -> Sketch:
    sketch = read_again_ten_seconds_after_the_acknowledgement()
    sketch.forget_to_acknowledge(20)
    return sketch


@case(unknown=ACKED, duplicated__redelivery=5, duplicated__offset_rollback=0)
def read_again_and_processes_were_not_watched() -> Sketch:
    """An end that nothing shows would excuse it."""
    sketch = read_again_though_a_later_offset_was_never_acknowledged()
    sketch.facts["process_watch_lost"] = "the engine answered nothing"
    return sketch


@case(passes=ACKED, duplicated__redelivery=5)
def read_again_after_the_end_of_the_connection() -> Sketch:
    """It ended before the next report."""
    sketch = log()
    sketch.history.client_event("lost", at_ms=4_000)
    sketch.history.client_event("consuming", at_ms=4_100, connection=2)
    for sequence in range(10, 15):
        sketch.deliver(sequence, 12_000 + sequence, connection=2, **at(sequence))
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_at_another_offset() -> Sketch:
    sketch = log()
    sketch.deliver(10, 6_000, **at(30))
    return sketch


@case(unknown=f"{ONE_COPY} {ACKED}", duplicated__ambiguous=1)
def a_second_copy_of_an_unknown_place() -> Sketch:
    sketch = log()
    sketch.deliver(10, 12_000, offset=10)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def the_retry_topic_has_it_ten_seconds_after_the_acknowledgement() -> Sketch:
    sketch = log()
    sketch.deliver(10, 12_000, via=Via.RETRY_TOPIC, place="broker-a", offset=0)
    return sketch


@case(passes=f"{ACKED} {ONE_COPY}", duplicated__redelivery=1)
def the_retry_topic_has_what_was_never_acknowledged() -> Sketch:
    sketch = the_retry_topic_has_it_ten_seconds_after_the_acknowledgement()
    sketch.forget_to_acknowledge(10)
    return sketch


@case(DELIVERED, lost=3)
def skipped_and_not_in_the_log() -> Sketch:
    """The log ended before them: its next leader had less."""
    sketch = log()
    sketch.lose(27, 28, 29)
    return sketch


@case(DELIVERED, stranded=3, lost=0)
def skipped_and_in_the_log() -> Sketch:
    sketch = skipped_and_not_in_the_log()
    for sequence in (27, 28, 29):
        sketch.deliver(sequence, 30_000 + sequence, via=Via.AUDIT, **at(sequence))
    return sketch


@case(unknown=DELIVERED, lost=0, unreachable=3)
def skipped_and_one_log_was_not_read() -> Sketch:
    sketch = skipped_and_not_in_the_log()
    sketch.history.queue(unreadable=("broker-a",))
    return sketch


def truncated() -> Sketch:
    """Message 29 was read and acknowledged at offset 29. Then the log lost its tail, and message
    30 got the same offset; its consumer did not acknowledge it."""
    sketch = log()
    sketch.send(30, 4_000)
    sketch.deliver(30, 4_010, acked=False, **at(29))
    return sketch


@case(passes=DELIVERED, lost=0)
def two_messages_have_one_offset() -> Sketch:
    """Both came."""
    return truncated()


@case(passes=ACKED, duplicated__offset_rollback=0, duplicated__redelivery=1)
def the_unacknowledged_one_of_two_at_one_offset_comes_again() -> Sketch:
    """What was acknowledged is the message that had this offset before."""
    sketch = truncated()
    sketch.deliver(30, 16_000, **at(29))
    return sketch


@case(ACKED, duplicated__offset_rollback=1)
def the_acknowledged_one_of_two_at_one_offset_comes_again() -> Sketch:
    sketch = truncated()
    sketch.first(30).acked_ms = 4_012
    sketch.deliver(29, 16_000, **at(29))
    return sketch


@case(AT_OFFSET, not_applicable=ACKED, passes=ONE_COPY)
def a_stream_is_read_from_before_the_offset() -> Sketch:
    sketch = log(kept_by="clients")
    sketch.deliver(10, 12_000, **at(10))
    return sketch


@case(passes=AT_OFFSET, not_applicable=f"{ACKED} {UNACKED}")
def a_stream_is_read_once() -> Sketch:
    return log(kept_by="clients")


@case(unknown=AT_OFFSET)
def a_stream_is_read_from_before_the_offset_of_a_dead_consumer() -> Sketch:
    """The next one goes on at the last offset that the dead one reported."""
    sketch = a_stream_is_read_from_before_the_offset()
    sketch.history.log_open(CONSUMER)
    return sketch


@case(not_applicable=AT_OFFSET)
def a_stream_is_read_from_before_the_offset_after_its_consumer_was_killed() -> Sketch:
    sketch = a_stream_is_read_from_before_the_offset()
    sketch.fault(8_000, 10_000, kind="client_crash", role="none")
    return sketch


@case(AT_OFFSET)
def a_stream_is_read_from_before_the_offset_after_its_leader_was_killed() -> Sketch:
    sketch = a_stream_is_read_from_before_the_offset()
    sketch.fault(8_000, 10_000)
    return sketch


# --- warnings, and faults that a claim does not speak of -----------------------------------------


def unsynchronised(*lost: int, role: str = "master", verified: bool = True) -> Sketch:
    """The master is killed at 2 s while no mirror is synchronised."""
    sketch = tiny(60)
    sketch.declared["promote_on_failure"] = "always"
    sketch.fault(2_000, 4_000, role=role, verified=verified)
    sketch.recorded[1]["synchronised_mirrors_at_fault"] = 0
    sketch.lose(*lost)
    return sketch


@case(f"{DELIVERED} mirrored-queue-works-on", passes=UNSYNCHRONISED, lost=1)
def what_no_mirror_had_is_lost_as_foretold() -> Sketch:
    return unsynchronised(19)


@case(unknown=UNSYNCHRONISED, lost=0)
def nothing_is_lost_while_too_few_messages_were_due() -> Sketch:
    """Too little was sent to say that the broker did better."""
    return unsynchronised()


@case(DELIVERED, not_applicable=UNSYNCHRONISED, lost=1)
def lost_when_a_mirror_was_killed() -> Sketch:
    return unsynchronised(19, role="mirror")


@case(DELIVERED, unknown=UNSYNCHRONISED, lost=1)
def lost_and_the_kill_was_not_verified() -> Sketch:
    return unsynchronised(19, verified=False)


@case(DELIVERED, lost=1)
def lost_before_the_kill_and_not_by_it() -> Sketch:
    """What came later came before the fault."""
    return unsynchronised(2)


@case(DELIVERED, unknown=ELECTION, lost=1)
def lost_and_the_role_of_the_target_is_unknown() -> Sketch:
    sketch = unsynchronised(19)
    sketch.recorded[1] = {}
    return sketch
