"""Faults of clients and of their links: what is the broker's fault beside them, and what is not.
What must be said follows from docs/verdicts.md 2, 5.2, 7.3, 9 and 11, by each story's argument."""

import pytest

from spark_analysis.schema.words import Outcome, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    ANY_NODE,
    CONSUMED,
    CONSUMED_AFTER,
    DELIVERED,
    ELECTION,
    FIFO,
    HELD,
    ONE_COPY,
    OTHERS,
    REFUSED,
    SERVED,
    UNACKED,
    UNEXPECTED,
    WORKS_ON,
)
from tests.rigs.histories.client_faults import (
    NEXT,
    SECOND,
    THIRD,
    confirm_late,
    crashed,
    linked,
    silence_of,
    three,
)
from tests.rigs.histories.several_faults import fault, frozen, load, operated, process_end
from tests.rigs.histories.sketches import OTHER, Sketch, SketchCase, SketchCases, handed_over

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_faults_of_clients_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- links that hang -----------------------------------------------------------------------------


@case(passes=f"{ANY_NODE} {AFTER} {DELIVERED}", not_applicable=SERVED)
def a_hung_link_and_the_publisher_goes_to_another_host() -> Sketch:
    return linked(load(90, (15, 18)), 15, 45)


@case(not_applicable=ANY_NODE, passes=f"{AFTER} {DELIVERED}")
def a_hung_link_and_the_publisher_waits_for_it() -> Sketch:
    """It never tried another node, so no node refused it."""
    return linked(load(90, (15, 46)), 15, 45, reached=False)


@case(ANY_NODE, passes=AFTER)
def a_hung_link_and_the_other_host_does_not_serve() -> Sketch:
    return linked(load(90, (15, 46)), 15, 45)


@case(unknown=ANY_NODE, passes=AFTER)
def a_hung_link_and_no_record_of_where_the_publisher_went() -> Sketch:
    return linked(load(90, (15, 46)), 15, 45, reached=None)


@case(AFTER, not_applicable=ANY_NODE)
def out_for_good_after_a_hung_link() -> Sketch:
    """The link carries data again from 45 s on: what is out a minute later is the broker."""
    return linked(load(110, (15, 110)), 15, 45, reached=False)


@case(AFTER, passes=ANY_NODE)
def out_again_long_after_a_hung_link() -> Sketch:
    return linked(load(110, (15, 18), (70, 78)), 15, 45)


@case(DELIVERED, passes=AFTER, lost=1)
def lost_before_a_link_hung() -> Sketch:
    sketch = linked(load(90, (15, 18)), 15, 45)
    sketch.lose(149)
    return sketch


@case(DELIVERED, lost=1)
def lost_while_a_link_hung() -> Sketch:
    """A link takes nothing that was confirmed."""
    sketch = linked(load(90, (15, 18)), 15, 45)
    sketch.lose(300)
    return sketch


@case(passes=DELIVERED, lost=0, lost_indeterminate=30)
def only_what_no_confirm_reached_is_gone() -> Sketch:
    return linked(load(90, (15, 18)), 15, 45)


@case(passes=f"{ONE_COPY} {DELIVERED}", duplicated__publisher_retry=1)
def what_hung_came_and_its_second_sending_too() -> Sketch:
    sketch = linked(load(90, (15, 18)), 15, 45)
    sketch.send(155, 20_020, attempt=2)
    sketch.deliver(155, 20_030, attempt=2)
    sketch.deliver(155, 45_200)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def stored_twice_long_after_a_hung_link() -> Sketch:
    sketch = linked(load(90, (15, 18)), 15, 45)
    sketch.deliver(600, 62_000)
    return sketch


@case(passes=f"{AFTER} {CONSUMED_AFTER} {DELIVERED} {FIFO}")
def the_consumers_link_alone_hangs() -> Sketch:
    """Nothing can reach it, and that is not the broker's doing."""
    sketch = linked(load(90), 15, 45, reached=False)
    sketch.hold(15_000, 45_100)
    return sketch


