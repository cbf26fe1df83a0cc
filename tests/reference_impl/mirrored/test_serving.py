"""What a queue does for channels, on one node: order, settlements, consumers, its end (2.3)."""

from typing import Any

import pytest

from reference_impl.pid import Pid
from reference_impl.process import DEAD_LETTERS, NORMAL
from reference_impl.protocol.queues import (
    Ack,
    Consume,
    DeadLetter,
    Delete,
    Done,
    Got,
    Look,
    Looked,
    Purge,
    Refused,
)
from tests.reference_impl.mirrored.bench import Bench, number_of
from tests.reference_impl.mirrored.fake_channels import Publish, cancelling
from tests.reference_impl.mirrored.queues import copies, declare, record


def looked(bench: Bench) -> tuple[int, int, int]:
    answer = bench.ask(Look)
    assert isinstance(answer, Looked)
    return answer.ready, answer.unacknowledged, answer.consumers


def deleting(*, if_unused: bool = False, if_empty: bool = False) -> Any:
    return lambda pid, request: Delete(pid, request, if_unused, if_empty)


# --- getting and acknowledging


def test_messages_are_got_in_their_order_and_counted() -> None:
    bench = Bench()
    bench.publish(3)
    first = bench.get()
    assert isinstance(first, Got)
    assert (number_of(first), first.number, first.ready, first.redelivered) == (1, 1, 2, False)
    assert looked(bench) == (2, 1, 0)


def test_an_empty_queue_gives_nothing() -> None:
    assert Bench().get().message is None


def test_a_get_without_acknowledgement_removes_the_message() -> None:
    bench = Bench()
    bench.publish(2)
    assert number_of(bench.get(no_ack=True)) == 1
    assert looked(bench) == (1, 0, 0)


def test_requeued_messages_return_in_order_and_flagged_redelivered() -> None:
    bench = Bench()
    bench.publish(3)
    numbers = [bench.get().number for _ in range(2)]
    bench.give_back(numbers[1])
    bench.give_back(numbers[0])
    assert bench.ready() == [1, 2, 3]
    again = [bench.get() for _ in range(3)]
    assert [(number_of(got), got.redelivered) for got in again] == [
        (1, True),
        (2, True),
        (3, False),
    ]


def test_a_message_rejected_without_requeue_is_gone() -> None:
    bench = Bench()
    bench.publish(1)
    bench.discard(bench.get().number)
    assert looked(bench) == (0, 0, 0)


def test_only_who_has_a_message_can_settle_it() -> None:
    bench = Bench()
    bench.publish(1)
    number, stranger = bench.get().number, bench.another()
    bench.discard(number, stranger)
    bench.send_to_master(Ack(stranger.pid, (number, 99)))
    assert looked(bench) == (0, 1, 0)


def test_a_closed_channel_requeues_its_messages_in_order() -> None:
    bench = Bench()
    bench.publish(5)
    other = bench.another()
    for _ in range(3):
        bench.get(one=other)
    bench.close(other)
    assert bench.ready() == [1, 2, 3, 4, 5]
    assert bench.get().redelivered


def test_a_purge_removes_ready_messages_and_not_unacknowledged_ones() -> None:
    bench = Bench()
    bench.publish(4)
    bench.get()
    assert bench.ask(Purge) == Done(bench.one._request, 3)
    assert looked(bench) == (0, 1, 0)


# --- confirms


def test_a_persistent_message_is_confirmed_when_it_is_on_disk() -> None:
    bench = Bench()
    node = bench.cluster.nodes["a"]
    bench.cluster.send(bench.one.pid, Publish())
    while not bench.cluster.disks["a"].flushes:
        assert bench.cluster.step()
    while node.has_work():
        node.step()
    assert bench.one.outcomes == {}
    bench.cluster.settle()
    assert list(bench.one.outcomes.values()) == ["ack"]


@pytest.mark.parametrize(("durable", "persistent"), [(True, False), (False, True)])
def test_transient_messages_are_confirmed_without_the_disk(
    durable: bool, persistent: bool
) -> None:
    bench = Bench(durable=durable)
    bench.publish(1, persistent=persistent)
    assert list(bench.one.outcomes.values()) == ["ack"]
    assert not bench.cluster.disks["a"].written.get("q")


def test_a_message_settled_before_the_flush_is_confirmed_early() -> None:
    bench = Bench()
    consumer = bench.subscribe()
    bench.cluster.send(bench.one.pid, Publish())
    while not consumer.acked or not list(bench.one.outcomes):
        found = [it for it in bench.cluster.choices() if it[0] == "node"]
        if not found:
            break
        found[0][1].step()
    assert bench.cluster.disks["a"].flushes
    assert list(bench.one.outcomes.values()) == ["ack"]


