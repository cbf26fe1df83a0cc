"""Who gets the next message."""

from typing import Any

import pytest

from reference_impl.mirrored.consumers import UNSENT_MAX, Consumers
from reference_impl.pid import Pid
from reference_impl.protocol.queues import Consume

ONE, TWO = Pid("a", 1, 5), Pid("a", 1, 6)


def consume(tag: str, channel: Pid = ONE, **changes: Any) -> Consume:
    return Consume(
        channel=channel,
        request=1,
        tag=tag,
        no_ack=changes.get("no_ack", False),
        exclusive=changes.get("exclusive", False),
        prefetch=changes.get("prefetch", 0),
        shared=changes.get("shared", False),
        arguments=changes.get("arguments", {}),
    )


def consumers(*those: Consume) -> Consumers:
    found = Consumers()
    for one in those:
        found.add(one)
    return found


def next_tags(found: Consumers, count: int) -> list[str | None]:
    taken = [found.next() for _ in range(count)]
    return [None if one is None else one.tag for one in taken]


def test_consumers_of_one_queue_take_turns() -> None:
    found = consumers(consume("x"), consume("y"), consume("z", TWO))
    assert next_tags(found, 5) == ["x", "y", "z", "x", "y"]


def test_no_consumer_takes_more_than_its_prefetch() -> None:
    found = consumers(consume("x", prefetch=1), consume("y", prefetch=2))
    assert next_tags(found, 4) == ["x", "y", "y", None]


def test_a_settled_delivery_makes_room() -> None:
    found = consumers(consume("x", prefetch=1))
    (taken,) = (found.next(),)
    assert taken is not None
    assert found.next() is None
    found.released(taken)
    assert next_tags(found, 2) == ["x", None]


def test_without_acknowledgements_prefetch_is_no_bound() -> None:
    found = consumers(consume("x", prefetch=1, no_ack=True))
    assert next_tags(found, 3) == ["x", "x", "x"]


def test_the_higher_priority_goes_first_while_it_has_room() -> None:
    high = consume("high", prefetch=2, arguments={"x-priority": 5})
    found = consumers(consume("low"), high)
    assert next_tags(found, 4) == ["high", "high", "low", "low"]


def test_an_exclusive_consumer_is_alone() -> None:
    assert not Consumers().refuses(exclusive=True)
    assert consumers(consume("x")).refuses(exclusive=True)
    assert not consumers(consume("x")).refuses(exclusive=False)
    assert consumers(consume("x", exclusive=True)).refuses(exclusive=False)


def test_a_cancelled_consumer_takes_nothing_more() -> None:
    found = consumers(consume("x", prefetch=1), consume("y"))
    taken = found.next()
    assert taken is not None and taken.tag == "x"
    assert found.cancel(ONE, "x")
    found.released(taken)
    assert next_tags(found, 2) == ["y", "y"]
    assert not found.cancel(ONE, "x")


def test_a_channel_takes_its_consumers_along() -> None:
    found = consumers(consume("x"), consume("y", TWO))
    assert found.forget(ONE)
    assert next_tags(found, 2) == ["y", "y"]
    assert len(found) == 1
    assert not found.forget(ONE)


def test_a_shared_consumer_requests_its_grant_once() -> None:
    found = consumers(consume("x", shared=True), consume("y", shared=True))
    assert found.next() is None
    assert list(found.wants()) == [ONE]
    assert found.next() is None
    assert list(found.wants()) == []
    found.grant(ONE, 1)
    assert next_tags(found, 2) == ["x", None]
    assert list(found.wants()) == [ONE]


def test_a_shared_consumer_without_acknowledgements_needs_none() -> None:
    found = consumers(consume("x", shared=True, no_ack=True))
    assert next_tags(found, 2) == ["x", "x"]


def test_a_grant_that_is_not_used_stays() -> None:
    found = consumers(consume("x", shared=True))
    found.grant(ONE, 2)
    assert next_tags(found, 3) == ["x", "x", None]


def test_that_there_was_a_consumer_is_remembered() -> None:
    found = Consumers()
    assert not found.had_any
    found.add(consume("x"))
    found.cancel(ONE, "x")
    assert found.had_any


# --- who does not read


@pytest.mark.parametrize("no_ack", [True, False])
def test_a_consumer_that_reads_nothing_gets_at_most_200_messages(no_ack: bool) -> None:
    found = consumers(consume("deaf", no_ack=no_ack))
    assert next_tags(found, UNSENT_MAX + 1) == ["deaf"] * UNSENT_MAX + [None]


def test_others_go_on_meanwhile() -> None:
    found = consumers(consume("deaf"), consume("reads", TWO))
    tags = []
    for _ in range(3 * UNSENT_MAX):
        (tag,) = next_tags(found, 1)
        tags.append(tag)
        if tag == "reads":
            found.sent(TWO, 1)
    assert tags.count("deaf") == UNSENT_MAX
    assert tags.count("reads") == 2 * UNSENT_MAX


def test_sent_deliveries_make_room_for_as_many() -> None:
    found = consumers(consume("slow"))
    next_tags(found, UNSENT_MAX)
    found.sent(ONE, 50)
    assert next_tags(found, 51) == ["slow"] * 50 + [None]


def test_the_unsent_limit_is_shared_by_a_channels_consumers() -> None:
    found = consumers(consume("x"), consume("y"))
    tags = next_tags(found, UNSENT_MAX + 1)
    assert (tags.count("x"), tags.count("y"), tags[-1]) == (100, 100, None)


def test_a_channel_that_is_full_needs_its_grant_as_before() -> None:
    found = consumers(consume("x", shared=True))
    found.grant(ONE, UNSENT_MAX + 1)
    assert next_tags(found, UNSENT_MAX + 1) == ["x"] * UNSENT_MAX + [None]
    assert list(found.wants()) == []
    found.sent(ONE, 50)
    assert next_tags(found, 2) == ["x", None]
    assert list(found.wants()) == [ONE]


def test_a_channel_that_comes_back_begins_again() -> None:
    found = consumers(consume("x"))
    next_tags(found, UNSENT_MAX)
    found.forget(ONE)
    found.add(consume("x"))
    assert next_tags(found, 1) == ["x"]


# --- one active at a time


def singly(*those: Consume) -> Consumers:
    found = Consumers()
    found.single = True
    for one in those:
        found.add(one)
    return found


def test_only_the_first_is_active_whatever_priorities_say() -> None:
    high = consume("high", arguments={"x-priority": 5})
    found = singly(consume("x", prefetch=2), high, consume("y", TWO))
    assert next_tags(found, 3) == ["x", "x", None]


def test_when_it_goes_the_next_that_came_is_active() -> None:
    found = singly(consume("x"), consume("y", TWO), consume("z"))
    found.cancel(ONE, "x")
    assert next_tags(found, 2) == ["y", "y"]
    found.forget(TWO)
    assert next_tags(found, 2) == ["z", "z"]
    found.cancel(ONE, "z")
    assert found.next() is None


def test_one_that_waited_goes_without_a_change() -> None:
    found = singly(consume("x"), consume("y", TWO))
    found.cancel(TWO, "y")
    assert next_tags(found, 2) == ["x", "x"]
