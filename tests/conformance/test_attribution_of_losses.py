"""Losses, and what may have caused them: confirm levels, hosts without power, queues that do not
last, faults of clients, late confirms, places of a log, and audits that see only a part. What must
be said follows from docs/verdicts.md 4.1, 9 and 11, by the argument of each story."""

from dataclasses import replace

import pytest

from spark_analysis.schema.words import Outcome, Strength
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History
from tests.rigs.histories.claim_names import (
    AFTER,
    CONSUMED_AFTER,
    CORRUPT,
    DELIVERED,
    ELECTION,
    MISROUTED,
    OF_MIRRORS,
    OF_ONE_NODE,
    ONE_COPY,
    REFUSED,
    TAKEN_OVER,
    UNACKED,
    UNEXPECTED,
    WORKS_ON,
)
from tests.rigs.histories.several_faults import fault, frozen, load, operated
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    SketchedDelivery,
    calm,
    for_groups,
    relinked,
)
from tests.rigs.histories.ways import Via

IN_MEMORY, ON_DISK = "confirmed-in-memory-is-kept", "confirmed-is-on-disk"
ON_ALL = "confirmed-is-on-all-mirrors"
A, B = 10, 11  # consumers of the groups a and b
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_the_cause_of_a_loss_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- confirm levels ------------------------------------------------------------------------------


def levels(*levels_of_attempts: Strength) -> Sketch:
    """Message 150 is nowhere; each attempt was confirmed with one of these levels."""
    sketch = calm()
    sketch.lose(150)
    for number, level in enumerate(levels_of_attempts, start=1):
        sketch.send(150, 15_050 + 200 * (number - 1), attempt=number)
        sketch.sent[PUBLISHER, 150, number].level = level
    return sketch


@case(DELIVERED, lost__buffered=1)
def confirmed_in_the_memory_of_one_broker_and_lost() -> Sketch:
    return levels(Strength.BUFFERED)


@case(DELIVERED, lost__slave_not_available=1)
def confirmed_without_its_slave_and_lost() -> Sketch:
    return levels(Strength.SLAVE_NOT_AVAILABLE)


@case(DELIVERED, lost__replicated=1, lost__unrouted_possible=0)
def perhaps_unrouted_then_replicated_and_both_attempts_lost() -> Sketch:
    return levels(Strength.UNROUTED_POSSIBLE, Strength.REPLICATED)


@case(unknown=DELIVERED, lost__unrouted_possible=1)
def both_attempts_perhaps_unrouted_and_nowhere() -> Sketch:
    return levels(Strength.UNROUTED_POSSIBLE, Strength.UNROUTED_POSSIBLE)


@case(DELIVERED, lost=2)
def one_perhaps_unrouted_and_one_stored_and_both_lost() -> Sketch:
    sketch = levels(Strength.UNROUTED_POSSIBLE)
    sketch.lose(160)
    sketch.sent[PUBLISHER, 160, 1].level = Strength.STORED
    return sketch


@case(DELIVERED, stranded__unrouted_possible=1)
def perhaps_unrouted_and_found_by_the_audit() -> Sketch:
    sketch = levels(Strength.UNROUTED_POSSIBLE)
    sketch.deliver(150, 50_000, via=Via.AUDIT)
    return sketch


@case(unknown=f"{DELIVERED} {OF_MIRRORS}", lost=1)
def perhaps_unrouted_at_the_kill_and_gone() -> Sketch:
    sketch = fault(load(80), 15, 35)
    sketch.lose(149)
    sketch.sent[PUBLISHER, 149, 1].level = Strength.UNROUTED_POSSIBLE
    return sketch


# --- in memory, on disk, and hosts without power -------------------------------------------------