# --- consumers


def test_a_consumer_gets_consume_ok_before_the_backlog() -> None:
    bench = Bench()
    bench.publish(3)
    consumer = bench.subscribe()
    assert consumer.answers == [Done(1, 0)]
    assert bench.seen(consumer) == [1, 2, 3]
    assert looked(bench) == (0, 0, 1)


def test_a_prefetch_bounds_what_is_unacknowledged() -> None:
    bench = Bench()
    bench.publish(5)
    consumer = bench.subscribe(prefetch=2, hold=9)
    assert bench.seen(consumer) == [1, 2]
    bench.ack(consumer)
    assert bench.seen(consumer) == [1, 2, 3]


def test_consumers_take_turns() -> None:
    bench = Bench()
    one, two = bench.subscribe(), bench.subscribe()
    bench.publish(4)
    assert (bench.seen(one), bench.seen(two)) == ([1, 3], [2, 4])


def test_a_requeued_message_goes_to_a_consumer_with_room() -> None:
    bench = Bench()
    one = bench.subscribe(prefetch=1, hold=1)
    bench.publish(1)
    two = bench.subscribe()
    bench.requeue(one)
    assert bench.seen(two) + bench.seen(one)[1:] == [1]


def test_a_shared_limit_lets_through_what_is_granted() -> None:
    bench = Bench()
    consumer = bench.subscribe(shared=True)  # grants one whenever it is asked
    bench.publish(3)
    assert bench.seen(consumer) == [1, 2, 3]


def test_deliveries_of_a_cancelled_consumer_stay_its_channels() -> None:
    bench = Bench()
    consumer = bench.subscribe(hold=9)
    bench.publish(1)
    bench.ask(cancelling, consumer)
    bench.publish(1)
    assert bench.seen(consumer) == [1]
    assert looked(bench) == (1, 1, 0)
    bench.ack(consumer)
    assert looked(bench) == (1, 0, 0)


def test_a_second_consumer_beside_an_exclusive_one_is_refused() -> None:
    bench = Bench()
    bench.subscribe(exclusive=True)
    other = bench.subscribe()
    (refused,) = other.answers
    assert isinstance(refused, Refused)
    assert (refused.code, refused.text) == (403, "queue 'q' in vhost '/' in exclusive use")


def test_without_acknowledgements_a_message_is_gone_on_delivery() -> None:
    bench = Bench()
    bench.publish(1)
    consumer = bench.subscribe(no_ack=True)
    bench.publish(2)
    assert bench.seen(consumer) == [1, 2, 3]
    assert looked(bench) == (0, 0, 1)
    bench.close(consumer)
    assert bench.ready() == []


# --- its end


def test_deleting_a_queue_reports_how_many_messages_it_held() -> None:
    bench = Bench()
    bench.publish(3)
    assert bench.ask(deleting()) == Done(bench.one._request, 3)
    assert record(bench.cluster) is None
    assert copies(bench.cluster) == {}
    assert bench.cluster.disks["a"].written.get("q") is None


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"if_unused": True}, "queue 'q' in vhost '/' in use"),
        ({"if_empty": True}, "queue 'q' in vhost '/' is not empty"),
    ],
)
def test_a_queue_in_use_is_not_deleted_under_a_condition(
    condition: dict[str, bool], text: str
) -> None:
    bench = Bench()
    bench.subscribe(prefetch=1, hold=1)
    bench.publish(2)
    refused = bench.ask(deleting(**condition))
    assert isinstance(refused, Refused)
    assert (refused.code, refused.text) == (406, text)
    assert record(bench.cluster) is not None


def test_publishes_to_a_deleted_queue_count_as_confirmed() -> None:
    bench = Bench()
    bench.cluster.send(bench.one.pid, Publish())
    bench.ask(deleting())
    assert list(bench.one.outcomes.values()) == ["ack"]


@pytest.mark.parametrize("way", ["cancel", "close"])
def test_an_auto_delete_queue_goes_with_its_last_consumer(way: str) -> None:
    bench = Bench(auto_delete=True)
    one, two = bench.subscribe(), bench.subscribe()
    bench.close(one)
    assert record(bench.cluster) is not None
    if way == "cancel":
        assert isinstance(bench.ask(cancelling, two), Done)
    else:
        bench.close(two)
    assert record(bench.cluster) is None


def test_an_auto_delete_queue_that_never_had_a_consumer_stays() -> None:
    bench = Bench(auto_delete=True)
    bench.close(bench.another())
    bench.publish(1)
    assert record(bench.cluster) is not None


