"""Clusters that mqproof did not start: facts that are unknown, messages of strangers, logs that
were cut off, clocks of other machines. What must be said follows from docs/verdicts.md 1 to 6, 10,
11 and 14, by each story's argument."""

import pytest

from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    CORRUPT,
    DELIVERED,
    ELECTION,
    FIFO,
    HOSTS,
    MISROUTED,
    ONE_COPY,
    REQUEUED,
    SERVED,
    STEADY,
    TAKEN_OVER,
    UNACKED,
    UNEXPECTED,
    WORKS_ON,
)
from tests.rigs.histories.client_faults import confirm_late
from tests.rigs.histories.several_faults import fault, load
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    handed_over,
    relinked,
)
from tests.rigs.histories.ways import Via

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_partial_knowledge_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def killed(*out_s: tuple[float, float], until_s: float = 100) -> Sketch:
    """The master is killed from 15 to 40 s."""
    return fault(load(until_s, *out_s), 15, 40)


def without(sketch: Sketch, *names: str) -> Sketch:
    """These facts were neither declared nor recorded."""
    for name in names:
        sketch.declared.pop(name, None)
        sketch.recorded[1].pop(name, None)
    return sketch


# --- replicas and leaders that are unknown -------------------------------------------------------


@case(passes=f"{AFTER} {DELIVERED}", unknown=SERVED)
def the_number_of_copies_is_unknown() -> Sketch:
    """Whether the queue had all its copies decides whether one node failed."""
    return without(killed((15, 17)), "copies")


@case(unknown=SERVED, passes=AFTER)
def the_number_of_copies_is_unknown_and_out_until_the_undo() -> Sketch:
    return without(killed((15, 41)), "copies")


@case(AFTER, unknown=SERVED)
def the_number_of_copies_is_unknown_and_out_for_good() -> Sketch:
    """No replica has to be known to see that no broker serves."""
    return without(killed((15, 100)), "copies")


@case(DELIVERED, unknown=ELECTION, lost=1)
def synchronised_mirrors_are_unknown_and_one_is_lost() -> Sketch:
    sketch = without(killed((15, 17)), "synchronised_mirrors_at_fault")
    sketch.declared["confirm_waits_for_mirrors"] = False
    sketch.recorded[1].pop("mirrors_at_fault")
    sketch.lose(149)
    return sketch


@case(passes=f"{AFTER} {DELIVERED}", unknown=SERVED)
def whose_host_was_killed_is_unknown() -> Sketch:
    return without(killed((15, 17)), "fault_target_role")


@case(unknown=SERVED, passes=AFTER)
def whose_host_was_killed_is_unknown_and_out_until_the_undo() -> Sketch:
    return without(killed((15, 41)), "fault_target_role")


@case(passes=AFTER, not_applicable=SERVED)
def the_killed_host_had_nothing_of_the_queue() -> Sketch:
    sketch = killed((15, 41))
    sketch.recorded[1]["fault_target_role"] = "none"
    return sketch


@case(passes=f"{AFTER} {DELIVERED}", unknown=TAKEN_OVER)
def whether_the_system_elects_is_unknown() -> Sketch:
    return without(killed((15, 17)), "elects")


@case(unknown=f"{SERVED}", passes=AFTER)
def whether_the_system_elects_is_unknown_and_out_until_the_undo() -> Sketch:
    return without(killed((15, 41)), "elects")


@case(passes=AFTER, unknown=TAKEN_OVER)
def the_clients_endpoint_is_unknown() -> Sketch:
    return without(killed((15, 41)), "client_endpoint")


@case(passes=AFTER, unknown=HOSTS)
def whom_publishers_were_connected_to_is_unknown() -> Sketch:
    return without(killed((15, 17)), "publishers_connected_to_target")


@case(unknown=REQUEUED, passes=AFTER)
def nothing_shows_that_a_message_came_again() -> Sketch:
    return without(killed((15, 17)), "synchronised_mirrors_at_fault")


# --- when a fault was gone -----------------------------------------------------------------------


def not_noted(sketch: Sketch) -> Sketch:
    """No record says when faults were gone: within 5 s after their undo."""
    steps = sketch.history.rows["faults"]
    steps[:] = [one for one in steps if one["event"] != "gone"]
    return sketch


@case(AFTER)
def out_from_four_seconds_after_the_undo_and_gone_at_once() -> Sketch:
    """Clients had a deadline and two seconds to reconnect, until 43 s."""
    return killed((15, 17), (44, 47))