@case(f"{CONSUMED_AFTER} {FIFO}", passes=AFTER)
def messages_are_withheld_after_the_consumers_link_hung() -> Sketch:
    sketch = linked(load(90), 15, 45, reached=False)
    sketch.hold(15_000, 45_100)
    for one in sketch.since(60_000, 61_000):
        one.move(one.at_ms + 8_000)
    return sketch


@case(CONSUMED_AFTER, passes=AFTER)
def nothing_comes_any_more_after_the_consumers_link_hung() -> Sketch:
    sketch = linked(load(90), 15, 45, reached=False)
    sketch.hold(15_000, 88_000)
    return sketch


@case(passes=f"{ACKED} {UNACKED} {ONE_COPY}", duplicated__redelivery=2)
def another_consumer_gets_what_the_hung_one_held() -> Sketch:
    sketch = linked(handed_over(load(90), 15_000, 25_000, "lost"), 15, 45, reached=False)
    sketch.forget_to_acknowledge(148, 149)
    sketch.deliver(148, 25_002, again=True, consumer=OTHER)
    sketch.deliver(149, 25_003, again=True, consumer=OTHER)
    return sketch


@case(UNACKED, not_redelivered=1)
def what_the_hung_consumer_held_comes_to_nobody() -> Sketch:
    sketch = linked(handed_over(load(90), 15_000, 25_000, "lost"), 15, 45, reached=False)
    sketch.forget_to_acknowledge(149)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_two_seconds_before_the_link_hung_and_again() -> Sketch:
    sketch = linked(handed_over(load(90), 15_000, 25_000, "lost"), 15, 45, reached=False)
    sketch.deliver(129, 25_002, again=True, consumer=OTHER)
    return sketch


@case(passes=ACKED, acknowledged_late=1)
def acknowledged_half_a_second_before_the_link_hung_and_again() -> Sketch:
    sketch = linked(handed_over(load(90), 15_000, 25_000, "lost"), 15, 45, reached=False)
    sketch.deliver(144, 25_002, again=True, consumer=OTHER)
    return sketch


@case(HELD, duplicated__redelivered_without_cause=1)
def held_and_given_again_long_after_the_link_hung() -> Sketch:
    sketch = linked(load(90), 15, 45, reached=False)
    sketch.forget_to_acknowledge(600)
    sketch.deliver(600, 63_000, again=True)
    return sketch


# --- queues whose publishers a fault took --------------------------------------------------------


def killed_while_no_publisher_sends_to_orders(*also: int) -> Sketch:
    """Another queue has a publisher of its own. `also`: publishers of `orders` that go on."""
    sketch = load(100)
    for producer, queue in ((SECOND, "audits"), *((each, "orders") for each in also)):
        sketch.history.worker(producer, "publisher").queue(queue)
        sketch.flow(70 + producer, 100_000, producer=producer, queue=queue)
    return fault(frozen(sketch, PUBLISHER, 14, 46), 15, 45)


@case(unknown=SERVED, passes=AFTER)
def another_queue_shows_nothing_of_the_one_whose_publisher_stands_still() -> Sketch:
    """Its master was killed; whether a mirror took over no message shows."""
    return killed_while_no_publisher_sends_to_orders()


@case(passes=f"{SERVED} {AFTER}")
def another_publisher_shows_how_the_queue_was_served() -> Sketch:
    return killed_while_no_publisher_sends_to_orders(THIRD)


@case(unknown=WORKS_ON, passes=DELIVERED)
def another_queues_consumer_shows_nothing_of_the_one_whose_consumer_died() -> Sketch:
    """The broker has nobody to give the messages of `orders` to."""
    sketch = load(100)
    sketch.history.away(CONSUMER, 12_000)
    for place, one in enumerate(sketch.since(12_000)):
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(150_000 + place)
    sketch.history.worker(SECOND, "publisher").worker(OTHER, "consumer").queue("audits")
    sketch.history.client_event("consuming", at_ms=2, worker=OTHER)
    sketch.flow(80, 100_000, producer=SECOND, queue="audits", consumer=OTHER)
    return fault(fault(sketch, 12, None, "client_crash", role="none"), 20, 40)


