"""Which policy governs a queue, and what it says where it is silent."""

import time

import pytest
from msgspec.structs import replace as with_fields

from reference_impl.metadata.governing import (
    governing,
    is_mirrored,
    leaves_on_shutdown,
    may_promote,
    sync_batch,
    synchronises_by_itself,
)
from reference_impl.metadata.patterns import matches
from reference_impl.pid import Pid
from tests.reference_impl.metadata.governed import QUEUE, policy, tables


def test_the_highest_priority_governs_among_those_that_match() -> None:
    low, high = policy("low", priority=1), policy("high", priority=2)
    other = policy("other", pattern="^x", priority=9)
    exchanges = with_fields(policy("exchanges", priority=9), apply_to="exchanges")
    assert governing(tables(low, high, other, exchanges), QUEUE) == high


def test_a_pattern_may_match_anywhere_in_the_name() -> None:
    assert governing(tables(policy(pattern="b$")), with_fields(QUEUE, name="ab")) is not None
    assert governing(tables(policy(pattern="^b")), with_fields(QUEUE, name="ab")) is None


def test_no_policy_governs_an_exclusive_queue() -> None:
    exclusive = with_fields(QUEUE, owner=Pid("a", 1, 9))
    assert not is_mirrored(tables(policy(ha_mode="all")), exclusive)


@pytest.mark.parametrize(
    ("mode", "synchronised", "may"),
    [("always", False, True), ("when-synced", False, False), ("when-synced", True, True)],
)
def test_promotion_on_failure_is_allowed_by_default(
    mode: str, synchronised: bool, may: bool
) -> None:
    queue = with_fields(QUEUE, synchronised=(Pid("b", 1, 2),) if synchronised else ())
    assert may_promote(tables(policy(ha_promote_on_failure=mode)), queue) is may
    assert may_promote(tables(policy()), queue)


@pytest.mark.parametrize(
    ("mode", "synchronised", "does"),
    [("always", False, True), ("when-synced", False, False), ("when-synced", True, True)],
)
def test_a_stopping_master_transfers_only_synchronised_queues_by_default(
    mode: str, synchronised: bool, does: bool
) -> None:
    queue = with_fields(QUEUE, synchronised=(Pid("b", 1, 2),) if synchronised else ())
    assert leaves_on_shutdown(tables(policy(ha_promote_on_shutdown=mode)), queue) is does
    assert leaves_on_shutdown(tables(policy()), queue) is synchronised


def test_a_batch_of_one_or_less_is_the_default() -> None:
    assert sync_batch(tables(policy(ha_sync_batch_size=1)), QUEUE) == 4096
    assert sync_batch(tables(policy(ha_sync_batch_size=50)), QUEUE) == 50
    assert not synchronises_by_itself(tables(policy()), QUEUE)


def test_a_pattern_that_explodes_governs_nothing_and_takes_no_time() -> None:
    name = "a" * 200 + "b"
    began_s = time.process_time()
    explodes, plain = policy("explodes", pattern="(a+)+$", priority=2), policy("plain")
    assert governing(tables(explodes, plain), with_fields(QUEUE, name=name)) == plain
    assert time.process_time() - began_s < 1.0


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("^(?!amq\\.).*", "orders", True),
        ("^(?!amq\\.).*", "amq.gen", False),
        ("^a++b", "aab", True),  # PCRE's, which Python before 3.11 had not
        ("(?i)^ORDERS$", "orders", True),
    ],
)
def test_patterns_are_perl_compatible(pattern: str, name: str, fits: bool) -> None:
    assert matches(pattern, name) is fits