@case(passes=AFTER)
def out_from_four_seconds_after_the_undo_and_gone_five_seconds_later() -> Sketch:
    return fault(load(100, (15, 17), (44, 47)), 15, 40, gone_s=45)


@case(unknown=AFTER)
def out_from_four_seconds_after_the_undo_and_no_record_of_its_end() -> Sketch:
    """It depends on when the fault was gone."""
    return not_noted(killed((15, 17), (44, 47)))


@case(passes=f"{AFTER} {CONSUMED_AFTER} {DELIVERED}")
def served_at_once_after_the_undo_and_no_record_of_its_end() -> Sketch:
    return not_noted(killed((15, 17)))


@case(AFTER)
def out_long_after_the_undo_and_no_record_of_its_end() -> Sketch:
    return not_noted(killed((15, 17), (60, 66)))


@case(AFTER, passes=DELIVERED)
def out_for_good_and_no_record_of_its_end() -> Sketch:
    return not_noted(killed((15, 17), (50, 100)))


def held_from_44_s() -> Sketch:
    """Consumers get nothing for 7 s soon after the undo."""
    sketch = killed((15, 17))
    sketch.hold(44_000, 51_000)
    return sketch


@case(CONSUMED_AFTER, passes=AFTER)
def starved_from_four_seconds_after_the_undo_and_gone_at_once() -> Sketch:
    return held_from_44_s()


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def starved_from_four_seconds_after_the_undo_and_no_record_of_its_end() -> Sketch:
    """If the fault was gone after 5 s, clients may take until 48 s."""
    return not_noted(held_from_44_s())


@case(CONSUMED_AFTER, passes=AFTER)
def starved_long_after_the_undo_and_no_record_of_its_end() -> Sketch:
    sketch = not_noted(killed((15, 17)))
    sketch.hold(60_000, 67_000)
    return sketch


@case(unknown=CONSUMED_AFTER)
def starved_only_if_the_fault_was_gone_at_once_and_the_load_ends() -> Sketch:
    """Of the later time too little is left to judge."""
    sketch = not_noted(killed((15, 17), until_s=52))
    sketch.hold(43_500, 51_000)
    return sketch


def killed_again(*out_s: tuple[float, float]) -> Sketch:
    """The next kill comes 3 s after the undo of the first one, and perhaps while that lasts."""
    return not_noted(fault(killed((15, 17), (43, 45), *out_s), 43, 60))


@case(passes=AFTER)
def the_next_kill_comes_before_the_first_one_is_gone_for_certain() -> Sketch:
    return killed_again()


@case(AFTER)
def out_after_a_kill_that_perhaps_overlapped_with_the_one_before() -> Sketch:
    return killed_again((70, 78))


# --- a layout that declares only some facts ------------------------------------------------------


@case(ELECTION, unknown=DELIVERED, lost=1)
def whether_queues_are_durable_is_unknown_and_one_is_lost_at_a_kill() -> Sketch:
    """A transient queue loses its messages by design; but not those that a mirror has, too."""
    sketch = without(killed((15, 17)), "durable", "copies", "elects", "mirrors_at_fault")
    sketch.lose(149)
    return sketch


@case(DELIVERED, lost=1)
def whether_queues_are_durable_is_unknown_and_one_is_lost_long_before() -> Sketch:
    """No end of a broker can have taken it."""
    sketch = without(fault(load(100), 60, 80), "durable")
    sketch.lose(100)
    return sketch


@case(DELIVERED, lost=1)
def whether_queues_are_durable_is_unknown_and_one_is_lost_without_a_fault() -> Sketch:
    sketch = calm(60_000)
    sketch.declared.pop("durable")
    sketch.lose(100)
    return sketch


@case(passes=DELIVERED, lost=0)
def whether_queues_are_durable_is_unknown_and_all_comes() -> Sketch:
    sketch = calm(60_000)
    sketch.declared.pop("durable")
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def who_keeps_the_progress_is_not_declared_and_it_comes_again() -> Sketch:
    """Acknowledgements are on record, so brokers keep it (harness/histories/README.md)."""
    sketch = calm(60_000)
    sketch.declared.pop("progress_kept_by")
    sketch.deliver(100, 20_000, again=True)
    return sketch


@case(DELIVERED, lost=1)
def no_ack_is_not_declared_and_one_is_lost_by_consumers_that_acknowledge() -> Sketch:
    """It follows from the consumers, who acknowledge."""
    sketch = calm(60_000)
    sketch.declared.pop("no_ack")
    sketch.lose(100)
    return sketch