def killed_after_one_of_two_consumers_died() -> Sketch:
    sketch = load(100)
    sketch.history.queue(ordered=False).worker(OTHER, "consumer")
    sketch.history.client_event("consuming", at_ms=2, worker=OTHER).away(CONSUMER, 12_000)
    for one in sketch.came:
        if one.sequence % 2 or one.at_ms >= 12_000:
            one.named["consumer"] = OTHER
    return fault(fault(sketch, 12, None, "client_crash", role="none"), 20, 40)


@case(passes=f"{WORKS_ON} {DELIVERED}")
def the_other_consumer_gets_all_after_one_died() -> Sketch:
    return killed_after_one_of_two_consumers_died()


@case(WORKS_ON)
def the_other_consumer_gets_nothing_under_a_kill() -> Sketch:
    """It was there all the time."""
    sketch = killed_after_one_of_two_consumers_died()
    sketch.hold(20_000, 41_000)
    return sketch


# --- links that are cut, or slow -----------------------------------------------------------------


@case(passes=f"{ANY_NODE} {AFTER} {DELIVERED}")
def a_link_is_reset_and_the_publisher_is_back_at_once() -> Sketch:
    return linked(load(90, (15, 15.3)), 15, 45, "reset")


@case(f"{ANY_NODE} {AFTER}")
def a_link_is_reset_and_nothing_serves_any_more() -> Sketch:
    return linked(load(110, (15, 110)), 15, 45, "reset")


@case(REFUSED, refused_but_delivered=1)
def refused_at_a_cut_link_and_delivered() -> Sketch:
    sketch = linked(load(90), 15, 45, "refuse")
    sketch.answer(160, Outcome.REFUSED)
    return sketch


@case(passes=f"{REFUSED} {AFTER}", refused_but_delivered=0)
def refused_connections_send_nothing() -> Sketch:
    sketch = linked(load(90), 15, 45, "refuse", reached=False)
    for sequence in range(150, 450):
        sketch.answer(sequence, Outcome.REFUSED)
        sketch.lose(sequence)
    return sketch


@case(passes=f"{AFTER} {DELIVERED} {CONSUMED_AFTER}", not_applicable=SERVED)
def a_slow_link_makes_every_confirm_late() -> Sketch:
    return linked(confirm_late(load(90), 15, 45, 1_500), 15, 45, "slow", reached=False)


@case(AFTER, passes=DELIVERED)
def confirms_stay_late_after_a_slow_link() -> Sketch:
    return linked(confirm_late(load(90), 15, 88, 1_500), 15, 45, "slow", reached=False)


@case(f"{DELIVERED}", lost=1, passes=AFTER)
def lost_behind_a_slow_link() -> Sketch:
    sketch = linked(confirm_late(load(90), 15, 45, 1_500), 15, 45, "slow", reached=False)
    sketch.lose(250)
    return sketch


@case(FIFO, passes=AFTER, reordered=1)
def reordered_behind_a_slow_link() -> Sketch:
    """One connection delivers in the order in which the broker sent."""
    sketch = linked(confirm_late(load(90), 15, 45, 1_500), 15, 45, "slow", reached=False)
    sketch.first(250).move(sketch.first(256).at_ms + 1)
    return sketch


@case(unknown=f"{ANY_NODE} {AFTER} {DELIVERED}")
def a_hang_that_was_not_verified_proves_nothing() -> Sketch:
    return linked(load(90, (15, 46)), 15, 45, verified=False)


@case(AFTER)
def out_for_good_after_a_reset_and_an_operation_long_before() -> Sketch:
    sketch = operated(load(130, (70, 130)), 5, 6)
    return linked(sketch, 15, 45, "reset", reached=False)


# --- one of three clients ------------------------------------------------------------------------


@case(passes=f"{AFTER} {DELIVERED}", not_applicable=ANY_NODE)
def the_link_of_one_of_three_publishers_hangs() -> Sketch:
    return linked(silence_of(three(90), SECOND, 15, 46), 15, 45, reached=False)


@case(AFTER, not_applicable=ANY_NODE)
def one_of_three_publishers_is_not_served_again() -> Sketch:
    return linked(silence_of(three(90), SECOND, 15, 90), 15, 45, reached=False)


