"""Where copies should be: RabbitMQ's own cases (dynamic_mirroring), and the rest of 1A."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace as with_fields

from reference_impl.metadata.tables import Policy, Queue
from reference_impl.mirrored.placement import Placed, first_node, suggested
from reference_impl.pid import Pid
from tests.reference_impl.metadata.governed import QUEUE, policy, tables

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


def test_the_first_master_is_a_node_listed_in_the_policy() -> None:
    nodes = policy(ha_mode="nodes", ha_params=["c", "x"], queue_master_locator="min-masters")
    assert first(QUEUE, nodes) == "c"
    no_node = policy(ha_mode="nodes", ha_params=["x"], queue_master_locator="min-masters")
    assert first(QUEUE, no_node) == "a"