def unmirrored(*, in_memory: bool, power: bool = True, kind: str = "kill") -> Sketch:
    """The only copy's host loses power, or its process dies; message 149 is lost."""
    sketch = fault(load(80), 15, 35, kind)
    one = sketch.history.facts.windows[0]
    assert one.properties is not None
    gone = replace(one.properties, takes_page_cache=power)
    sketch.facts["windows"] = (replace(one, properties=gone),)
    sketch.declared |= {"copies": 1, "confirm_waits_for_disk": not in_memory}
    sketch.recorded[1] |= {"mirrors_at_fault": 0, "synchronised_mirrors_at_fault": 0}
    sketch.lose(149)
    return sketch


@case(f"{DELIVERED} {ON_DISK}", not_applicable=f"{IN_MEMORY} {OF_MIRRORS}", lost=1)
def confirmed_on_disk_and_lost_without_power() -> Sketch:
    return unmirrored(in_memory=False)


@case(DELIVERED, not_applicable=f"{IN_MEMORY} {ON_DISK}", lost=1)
def confirmed_in_memory_and_lost_without_power() -> Sketch:
    """No one promised that level to survive, but mqproof's own list does."""
    return unmirrored(in_memory=True)


@case(f"{DELIVERED} {IN_MEMORY}", not_applicable=ON_DISK, lost=1)
def confirmed_in_memory_and_lost_with_the_process() -> Sketch:
    return unmirrored(in_memory=True, power=False)


@case(DELIVERED, not_applicable=f"{IN_MEMORY} {ON_DISK}", lost=1)
def confirmed_on_disk_and_lost_with_the_process() -> Sketch:
    """What the process wrote its host still had: no disk was tested."""
    return unmirrored(in_memory=False, power=False)


@case(DELIVERED, not_applicable=f"{IN_MEMORY} {ON_DISK}", lost=1)
def confirmed_in_memory_and_lost_while_its_process_stood_still() -> Sketch:
    return unmirrored(in_memory=True, power=False, kind="freeze")


@case(passes=DELIVERED, lost=0, lost_indeterminate=21)
def unanswered_without_power_and_gone() -> Sketch:
    sketch = unmirrored(in_memory=False)
    sketch.silence(14_900, 17_000)
    return sketch


def all_without_power(apart_s: float) -> Sketch:
    """Three hosts lose power, one after the other; all are down until 45 s."""
    sketch = load(110, (15, 47))
    for number in range(3):
        fault(sketch, 15 + number * apart_s, 45, role="master" if not number else "mirror")
    return sketch


@case(DELIVERED, unknown=f"{ELECTION} {TAKEN_OVER}", passes=AFTER, lost=1)
def lost_when_all_hosts_lost_power_at_once() -> Sketch:
    sketch = all_without_power(0)
    sketch.lose(149)
    return sketch


@case(DELIVERED, not_applicable=f"{ELECTION} {TAKEN_OVER}", passes=AFTER, lost=1)
def lost_when_hosts_lost_power_a_second_apart() -> Sketch:
    sketch = all_without_power(1)
    sketch.lose(149)
    return sketch


@case(passes=f"{DELIVERED} {AFTER}", not_applicable=OF_ONE_NODE)
def nothing_lost_though_hosts_lost_power_a_second_apart() -> Sketch:
    return all_without_power(1)


# --- queues that do not last ---------------------------------------------------------------------


def transient(kind: str, *, role: str = "none", from_s: float = 15, until_s: float = 20) -> Sketch:
    """A first fault, and the kill of a transient queue's broker at 70 s."""
    sketch = load(120)
    sketch.declared |= {"durable": False, "priorities": 0}
    return fault(fault(sketch, from_s, until_s, kind, role=role), 70, 90)


@case(DELIVERED, passes=ELECTION, lost=1)
def transient_and_lost_while_a_client_was_frozen_long_before_the_kill() -> Sketch:
    """No broker had ended yet, and no frozen client takes a message."""
    sketch = transient("client_freeze")
    sketch.lose(165)
    return sketch


@case(DELIVERED, lost=1)
def transient_and_lost_while_a_link_hung_long_before_the_kill() -> Sketch:
    sketch = transient("hang")
    sketch.lose(165)
    return sketch


