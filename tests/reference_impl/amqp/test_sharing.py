"""The limit that a channel's consumers share."""

from hypothesis import given
from hypothesis import strategies as st

from reference_impl.amqp.rules.sharing import SharedLimit
from reference_impl.pid import Pid

A, B, C = (Pid(node, 1, 9) for node in "abc")


def limited(limit: int) -> SharedLimit:
    shared = SharedLimit()
    assert shared.set(limit) == []
    return shared


def test_one_delivery_is_granted_at_a_time_until_the_limit() -> None:
    shared = limited(2)
    assert shared.want(A) == [A]
    shared.delivered(A)
    assert shared.want(A) == [A]
    shared.delivered(A)
    assert shared.want(A) == []
    assert shared.settled(1) == [A]


def test_the_consumer_that_waited_longest_is_granted_first() -> None:
    shared = limited(1)
    assert shared.want(A) == [A]
    shared.delivered(A)
    assert shared.want(B) == []
    assert shared.want(C) == []
    assert shared.settled(1) == [B]


def test_no_limit_grants_every_request() -> None:
    shared = limited(1)
    assert shared.want(A) == [A]
    assert shared.want(B) == []
    assert shared.set(0) == [B]
    assert shared.want(C) == [C]


def test_a_master_that_is_gone_gives_its_unused_grant_back() -> None:
    shared = limited(1)
    assert shared.want(A) == [A]
    assert shared.want(B) == []
    assert shared.forget(A) == [B]


@given(st.integers(1, 4), st.lists(st.tuples(st.sampled_from("wdsf"), st.sampled_from([A, B, C]))))
def test_never_more_out_and_granted_than_the_limit(
    limit: int, steps: list[tuple[str, Pid]]
) -> None:
    shared, out, granted = limited(limit), 0, dict.fromkeys([A, B, C], 0)
    for what, master in steps:
        now = []
        if what == "w":
            now = shared.want(master)
        elif what == "d" and granted[master]:
            granted[master], out = granted[master] - 1, out + 1
            shared.delivered(master)
        elif what == "s" and out:
            out, now = out - 1, shared.settled(1)
        elif what == "f":
            granted[master], now = 0, shared.forget(master)
        for each in now:
            granted[each] += 1
        assert out + sum(granted.values()) <= limit