def test_an_exclusive_queue_ends_with_its_owner_and_is_transient() -> None:
    """Delete an exclusive queue with its owner, and never make it durable."""
    bench = Bench()
    pid = bench.another().pid
    bench.ask(deleting())
    declare(bench.cluster, "a", owner=pid, durable=True)
    bench.cluster.settle()
    now = record(bench.cluster)
    assert now is not None and (now.owner, now.durable) == (pid, False)
    bench.cluster.nodes["a"].end(pid, NORMAL)
    bench.cluster.settle()
    assert record(bench.cluster) is None


def test_an_unused_queue_is_deleted_after_its_expiry() -> None:
    bench = Bench(arguments={"x-expires": 8_000})
    consumer = bench.subscribe()
    bench.cluster.settle(9_000)
    assert record(bench.cluster) is not None
    bench.close(consumer)
    bench.cluster.settle(9_000)
    assert record(bench.cluster) is None


def test_a_use_counts_the_time_again() -> None:
    bench = Bench(arguments={"x-expires": 12_000})
    for _ in range(4):
        bench.get()
        bench.cluster.settle(10_000)
    assert record(bench.cluster) is not None
    bench.cluster.settle(5_000)
    assert record(bench.cluster) is None


def test_a_tag_may_be_taken_up_again() -> None:
    bench = Bench()
    consumer = bench.subscribe()
    again = Consume(consumer.pid, 9, "t", False, False, 0, False, {})
    bench.send_to_master(again)
    bench.publish(1)
    assert bench.seen(consumer) == [1]
    assert looked(bench) == (0, 0, 1)


# --- one active consumer at a time


def test_the_next_consumer_takes_over_when_the_active_one_ends() -> None:
    bench = Bench(arguments={"x-single-active-consumer": True})
    first, second = bench.subscribe(prefetch=1, hold=1), bench.subscribe()
    bench.publish(3)
    assert (len(first.seen), len(second.seen)) == (1, 0)
    bench.close(first)
    assert len(second.seen) == 3


def test_a_cancelled_consumer_keeps_its_messages_and_another_takes_over() -> None:
    bench = Bench(arguments={"x-single-active-consumer": True})
    first, second = bench.subscribe(prefetch=1, hold=1), bench.subscribe()
    bench.publish(2)
    bench.ask(cancelling, first)
    assert (len(first.seen), len(second.seen)) == (1, 1)


def test_there_is_no_exclusive_consumer_where_one_is_active_anyhow() -> None:
    bench = Bench(arguments={"x-single-active-consumer": True})
    answer = bench.ask(lambda pid, request: Consume(pid, request, "c", False, True, 0, False, {}))
    assert isinstance(answer, Refused)
    assert answer.code == 403


# --- dead letters


class Letters:
    """What stands in for the process of the node that sends them on."""

    def __init__(self, bench: Bench) -> None:
        self.found: list[DeadLetter] = []
        node = bench.cluster.nodes["a"]
        node.processes[Pid("a", bench.one.pid.boot, DEAD_LETTERS)] = self

    def handle(self, event: Any) -> list[Any]:
        self.found.append(event)
        return []

    @property
    def dead_letters(self) -> list[tuple[str, int]]:
        return [(one.reason, number_of(one)) for one in self.found]


DEAD = {"x-dead-letter-exchange": "graves", "x-dead-letter-routing-key": "k"}


def test_rejected_messages_are_dead_lettered_and_acknowledged_ones_not() -> None:
    bench = Bench(arguments=DEAD)
    letters = Letters(bench)
    bench.publish(3)
    first, second, third = (bench.get().number for _ in range(3))
    bench.discard(first)
    bench.give_back(second)
    bench.send_to_master(Ack(bench.one.pid, (third,)))
    assert letters.dead_letters == [("rejected", 1)]
    (letter,) = letters.found
    assert (letter.queue, letter.exchange, letter.key) == ("q", "graves", "k")


@pytest.mark.parametrize(
    ("overflow", "dead_letters"),
    [
        ("drop-head", [("maxlen", 1), ("maxlen", 2)]),
        ("reject-publish", []),
        ("reject-publish-dlx", [("maxlen", 2), ("maxlen", 3)]),
    ],
)
def test_the_overflow_policy_chooses_the_oldest_or_the_latest(
    overflow: str, dead_letters: list[tuple[str, int]]
) -> None:
    bench = Bench(arguments={**DEAD, "x-max-length": 1, "x-overflow": overflow})
    letters = Letters(bench)
    bench.publish(3)
    assert letters.dead_letters == dead_letters


def test_without_an_exchange_for_them_there_are_none() -> None:
    bench = Bench()
    letters = Letters(bench)
    bench.publish(1)
    bench.discard(bench.get().number)
    assert letters.found == []