@case(f"{ON_ALL} {WORKS_ON}", passes=ELECTION, not_applicable=DELIVERED, lost=1)
def transient_and_lost_while_its_broker_was_frozen_long_before_the_kill() -> Sketch:
    """Whether it ended itself when it was back is on no record."""
    sketch = transient("freeze", role="master")
    sketch.lose(165)
    return sketch


@case(OF_MIRRORS, not_applicable=DELIVERED, lost=1)
def transient_and_lost_by_the_kill_long_after_a_client_was_frozen() -> Sketch:
    sketch = transient("client_freeze")
    sketch.lose(699)
    return sketch


@case(OF_MIRRORS, not_applicable=DELIVERED, lost=1)
def transient_and_lost_by_the_kill_in_which_a_client_was_frozen() -> Sketch:
    sketch = transient("client_freeze", from_s=69, until_s=72)
    sketch.lose(699)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=2)
def transient_and_one_lost_before_the_kill_and_one_by_it() -> Sketch:
    sketch = transient("client_freeze")
    sketch.lose(165, 699)
    return sketch


@case(unknown=DELIVERED, lost=1)
def persistence_undeclared_and_lost_by_the_kill() -> Sketch:
    sketch = transient("client_freeze")
    sketch.declared |= {"durable": None}
    sketch.lose(699)
    sketch.recorded[2] = {}
    return sketch


@case(DELIVERED, lost=1)
def persistence_undeclared_and_lost_while_a_client_was_frozen() -> Sketch:
    sketch = transient("client_freeze")
    sketch.declared |= {"durable": None}
    sketch.lose(165)
    return sketch


@case(UNACKED, not_redelivered=1)
def transient_and_held_by_a_consumer_that_reconnected_before_any_fault() -> Sketch:
    """Its connection ended at 15.2 s and no later delivery came; the kill was at 70 s. It could
    have come again until then, but later messages came on the new connection."""
    sketch = relinked(calm(30_000))
    sketch.declared |= {"durable": False, "priorities": 0}
    sketch.forget_to_acknowledge(151)
    return sketch


# --- late confirms -------------------------------------------------------------------------------


def confirmed_late(sent_s: float, confirmed_s: float) -> Sketch:
    """One message alone is confirmed late, and lost. The kill of 15 s is over at 36 s."""
    sketch = fault(load(100), 15, 35)
    sequence = round(sent_s * 10)
    sketch.lose(sequence)
    sketch.answer(sequence, Outcome.CONFIRMED, settled_ms=confirmed_s * 1_000)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def sent_before_the_kill_and_confirmed_under_it_and_lost() -> Sketch:
    return confirmed_late(14.9, 15.5)


@case(DELIVERED, unknown=ELECTION, lost=1)
def sent_under_the_kill_and_confirmed_after_it_and_lost() -> Sketch:
    """The broker may have confirmed it long before the client read that, and the fault may have
    taken it."""
    return confirmed_late(30, 37)


@case(DELIVERED, passes=ELECTION, lost=1)
def sent_and_confirmed_after_the_kill_and_lost() -> Sketch:
    return confirmed_late(40, 41)


@case(DELIVERED, passes=ELECTION, lost=1)
def sent_confirmed_and_lost_long_before_the_kill() -> Sketch:
    return confirmed_late(5, 6)


# --- places of a log -----------------------------------------------------------------------------