@case(unknown=FIFO)
def the_number_of_masters_is_unknown_and_messages_are_reordered() -> Sketch:
    sketch = calm(60_000)
    sketch.declared.pop("masters")
    sketch.first(100).move(11_000)
    return sketch


@case(UNEXPECTED, unexpected=1)
def nothing_is_declared_and_a_message_was_never_sent() -> Sketch:
    """What no broker may do needs no declaration."""
    sketch = calm(60_000)
    sketch.declared.clear()
    sketch.deliver(9_999, 20_000, queue="orders")
    return sketch


@case(CORRUPT, corrupt=1)
def nothing_is_declared_and_a_payload_is_corrupt() -> Sketch:
    sketch = calm(60_000)
    sketch.declared.clear()
    sketch.first(100).named["payload_ok"] = False
    return sketch


# --- messages of strangers, and leftovers --------------------------------------------------------


@case(UNEXPECTED, unexpected=1, lost=0)
def a_message_of_another_run_is_in_the_queue() -> Sketch:
    """An empty queue was agreed on, so the queue gave out a message that was not sent."""
    sketch = calm(60_000)
    sketch.deliver(100, 5_000, queue="orders", run_ok=False)
    return sketch


@case(UNEXPECTED, unexpected=5)
def leftovers_come_before_the_first_message() -> Sketch:
    sketch = calm(60_000)
    for number in range(5):
        sketch.deliver(100 + number, 2 + number, queue="orders", run_ok=False)
    return sketch


@case(UNEXPECTED, passes=f"{DELIVERED} {ONE_COPY} {ACKED}", unexpected=1)
def a_strangers_message_is_no_duplicate_of_ours() -> Sketch:
    """It has the number of one of ours, and the run of another."""
    sketch = calm(60_000)
    sketch.deliver(100, 20_000, queue="orders", run_ok=False)
    return sketch


@case(f"{DELIVERED} {UNEXPECTED}", lost=1)
def a_strangers_message_does_not_stand_for_ours() -> Sketch:
    sketch = calm(60_000)
    sketch.lose(100)
    sketch.deliver(100, 20_000, queue="orders", run_ok=False)
    return sketch


@case(UNEXPECTED, unexpected=1, duplicated=0)
def a_leftover_comes_flagged_as_redelivered() -> Sketch:
    sketch = calm(60_000)
    sketch.deliver(100, 20_000, queue="orders", run_ok=False, again=True)
    return sketch


@case(f"{CORRUPT}", corrupt=1, unexpected=0)
def a_strangers_body_without_our_header() -> Sketch:
    """A broken header identifies nothing, so it is no message that was not sent."""
    sketch = calm(60_000)
    sketch.history.deliver_broken(at_ms=20_000).rows["deliveries"][-1]["acked_ns"] = None
    return sketch


@case(UNEXPECTED, unexpected=1, passes=DELIVERED)
def the_drain_finds_a_leftover() -> Sketch:
    sketch = calm(60_000)
    sketch.deliver(100, 70_000, via=Via.DRAIN, queue="orders", run_ok=False)
    return sketch


@case(passes=f"{UNEXPECTED} {DELIVERED}")
def a_canary_of_the_harness_is_no_stranger() -> Sketch:
    sketch = calm(60_000)
    sketch.deliver(1, 20_000, producer=-1, queue="orders")
    return sketch


# --- two queues, one of which is not observable --------------------------------------------------


def two_queues(**named: bool) -> Sketch:
    """The second half of the load goes to `audits`."""
    sketch = load(60)
    sketch.history.queue("audits", **named)
    for one in sketch.attempts(30_000, 60_000):
        one.named["queue"] = "audits"
    return sketch


@case(DELIVERED, lost=1)
def lost_in_the_queue_that_was_drained() -> Sketch:
    """The other one cannot have it."""
    sketch = two_queues(drained=False)
    sketch.lose(100)
    return sketch


@case(unknown=DELIVERED, loss_unknown=1, lost=0)
def missing_in_the_queue_that_was_not_drained() -> Sketch:
    sketch = two_queues(drained=False)
    sketch.lose(400)
    return sketch


@case(DELIVERED, lost=1, loss_unknown=1)
def missing_in_both_queues() -> Sketch:
    sketch = two_queues(drained=False)
    sketch.lose(100, 400)
    return sketch


@case(passes=DELIVERED, lost=0)
def a_queue_was_not_drained_and_all_came() -> Sketch:
    return two_queues(drained=False)