@case(AFTER, not_applicable=ANY_NODE)
def another_publisher_than_the_hung_one_is_not_served_again() -> Sketch:
    sketch = silence_of(three(90), SECOND, 15, 46)
    return linked(silence_of(sketch, THIRD, 50, 90), 15, 45, reached=False)


@case(ANY_NODE, passes=AFTER)
def one_of_three_publishers_goes_elsewhere_and_all_are_out() -> Sketch:
    sketch = three(90)
    sketch.silence(15_000, 46_000)
    return linked(sketch, 15, 45)


@case(DELIVERED, passes=AFTER, lost=1)
def a_message_of_another_publisher_is_lost_while_a_link_hangs() -> Sketch:
    sketch = linked(silence_of(three(90), SECOND, 15, 46), 15, 45, reached=False)
    sketch.lose_of(THIRD, 250)
    return sketch


# --- clients that stand still --------------------------------------------------------------------


@case(passes=f"{AFTER} {CONSUMED_AFTER} {DELIVERED}")
def a_consumer_stands_still_and_goes_on() -> Sketch:
    return frozen(load(60), CONSUMER, 15, 30)


@case(passes=DELIVERED)
def the_only_publisher_stands_still_and_goes_on() -> Sketch:
    return frozen(load(60), PUBLISHER, 15, 30)


@case(AFTER)
def out_for_good_after_a_consumer_stood_still() -> Sketch:
    return frozen(load(60, (32, 60)), CONSUMER, 15, 30)


@case(DELIVERED, lost=1)
def lost_while_a_publisher_stood_still() -> Sketch:
    sketch = frozen(three(60), SECOND, 15, 30)
    sketch.lose_of(THIRD, 200)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def another_consumers_message_comes_again_while_one_stands_still() -> Sketch:
    """A frozen publisher takes no acknowledgement of a consumer with it."""
    sketch = frozen(load(60), PUBLISHER, 15, 30)
    sketch.deliver(145, 20_000, again=True)
    return sketch


# --- clients that die ----------------------------------------------------------------------------


@case(passes=f"{AFTER} {CONSUMED_AFTER} {DELIVERED} {UNACKED} {ACKED}")
def a_consumer_dies_and_another_goes_on() -> Sketch:
    sketch = crashed(load(60), CONSUMER, 15, 30)
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 30_001, again=True, consumer=NEXT)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_long_after_a_publisher_died() -> Sketch:
    sketch = crashed(three(60), SECOND, 15, 20)
    sketch.deliver(400, 42_000)
    return sketch


@case(CONSUMED_AFTER, passes=AFTER)
def a_new_consumer_gets_nothing() -> Sketch:
    sketch = crashed(load(60), CONSUMER, 15, 30)
    sketch.hold(30_000, 58_000)
    return sketch


@case(AFTER)
def a_new_publisher_is_not_served() -> Sketch:
    return silence_of(crashed(three(90), SECOND, 15, 20), NEXT, 20, 90)


@case(passes=DELIVERED, unknown=f"{UNEXPECTED} {AFTER}")
def a_publishers_log_was_cut_off_and_a_message_is_of_no_record() -> Sketch:
    """It may have sent that one after its last record."""
    sketch = crashed(three(60), SECOND, 15, 20)
    sketch.history.log_open(SECOND)
    sketch.deliver(151, 15_200, producer=SECOND, queue="orders")
    return sketch


@case(UNEXPECTED, unexpected=1)
def a_message_of_no_record_though_every_log_is_closed() -> Sketch:
    sketch = crashed(three(60), SECOND, 15, 20)
    sketch.deliver(151, 15_200, producer=SECOND, queue="orders")
    return sketch


# --- the fault of one client, and harm at another ------------------------------------------------


@case(OTHERS, passes=f"{AFTER} {DELIVERED}")
def all_are_out_while_one_client_stands_still() -> Sketch:
    sketch = frozen(three(90), SECOND, 15, 45)
    return silence_of(silence_of(sketch, PUBLISHER, 15, 46), THIRD, 15, 46)