def two_places(
    silent_s: tuple[float, float] | None = None, *, kind: str = "kill", over: bool = True
) -> Sketch:
    """Even messages lie on broker a, odd ones on broker b. Broker a, the target, gives out nothing
    in that time, and its messages come after it."""
    sketch = Sketch(History(load_ms=(0, 100_000), brokers_keep_progress=True))
    sketch.history.queue(ordered=False).client_event("consuming", at_ms=1)
    sketch.flow(50, 100_000)
    sketch.declared |= {
        "masters": 2,
        "copies": 2,
        "elects": False,
        "route_poll_s": 30,
        "confirm_waits_for_disk": False,
        "confirm_waits_for_mirrors": False,
        "promote_on_failure": None,
    }
    for one in sketch.came:
        place = "broker-b/0" if one.sequence % 2 else "broker-a/0"
        one.named |= {"place": place, "offset": one.sequence // 2}
        if silent_s and not one.sequence % 2:
            from_ms, until_ms = silent_s[0] * 1_000, silent_s[1] * 1_000
            if from_ms <= one.at_ms < until_ms:
                one.move(until_ms + one.sequence / 1_000)
    return fault(sketch, 15, 35, kind, over=over)


@case(f"{DELIVERED} {IN_MEMORY}", lost=1)
def lost_in_a_log_at_the_kill_of_its_broker() -> Sketch:
    sketch = two_places()
    sketch.lose(148)
    return sketch


@case(f"{DELIVERED} {IN_MEMORY}", lost=1)
def lost_in_a_place_that_had_given_nothing_for_four_seconds_before_the_kill() -> Sketch:
    """That the other place gave later messages says nothing of this one."""
    sketch = two_places((11, 36))
    sketch.lose(120)
    return sketch


@case(DELIVERED, passes=IN_MEMORY, lost=1)
def lost_in_a_log_whose_places_both_gave_later_messages_before_the_kill() -> Sketch:
    sketch = two_places()
    sketch.lose(120)
    return sketch


@case(DELIVERED, passes=IN_MEMORY, lost=1)
def lost_in_a_log_long_after_the_kill() -> Sketch:
    sketch = two_places()
    sketch.lose(600)
    return sketch


@case(DELIVERED, unknown=IN_MEMORY, lost=1)
def lost_in_a_log_long_after_a_kill_that_is_perhaps_not_over() -> Sketch:
    """The kill may have caused it for all that is known, and so may nothing but the broker."""
    sketch = two_places(over=False)
    sketch.lose(600)
    return sketch


@case(f"{DELIVERED} {IN_MEMORY}", lost=1)
def lost_in_a_log_at_a_kill_that_is_perhaps_not_over() -> Sketch:
    sketch = two_places(over=False)
    sketch.lose(148)
    return sketch


@case(f"{DELIVERED} {IN_MEMORY}", lost=2)
def lost_at_a_kill_that_is_perhaps_not_over_and_long_after_it() -> Sketch:
    sketch = two_places(over=False)
    sketch.lose(148, 600)
    return sketch


@case(DELIVERED, passes=IN_MEMORY, lost=1)
def lost_in_a_log_before_a_kill_that_is_perhaps_not_over() -> Sketch:
    sketch = two_places(over=False)
    sketch.lose(60)
    return sketch


@case(f"{DELIVERED} {IN_MEMORY}", lost=2)
def lost_at_a_kill_of_the_master_and_long_before_one_of_a_mirror() -> Sketch:
    sketch = two_places()
    sketch.lose(148, 149)
    return fault(sketch, 70, 85, role="mirror")


@case(f"{DELIVERED} {IN_MEMORY}", lost=2)
def one_message_came_from_a_retry_topic_first_and_two_were_lost_at_a_kill() -> Sketch:
    """That no later message comes from the retry topic says nothing of the log."""
    sketch = lost_at_a_kill_of_the_master_and_long_before_one_of_a_mirror()
    sketch.first(20).named |= {"place": "broker-a/retry/0", "offset": 0, "via": Via.RETRY_TOPIC}
    return sketch


# --- audits, drains, and what they leave out -----------------------------------------------------


def two_queues(until_ms: float = 30_000) -> Sketch:
    """A second publisher sends to `payments` what another consumer gets."""
    sketch = calm(until_ms)
    sketch.history.worker(4, "publisher").worker(OTHER, "consumer").queue("payments")
    sketch.history.client_event("consuming", at_ms=1, worker=OTHER)
    for number in range(round(until_ms / 100)):
        at_ms = 60 + number * 100.0
        sketch.send(number, at_ms, producer=4, queue="payments")
        sketch.deliver(number, at_ms + 10, producer=4, consumer=OTHER)
    return sketch


def paid(sketch: Sketch, sequence: int) -> SketchedDelivery:
    """The delivery of this message to `payments`."""
    each = (one for one in sketch.came if one.named.get("producer") == 4)
    return next(one for one in each if one.sequence == sequence)


def unpaid(sketch: Sketch, sequence: int) -> Sketch:
    sketch.came.remove(paid(sketch, sequence))
    return sketch


@case(DELIVERED, stranded=1, unreachable=0)
def found_by_the_audit_though_another_place_is_unreadable() -> Sketch:
    """A complete drain did not get it, and no client looks where the audit found it."""
    sketch = calm()
    sketch.lose(150)
    sketch.history.queue(unreadable=("rmq2",))
    sketch.deliver(150, 50_000, via=Via.AUDIT)
    return sketch


@case(DELIVERED, stranded=1, unreachable=1)
def one_found_by_the_audit_and_one_perhaps_in_an_unreadable_place() -> Sketch:
    sketch = found_by_the_audit_though_another_place_is_unreadable()
    sketch.lose(160)
    return sketch


@case(DELIVERED, lost=1, unreachable=1)
def one_queue_lost_one_and_another_has_an_unreadable_place() -> Sketch:
    sketch = unpaid(two_queues(), 100)
    sketch.history.queue(unreadable=("rmq2",))
    sketch.came = [one for one in sketch.came if one.sequence != 150 or one.named.get("producer")]
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def one_queue_misses_one_and_was_not_drained_and_another_is_whole() -> Sketch:
    sketch = unpaid(two_queues(), 100)
    sketch.history.queue("payments", drained=False)
    return sketch


@case(DELIVERED, lost=1, loss_unknown=1)
def one_queue_lost_one_and_another_was_not_drained() -> Sketch:
    sketch = unpaid(two_queues(), 100)
    sketch.history.queue(drained=False)
    sketch.came = [one for one in sketch.came if one.sequence != 150 or one.named.get("producer")]
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def nothing_is_known_of_the_end_of_a_queue_that_misses_one() -> Sketch:
    sketch = unpaid(two_queues(), 100)
    sketch.history.no_queue_end("payments")
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY}", stranded=0, lost=0)
def delivered_and_found_by_the_audit_too() -> Sketch:
    """A mirror kept what its master had given out; clients got it once."""
    sketch = calm()
    sketch.deliver(150, 50_000, via=Via.AUDIT)
    return sketch


