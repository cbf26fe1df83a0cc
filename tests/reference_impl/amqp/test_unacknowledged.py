"""Delivery tags."""

import pytest

from reference_impl.amqp.rules.errors import AmqpError
from reference_impl.amqp.rules.unacknowledged import Held, Unacknowledged, by_queue


def with_four() -> Unacknowledged:
    out = Unacknowledged()
    tags = [out.add("q", 7), out.add("r", 1), out.add("q", 9, shared=True), out.add("q", 8)]
    assert tags == [1, 2, 3, 4]
    return out


def test_a_tag_stands_for_the_queues_own_number() -> None:
    assert with_four().take(2, multiple=False) == [Held(2, "r", 1, False, 0)]


def test_multiple_takes_all_up_to_the_tag_in_order() -> None:
    out = with_four()
    assert [held.number for held in out.take(3, multiple=True)] == [7, 1, 9]
    assert len(out) == 1


def test_multiple_zero_takes_all_and_none_is_no_error() -> None:
    out = with_four()
    assert len(out.take(0, multiple=True)) == 4
    assert out.take(0, multiple=True) == []


@pytest.mark.parametrize(("tag", "multiple"), [(5, False), (0, False), (5, True), (1, False)])
def test_a_tag_that_is_not_there_is_406(tag: int, multiple: bool) -> None:
    out = with_four()
    out.take(1, multiple=False)
    with pytest.raises(AmqpError) as raised:
        out.take(tag, multiple)
    assert (raised.value.code, raised.value.explanation) == (406, f"unknown delivery tag {tag}")
    assert len(out) == 3


def test_multiple_up_to_a_tag_that_was_settled_is_406() -> None:
    out = with_four()
    out.take(3, multiple=False)
    with pytest.raises(AmqpError):
        out.take(3, multiple=True)


def test_deliveries_without_acknowledgement_count_as_well() -> None:
    out = Unacknowledged()
    assert out.next_tag() == 1
    assert out.add("q", 5) == 2


def test_numbers_are_gathered_by_queue_in_their_order() -> None:
    assert by_queue(with_four().take_all()) == {"q": [7, 9, 8], "r": [1]}


def test_only_a_delivery_older_than_the_sweeps_is_overdue() -> None:
    out = Unacknowledged()
    tag = out.add("q", 1)
    assert [out.sweep(2) for _ in range(3)] == [False, False, True]
    out.take(tag, multiple=False)
    out.add("q", 2)
    assert not out.sweep(2)


def test_deliveries_put_back_keep_their_order() -> None:
    out = with_four()
    taken = out.take(2, multiple=True)
    out.put_back(reversed(taken))
    assert [held.tag for held in out.take_all()] == [1, 2, 3, 4]