@case(MISROUTED, misrouted=1)
def misrouted_into_the_queue_that_was_not_drained() -> Sketch:
    sketch = two_queues(drained=False)
    sketch.first(100).named["queue"] = "audits"
    return sketch


@case(unknown=DELIVERED, unreachable=1)
def missing_while_a_place_could_not_be_read() -> Sketch:
    sketch = calm(60_000)
    sketch.history.queue(unreadable=("rmq3",))
    sketch.lose(100)
    return sketch


@case(unknown=DELIVERED, loss_unknown=1)
def nothing_is_known_of_the_queues_end() -> Sketch:
    sketch = calm(60_000)
    sketch.history.queue(drained=False, unreadable=("rmq1", "rmq2", "rmq3"))
    sketch.lose(100)
    return sketch


@case(CONSUMED, passes=STEADY)
def the_observable_queue_starves() -> Sketch:
    """In the first half nothing goes to the other queue."""
    sketch = two_queues(drained=False)
    sketch.hold(15_000, 24_000)
    return sketch


# --- logs that were cut off ----------------------------------------------------------------------


@case(unknown=DELIVERED, loss_unknown=1)
def missing_where_the_consumers_recorder_was_killed() -> Sketch:
    sketch = calm(60_000)
    sketch.history.log_open(CONSUMER)
    sketch.lose(100)
    return sketch


@case(passes=DELIVERED)
def all_came_before_the_recorder_was_killed() -> Sketch:
    sketch = calm(60_000)
    sketch.history.log_open(CONSUMER)
    return sketch


@case(unknown=UNEXPECTED, unrecorded=1)
def a_message_of_a_publisher_whose_recorder_was_killed() -> Sketch:
    sketch = calm(60_000)
    sketch.history.log_open(PUBLISHER)
    sketch.deliver(700, 59_990, queue="orders")
    return sketch


@case(UNEXPECTED, unexpected=1)
def a_strangers_message_while_a_recorder_was_killed() -> Sketch:
    """Another run's message is none of this publisher's."""
    sketch = calm(60_000)
    sketch.history.log_open(PUBLISHER)
    sketch.deliver(700, 59_990, queue="orders", run_ok=False)
    return sketch


@case(unknown=STEADY)
def nothing_was_out_as_far_as_a_cut_log_shows() -> Sketch:
    sketch = calm(60_000)
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(unknown=f"{ACKED} {ONE_COPY} {UNACKED}", not_redelivered=0)
def what_a_killed_consumer_held_comes_to_another() -> Sketch:
    """What it got last, also a second time, may not be on record."""
    sketch = handed_over(calm(60_000), how=None)
    sketch.history.log_open(CONSUMER)
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 15_401, again=True, consumer=OTHER)
    return sketch


@case(unknown=UNACKED, not_redelivered=0, not_redelivered_unknown=1)
def what_a_killed_consumer_held_comes_to_nobody() -> Sketch:
    """Its last acknowledgement may not be on record."""
    sketch = handed_over(calm(60_000), how="lost")
    sketch.history.log_open(CONSUMER)
    sketch.forget_to_acknowledge(149)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def stored_twice_beside_another_consumers_cut_log() -> Sketch:
    sketch = calm(60_000)
    sketch.history.worker(OTHER, "consumer", log_closed=False)
    sketch.deliver(400, 45_000)
    return sketch


@case(f"{AFTER}", unknown=SERVED)
def out_for_good_though_a_consumers_log_was_cut_off() -> Sketch:
    sketch = without(killed((15, 100)), "copies")
    sketch.history.log_open(CONSUMER)
    return sketch


# --- clocks of other machines --------------------------------------------------------------------


def elsewhere(bound_ms: float, *workers: int, sketch: Sketch | None = None) -> Sketch:
    sketch = calm(60_000) if sketch is None else sketch
    for worker in workers or (PUBLISHER, CONSUMER):
        sketch.history.clock(worker, bound_ms)
    return sketch


@case(DELIVERED, lost=1)
def lost_by_clocks_that_are_ten_seconds_apart() -> Sketch:
    sketch = elsewhere(10_000)
    sketch.lose(100)
    return sketch


@case(passes=f"{DELIVERED} {UNEXPECTED} {CORRUPT} {FIFO}")
def all_comes_by_clocks_that_are_ten_seconds_apart() -> Sketch:
    return elsewhere(10_000)