@case(DELIVERED, stranded=1)
def the_audit_finds_the_unanswered_one_of_two_attempts() -> Sketch:
    """The confirmed one is nowhere; the message is where no client looks."""
    sketch = calm()
    sketch.send(150, 15_055, Outcome.CONFIRMED, attempt=2)
    sketch.answer(150, Outcome.UNKNOWN)
    sketch.lose(150)
    sketch.deliver(150, 50_000, via=Via.AUDIT, attempt=1)
    return sketch


@case(passes=f"{REFUSED} {DELIVERED}", refused_but_delivered=0)
def returned_and_found_by_the_audit_alone() -> Sketch:
    sketch = calm()
    sketch.answer(150, Outcome.RETURNED)
    sketch.lose(150)
    sketch.deliver(150, 50_000, via=Via.AUDIT)
    return sketch


@case(REFUSED, refused_but_delivered=1)
def returned_and_delivered_by_the_drain() -> Sketch:
    sketch = calm()
    sketch.answer(150, Outcome.RETURNED)
    sketch.lose(150)
    sketch.deliver(150, 50_000, via=Via.DRAIN)
    return sketch


@case(UNEXPECTED, unexpected=1)
def the_audit_finds_what_no_one_sent() -> Sketch:
    sketch = calm()
    sketch.deliver(9_999, 50_000, via=Via.AUDIT)
    return sketch


@case(unknown=UNEXPECTED, unexpected=0, unrecorded=1)
def the_audit_finds_what_a_dead_publisher_may_have_sent() -> Sketch:
    sketch = the_audit_finds_what_no_one_sent()
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(CORRUPT, passes=DELIVERED, corrupt=1)
def delivered_with_a_broken_body() -> Sketch:
    sketch = calm()
    sketch.first(150).named["payload_ok"] = False
    return sketch