@case(OTHERS, passes=f"{CONSUMED} {DELIVERED}", not_applicable=ELECTION)
def a_broker_ends_by_itself_while_a_client_stands_still() -> Sketch:
    sketch = frozen(three(90), SECOND, 15, 45)
    sketch = silence_of(silence_of(sketch, PUBLISHER, 20, 24), THIRD, 20, 24)
    return process_end(sketch, 20, 22, "itself")


@case(ANY_NODE, passes=AFTER)
def a_frozen_consumer_and_a_hung_link_and_all_out() -> Sketch:
    sketch = frozen(load(90, (15, 46)), CONSUMER, 15, 30)
    return linked(sketch, 15, 45)


@case(DELIVERED, passes=f"{AFTER}", lost=1, not_applicable=SERVED)
def lost_at_a_kill_while_a_client_stands_still() -> Sketch:
    sketch = frozen(load(100), CONSUMER, 15, 30)
    sketch = fault(sketch, 50, 75, role="mirror")
    sketch.lose(499)
    return sketch


@case(OTHERS, not_applicable=f"{AFTER} {CONSUMED_AFTER}", passes=DELIVERED)
def all_are_out_for_good_after_one_client_died_for_good() -> Sketch:
    """Such a fault has no end, after which clients could be served again."""
    sketch = silence_of(crashed(three(90), SECOND, 15, None), PUBLISHER, 20, 90)
    return silence_of(sketch, THIRD, 20, 90)


@case(AFTER, passes=CONSUMED_AFTER)
def a_publisher_that_stood_still_is_not_served_again() -> Sketch:
    return silence_of(frozen(three(90), SECOND, 15, 40), SECOND, 45, 90)


@case(DELIVERED, not_applicable=AFTER, lost=1)
def lost_after_one_client_died_for_good() -> Sketch:
    sketch = crashed(three(90), SECOND, 15, None)
    sketch.lose_of(THIRD, 400)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_and_again_long_after_a_publisher_died_for_good() -> Sketch:
    """That fault is never over, but it took no consumer."""
    sketch = crashed(three(90), SECOND, 15, None)
    sketch.deliver(400, 45_000, again=True)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def stored_twice_long_after_a_publisher_died_for_good() -> Sketch:
    sketch = crashed(three(90), SECOND, 15, None)
    sketch.forget_to_acknowledge(400)
    sketch.deliver(400, 45_000)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_and_drained_long_after_a_publisher_stood_still() -> Sketch:
    """The drain is no worker, and that fault did not take it either."""
    sketch = frozen(three(60), SECOND, 15, 20)
    sketch.deliver(148, 65_000, via=Via.DRAIN)
    return sketch


@case(HELD, duplicated__redelivered_without_cause=1)
def held_and_given_again_long_after_a_publisher_died_for_good() -> Sketch:
    sketch = crashed(three(90), SECOND, 15, None)
    sketch.forget_to_acknowledge(400)
    sketch.deliver(400, 45_000, again=True)
    return sketch


# --- the other publishers while a client is gone -------------------------------------------------


@case(passes=OTHERS)
def the_others_are_served_while_a_publisher_stands_still() -> Sketch:
    return frozen(three(90), SECOND, 15, 45)


@case(passes=OTHERS, not_applicable=AFTER)
def the_others_are_served_after_a_publisher_died_for_good() -> Sketch:
    return crashed(three(90), SECOND, 15, None)


@case(passes=OTHERS)
def a_publisher_dies_with_late_confirms_and_the_others_are_served() -> Sketch:
    """What the dead one had sent last and never heard of is no outage of the others."""
    sketch = silence_of(three(90), SECOND, 13, 15)
    return crashed(sketch, SECOND, 15, 30)


@case(OTHERS)
def one_other_publisher_is_out_while_a_publisher_stands_still() -> Sketch:
    return silence_of(frozen(three(90), SECOND, 15, 45), THIRD, 15, 46)


@case(OTHERS, passes=AFTER)
def the_others_are_out_for_a_while_and_the_system_ends_it() -> Sketch:
    """A client that stands still excuses no time for a takeover."""
    sketch = frozen(three(90), SECOND, 15, 45)
    return silence_of(silence_of(sketch, PUBLISHER, 15, 25), THIRD, 15, 25)


