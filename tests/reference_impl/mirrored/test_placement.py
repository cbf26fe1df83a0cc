"""Where copies should be: RabbitMQ's own cases (dynamic_mirroring), and the rest of 1A."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace as with_fields

from reference_impl.metadata.tables import Policy, Queue, Tables
from reference_impl.mirrored.placement import (
    Placed,
    first_node,
    governing,
    hands_over,
    is_mirrored,
    may_promote,
    suggested,
    sync_batch,
    synchronises_by_itself,
)
from reference_impl.pid import Pid

QUEUE = Queue("q", True, False, None, {}, "a", Pid("a", 1, 2), (), (), ())


def policy(name: str = "p", pattern: str = ".*", priority: int = 0, **definition: Any) -> Policy:
    keys = {key.replace("_", "-"): value for key, value in definition.items()}
    return Policy(name, pattern, keys, priority, "all")


def tables(*policies: Policy, queues: tuple[Queue, ...] = ()) -> Tables:
    return Tables(policies={it.name: it for it in policies}, queues={it.name: it for it in queues})


# mode, params, (master, mirrors, synchronised), running -> master, mirrors, further unnamed ones
CASES = [
    ("all", None, ("a", "", ""), "abc", "a", "bc", 0),
    ("all", None, ("a", "bc", "bc"), "abc", "a", "bc", 0),
    ("all", None, ("a", "d", "d"), "abc", "a", "bc", 0),
    ("nodes", "abc", ("a", "b", "b"), "abcd", "a", "bc", 0),
    ("nodes", "abc", ("b", "a", "a"), "abcd", "b", "ac", 0),
    ("nodes", "abc", ("a", "d", "d"), "abcd", "a", "bc", 0),
    ("nodes", "abf", ("a", "b", "b"), "abcd", "a", "b", 0),
    ("nodes", "fgh", ("a", "b", "b"), "abcd", "a", "", 0),
    ("nodes", "bc", ("a", "", ""), "abcd", "a", "bc", 0),
    ("nodes", "bc", ("a", "b", ""), "abcd", "a", "bc", 0),
    ("nodes", "bc", ("a", "b", "b"), "abcd", "b", "c", 0),
    ("nodes", "cb", ("a", "b", "b"), "abcd", "b", "c", 0),
    ("nodes", "cd", ("a", "b", "b"), "abcd", "b", "cd", 0),
    ("exactly", 2, ("a", "", ""), "abcd", "a", "", 1),
    ("exactly", 3, ("a", "", ""), "abcd", "a", "", 2),
    ("exactly", 2, ("a", "c", "c"), "abcd", "a", "c", 0),
    ("exactly", 3, ("a", "c", "c"), "abcd", "a", "c", 1),
    ("exactly", 2, ("a", "cd", "cd"), "abcd", "a", "c", 0),
    ("exactly", 3, ("a", "cd", "cd"), "abcd", "a", "cd", 0),
    ("exactly", 5, ("a", "", ""), "abc", "a", "", 2),
    (None, None, ("a", "bc", "bc"), "abc", "a", "", 0),
]


@pytest.mark.parametrize(
    ("mode", "params", "placed", "running", "master", "mirrors", "further"), CASES
)
def test_nodes_are_selected_as_rabbitmq_selects_them(
    mode: str | None,
    params: Any,
    placed: tuple[str, str, str],
    running: str,
    master: str,
    mirrors: str,
    further: int,
) -> None:
    definition = {} if mode is None else {"ha_mode": mode}
    if params is not None:
        definition["ha_params"] = list(params) if isinstance(params, str) else params
    wanted = suggested(
        policy(**definition),
        Placed(placed[0], tuple(placed[1]), tuple(placed[2])),
        tuple(running),
        Random(1),
    )
    assert wanted.master == master
    assert set(mirrors) <= set(wanted.mirrors)
    assert len(wanted.mirrors) == len(mirrors) + further
    assert len({wanted.master, *wanted.mirrors}) == 1 + len(wanted.mirrors)


def test_exactly_draws_every_unused_node_sooner_or_later() -> None:
    placed, exactly = Placed("a", ()), policy(ha_mode="exactly", ha_params=2)
    drawn = {suggested(exactly, placed, tuple("abcd"), Random(seed)) for seed in range(50)}
    assert drawn == {Placed("a", (node,)) for node in "bcd"}


def test_policies_may_name_nodes_as_the_management_api_does() -> None:
    nodes = policy(ha_mode="nodes", ha_params=["rabbit@b", "rabbit@a"])
    assert suggested(nodes, Placed("a", ()), tuple("abc"), Random(1)) == Placed("a", ("b",))


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
def test_a_stopping_master_hands_over_only_what_is_synchronised_by_default(
    mode: str, synchronised: bool, does: bool
) -> None:
    queue = with_fields(QUEUE, synchronised=(Pid("b", 1, 2),) if synchronised else ())
    assert hands_over(tables(policy(ha_promote_on_shutdown=mode)), queue) is does
    assert hands_over(tables(policy()), queue) is synchronised


def test_a_batch_of_one_or_less_is_the_default() -> None:
    assert sync_batch(tables(policy(ha_sync_batch_size=1)), QUEUE) == 4096
    assert sync_batch(tables(policy(ha_sync_batch_size=50)), QUEUE) == 50
    assert not synchronises_by_itself(tables(policy()), QUEUE)


# --- the first master


def first(queue: Queue, *policies: Policy, queues: tuple[Queue, ...] = (), seed: int = 1) -> str:
    return first_node(tables(*policies, queues=queues), queue, "b", tuple("abc"), Random(seed))


def located(how: str) -> Queue:
    return with_fields(QUEUE, arguments={"x-queue-master-locator": how})


def test_a_queue_starts_where_it_is_declared_by_default() -> None:
    assert first(QUEUE) == "b"
    assert first(located("client-local")) == "b"


def test_min_masters_takes_the_first_of_the_least_loaded() -> None:
    queues: tuple[Queue, ...] = ()
    for number in range(9):
        home = first(located("min-masters"), queues=queues)
        queues += (with_fields(QUEUE, name=f"q{number}", home=home),)
    assert Counter(queue.home for queue in queues) == {"a": 3, "b": 3, "c": 3}


def test_random_reaches_every_node() -> None:
    assert {first(located("random"), seed=seed) for seed in range(40)} == {"a", "b", "c"}


def test_the_argument_beats_the_policy() -> None:
    by_policy = policy(queue_master_locator="min-masters")
    assert first(QUEUE, by_policy) == "a"
    assert first(located("client-local"), by_policy) == "b"


def test_an_exclusive_queue_stays_with_its_connection() -> None:
    assert first(with_fields(located("min-masters"), owner=Pid("b", 1, 9))) == "b"


def test_the_first_master_is_one_of_the_nodes_that_the_policy_lists() -> None:
    nodes = policy(ha_mode="nodes", ha_params=["c", "x"], queue_master_locator="min-masters")
    assert first(QUEUE, nodes) == "c"
    nobody = policy(ha_mode="nodes", ha_params=["x"], queue_master_locator="min-masters")
    assert first(QUEUE, nobody) == "a"