@case(f"{CORRUPT} {DELIVERED}", corrupt=1, stranded=1)
def found_by_the_audit_with_a_broken_body() -> Sketch:
    sketch = calm()
    sketch.lose(150)
    sketch.deliver(150, 50_000, via=Via.AUDIT, payload_ok=False)
    return sketch


@case(f"{CORRUPT} {DELIVERED}", corrupt=1, lost=1)
def delivered_with_a_broken_header() -> Sketch:
    sketch = calm()
    sketch.lose(150)
    sketch.history.deliver_broken(at_ms=15_060, tag=9_999)
    sketch.history.rows["deliveries"][-1]["acked_ns"] = None
    return sketch


@case(f"{UNEXPECTED} {DELIVERED}", unexpected=1, lost=1)
def one_of_another_run_comes_in_place_of_a_lost_one() -> Sketch:
    sketch = calm()
    sketch.first(150).named["run_ok"] = False
    return sketch


@case(MISROUTED, passes=DELIVERED, lost=0, misrouted=1)
def delivered_in_another_queue_than_its_own() -> Sketch:
    sketch = two_queues()
    paid(sketch, 100).named["queue"] = "orders"
    return sketch


@case(DELIVERED, stranded=1, misrouted=0)
def found_by_the_audit_in_another_queue_than_its_own() -> Sketch:
    sketch = unpaid(two_queues(), 100)
    sketch.deliver(100, 50_000, producer=4, via=Via.AUDIT, queue="orders")
    return sketch


# --- groups whose records end early --------------------------------------------------------------


def two_groups() -> Sketch:
    return for_groups(calm(), (A, B))


def left(sketch: Sketch, queue: str, *sequences: int) -> Sketch:
    """The audit finds these in that group's queue, which no consumer got."""
    sketch.came = [
        one
        for one in sketch.came
        if one.sequence not in sequences or one.named.get("queue") != queue
    ]
    for sequence in sequences:
        sketch.deliver(sequence, 50_000 + sequence, via=Via.AUDIT, queue=queue)
    return sketch


@case(unknown=DELIVERED, stranded=6)
def left_in_an_undrained_group_queue_while_a_consumer_of_the_other_died() -> Sketch:
    """Five may still be got from the one queue, and one was perhaps got from the other."""
    sketch = left(left(two_groups(), "orders-a", *range(290, 295)), "orders-b", 299)
    sketch.history.queue("orders-a", drained=False).log_open(B)
    return sketch


@case(DELIVERED, stranded=3)
def left_in_a_drained_group_queue_while_a_consumer_of_the_other_died() -> Sketch:
    sketch = left(left(two_groups(), "orders-a", 290, 291), "orders-b", 299)
    sketch.history.log_open(B)
    return sketch


@case(unknown=DELIVERED, stranded=2)
def left_in_two_undrained_group_queues() -> Sketch:
    sketch = left(left(two_groups(), "orders-a", 290), "orders-b", 299)
    sketch.history.queue("orders-a", drained=False).queue("orders-b", drained=False)
    return sketch


# --- clients that fail beside brokers ------------------------------------------------------------


def crashed(sketch: Sketch, at_s: float, until_s: float, *, back: bool = False) -> Sketch:
    """The only consumer is killed, and the drain gets the rest; all that it did is on record."""
    sketch.history.away(CONSUMER, at_s * 1_000, until_s * 1_000 if back else None)
    for place, one in enumerate(sketch.since(at_s * 1_000)):
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(150_000 + place)
    return fault(sketch, at_s, until_s, "client_crash", role="none")


@case(DELIVERED, lost=1)
def lost_after_the_only_consumer_was_killed() -> Sketch:
    """A dead consumer takes nothing from a queue."""
    sketch = crashed(load(60), 30, 40)
    sketch.lose(400)
    return sketch