@case(passes=DELIVERED, unknown=f"{TAKEN_OVER} {AFTER}")
def taken_over_within_the_clocks_bound_of_the_undo() -> Sketch:
    """What ended it is finer than the clocks; so is whether it began before the fault."""
    return elsewhere(3_000, PUBLISHER, sketch=killed((15, 38)))


@case(SERVED, passes=AFTER)
def out_until_long_after_the_undo_by_any_clock() -> Sketch:
    return elsewhere(100, PUBLISHER, sketch=killed((15, 41)))


@case(AFTER, unknown=SERVED)
def out_for_good_by_any_clock() -> Sketch:
    return elsewhere(1_000, PUBLISHER, sketch=killed((15, 38), (60, 100)))


@case(passes=DELIVERED, unknown=f"{ACKED} {ONE_COPY}", duplicated__ambiguous=1)
def acknowledged_two_seconds_before_by_clocks_of_three() -> Sketch:
    sketch = elsewhere(3_000, CONSUMER, OTHER, sketch=handed_over(calm(60_000), 15_000, 15_400))
    sketch.deliver(129, 16_000, again=True, consumer=OTHER)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_ten_seconds_before_by_clocks_of_one() -> Sketch:
    sketch = elsewhere(1_000, CONSUMER, OTHER, sketch=handed_over(calm(60_000), 15_000, 15_400))
    sketch.deliver(50, 16_000, again=True, consumer=OTHER)
    return sketch


@case(passes=DELIVERED, unknown=FIFO, reordered=0)
def two_consumers_order_is_finer_than_their_clocks() -> Sketch:
    sketch = elsewhere(2_000, CONSUMER, OTHER, sketch=handed_over(calm(60_000), 15_000, 15_400))
    sketch.first(140).named["consumer"] = OTHER
    sketch.first(140).move(15_300)
    return sketch


@case(passes=CONSUMED)
def starved_for_less_than_the_limit_and_the_clocks() -> Sketch:
    sketch = elsewhere(100)
    sketch.hold(20_000, 24_000)
    return sketch


@case(unknown=CONSUMED)
def starved_for_longer_than_the_limit_by_one_clock_alone() -> Sketch:
    sketch = elsewhere(1_000)
    sketch.hold(20_000, 25_500)
    return sketch


@case(CONSUMED)
def starved_for_longer_than_the_limit_by_any_clock() -> Sketch:
    sketch = elsewhere(1_000)
    sketch.hold(20_000, 29_000)
    return sketch


@case(passes=f"{DELIVERED} {UNEXPECTED}")
def something_comes_before_it_was_sent_within_the_bound() -> Sketch:
    """The consumer's clock is 50 ms behind."""
    sketch = elsewhere(100)
    for one in sketch.came:
        one.move(one.at_ms - 50)
    return sketch


@case(unknown=f"{DELIVERED} {UNEXPECTED} {FIFO}", reordered=0)
def one_comes_before_it_was_sent_beyond_the_bound() -> Sketch:
    """Impossible times prove nothing, so it has no place in the order."""
    sketch = elsewhere(100)
    sketch.first(100).move(9_000)
    return sketch


@case(STEADY, passes=DELIVERED)
def confirms_are_late_by_the_publishers_own_clock() -> Sketch:
    """Both times are of one clock, so no bound excuses them."""
    return confirm_late(elsewhere(10_000, PUBLISHER, sketch=calm(90_000)), 20, 90, 1_500)


# --- no probe, no records of brokers -------------------------------------------------------------


@case(unknown=f"{SERVED} {AFTER} {DELIVERED}")
def no_probe_saw_the_kill() -> Sketch:
    return fault(load(100, (15, 17)), 15, 40, verified=False)


@case(DELIVERED, unknown=AFTER, lost=1)
def no_probe_saw_the_kill_and_one_is_lost() -> Sketch:
    sketch = fault(load(100), 15, 40, verified=False)
    sketch.lose(600)
    return sketch


@case(passes=f"{AFTER} {CONSUMED_AFTER} {DELIVERED}", unknown=WORKS_ON)
def brokers_log_nothing_and_clients_saw_all() -> Sketch:
    return without(relinked(killed()), "mirrors_at_fault", "synchronised_mirrors_at_fault")


@case(passes=DELIVERED, lost_indeterminate=1)
def no_answer_came_and_no_broker_keeps_a_log() -> Sketch:
    sketch = calm(60_000)
    sketch.answer(100, Outcome.UNKNOWN)
    sketch.lose(100)
    return sketch