@case(OTHERS)
def all_publishers_are_out_while_a_consumer_is_dead() -> Sketch:
    return crashed(load(90, (15, 46)), CONSUMER, 15, 45)


@case(not_applicable=OTHERS)
def the_only_publisher_stands_still() -> Sketch:
    return frozen(load(90), PUBLISHER, 15, 45)


@case(not_applicable=OTHERS)
def the_only_publisher_that_sends_stands_still() -> Sketch:
    sketch = frozen(load(90), PUBLISHER, 15, 45)
    sketch.history.worker(SECOND, "publisher")
    return sketch


@case(unknown=OTHERS)
def the_others_are_late_for_a_moment_just_before_the_undo() -> Sketch:
    """The undo may have ended it, or the system."""
    sketch = frozen(three(90), SECOND, 15, 45)
    return silence_of(silence_of(sketch, PUBLISHER, 40, 44.5), THIRD, 40, 44.5)


@case(unknown=OTHERS)
def one_other_is_out_until_the_last_deadline_before_the_undo() -> Sketch:
    """A long deadline leaves open what ended the outage, and excuses none of it."""
    sketch = frozen(three(90, deadline_ms=10_000), THIRD, 20, 60)
    return silence_of(sketch, SECOND, 22, 52)


@case(OTHERS)
def one_other_is_out_and_the_system_ends_it_before_a_long_deadline() -> Sketch:
    sketch = frozen(three(90, deadline_ms=10_000), THIRD, 20, 60)
    return silence_of(sketch, SECOND, 22, 48)


@case(unknown=OTHERS, passes=AFTER)
def every_third_message_of_the_others_is_late_for_a_while() -> Sketch:
    """The load may be too high for the machine."""
    sketch = frozen(three(90), SECOND, 15, 45)
    for (producer, sequence, _), one in sketch.sent.items():
        if producer != SECOND and 20_000 <= one.at_ms < 30_000 and sequence % 3 == 0:
            one.settled_ms = one.at_ms + 3_000
    return sketch


@case(unknown=OTHERS)
def the_load_was_degraded_before_a_client_stood_still() -> Sketch:
    sketch = frozen(three(90), SECOND, 15, 45)
    return silence_of(silence_of(sketch, PUBLISHER, 8, 46), THIRD, 8, 46)


@case(unknown=OTHERS)
def the_others_are_out_and_the_freeze_was_not_verified() -> Sketch:
    sketch = frozen(three(90), SECOND, 15, 45, verified=False)
    return silence_of(silence_of(sketch, PUBLISHER, 15, 46), THIRD, 15, 46)


@case(unknown=OTHERS)
def the_others_are_out_and_no_record_says_who_stood_still() -> Sketch:
    sketch = frozen(three(90), SECOND, 15, 45)
    sketch.facts["absences"] = ()
    return silence_of(silence_of(sketch, PUBLISHER, 15, 46), THIRD, 15, 46)


@case(unknown=OTHERS)
def an_operator_stops_a_broker_while_a_client_stands_still() -> Sketch:
    sketch = operated(frozen(three(90), SECOND, 15, 45), 15.5, 16, stays=True)
    return silence_of(silence_of(sketch, PUBLISHER, 16, 46), THIRD, 16, 46)


@case(not_applicable=OTHERS)
def a_broker_is_killed_while_a_client_stands_still() -> Sketch:
    sketch = fault(frozen(three(100), SECOND, 15, 45), 20, 40)
    return silence_of(silence_of(sketch, PUBLISHER, 20, 24), THIRD, 20, 24)


@case(passes=OTHERS)
def two_publishers_stand_still_one_after_the_other() -> Sketch:
    return frozen(frozen(three(100), SECOND, 15, 45), THIRD, 25, 55)


@case(f"{OTHERS} {AFTER}")
def the_last_publisher_is_out_while_two_stand_still() -> Sketch:
    sketch = frozen(frozen(three(100), SECOND, 15, 45), THIRD, 25, 55)
    return silence_of(sketch, PUBLISHER, 30, 57)