@case(passes=DELIVERED, lost=0)
def the_drain_gets_all_that_a_killed_consumer_left() -> Sketch:
    return crashed(load(60), 30, 40)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def lost_at_a_kill_after_the_only_consumer_was_killed() -> Sketch:
    """Without a consumer every later window may have taken it; only one was of the cluster."""
    sketch = fault(crashed(load(100), 30, 40), 50, 70)
    sketch.lose(450)
    return sketch


@case(DELIVERED, not_applicable=OF_MIRRORS, lost=1)
def lost_at_a_kill_while_a_link_hung() -> Sketch:
    """A fault of a link to a host is one beside the kill."""
    sketch = fault(fault(load(100), 14, 40, "hang", role="none"), 15, 35)
    sketch.lose(149)
    return sketch


@case(DELIVERED, lost=1)
def lost_while_a_link_hung_alone() -> Sketch:
    sketch = fault(load(100), 14, 40, "hang", role="none")
    sketch.lose(149)
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def lost_at_a_kill_while_a_consumer_died_off_the_record() -> Sketch:
    sketch = fault(load(100), 15, 35)
    sketch.history.worker(OTHER, "consumer", log_closed=False)
    sketch.lose(149)
    return sketch


@case(passes=DELIVERED, unknown=CONSUMED_AFTER, lost=0)
def a_frozen_consumer_gets_all_that_waited_for_it() -> Sketch:
    return frozen(fault(load(110), 15, 35), CONSUMER, 60, 64)


# --- two losses of one run -----------------------------------------------------------------------


@case(f"{DELIVERED} {OF_MIRRORS}", lost=2)
def one_lost_long_before_the_kill_and_one_at_it() -> Sketch:
    sketch = fault(load(100), 15, 35)
    sketch.lose(50, 149)
    return sketch


@case(DELIVERED, passes=ELECTION, lost=2)
def one_lost_long_before_the_kill_and_one_long_after() -> Sketch:
    sketch = fault(load(100), 15, 35)
    sketch.lose(50, 700)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=2)
def each_of_two_kills_loses_one() -> Sketch:
    sketch = fault(fault(load(140), 15, 35), 70, 90)
    sketch.lose(149, 699)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1, loss_unknown=0, unreachable=0)
def a_kill_loses_one_and_the_steady_state_was_out() -> Sketch:
    sketch = fault(load(100, (11.5, 13)), 15, 35)
    sketch.lose(149)
    return sketch


# --- what an operator took -----------------------------------------------------------------------


def removed(how: str, *, copies: int = 1) -> Sketch:
    """An operator stops a node and removes it from the cluster; one message is gone."""
    sketch = operated(load(60), 15, 20)
    sketch.declared |= {"copies": copies, "node_removed": how, "lost_disk": "none"}
    sketch.lose(149)
    return sketch


@case(unknown=DELIVERED, lost=1)
def gone_with_the_removed_node_of_the_only_copy() -> Sketch:
    return removed("online")


@case(DELIVERED, lost=1)
def lost_though_no_node_was_removed() -> Sketch:
    return removed("none")


@case(DELIVERED, lost=1)
def lost_though_other_nodes_than_the_removed_one_had_it() -> Sketch:
    return removed("online", copies=3)


@case(not_applicable=DELIVERED, lost=1)
def gone_with_the_disks_of_all_hosts() -> Sketch:
    sketch = removed("none")
    sketch.declared["lost_disk"] = "all"
    return sketch


@case(DELIVERED, lost=1)
def lost_though_every_host_was_stopped_in_turn() -> Sketch:
    """Durable queues and persistent messages come back."""
    sketch = removed("none", copies=3)
    sketch.declared["all_stopped"] = "in turn"
    return sketch


@case(not_applicable=DELIVERED, lost=1)
def transient_and_gone_when_every_host_was_stopped_in_turn() -> Sketch:
    sketch = lost_though_every_host_was_stopped_in_turn()
    sketch.declared["durable"] = False
    return sketch
