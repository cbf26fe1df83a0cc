"""Which nodes a cluster has, and what becomes of queues when one is forgotten
(docs/behaviour/rabbitmq.md items 53, 54)."""

from typing import Any

import pytest
from msgspec.structs import replace

from reference_impl.metadata.nodes import FORGOTTEN, NO_MEMBER, RUNS, ForgetNode, admit
from reference_impl.metadata.tables import Binding, Group, Member, Policy, Queue, Tables
from reference_impl.pid import Pid

A, B, C = (Pid(name, 1, 2) for name in "abc")
WHEN_SYNCED = Policy("p", ".*", {"ha-promote-on-failure": "when-synced"}, 0, "all")
OFFLINE = ()  # who runs, as a node that is down is reported


def waiting(**changes: Any) -> Queue:
    """A durable queue whose last master was on a; b and c could have it."""
    plain = Queue("q", True, False, None, {}, "a", None, (), (), ("b", "c"))
    return replace(plain, **changes)


def tables(*queues: Queue, nodes: str = "abc") -> Tables:
    made = Tables(nodes=tuple(nodes), queues={it.name: it for it in queues})
    for queue in queues:
        made.groups[queue.name] = Group(queue.name, 4, (Member(A, True),))
        made.bindings["x"] = (Binding("x", queue.name, "", {}),)
    return made


def forget(made: Tables, node: str, *running: str) -> str:
    return ForgetNode(node, running).apply(made)


def test_a_forgotten_node_is_no_member_until_admitted_again() -> None:
    made = tables()
    assert forget(made, "b", "a") == FORGOTTEN
    assert (made.nodes, made.forgotten) == (("a", "c"), ("b",))
    assert forget(made, "b", "a") == NO_MEMBER
    admit(made, "b")
    admit(made, "b")
    assert (made.nodes, made.forgotten) == (("a", "b", "c"), ())


def test_a_node_that_runs_is_not_forgotten() -> None:
    made = tables(waiting())
    assert forget(made, "a", "a", "b") == RUNS
    assert made == tables(waiting())


def test_mirrors_on_it_are_mirrors_no_more() -> None:
    queue = waiting(
        home="b", master=B, mirrors=(C, A), synchronised=(A, C), recoverable=("c", "a")
    )
    made = tables(queue)
    assert forget(made, "a", "b", "c") == FORGOTTEN
    assert made.queues["q"] == replace(queue, mirrors=(C,), synchronised=(C,), recoverable=("c",))


def test_a_waiting_queue_passes_to_the_first_recoverable_down_node() -> None:
    made = tables(waiting())
    forget(made, "a", *OFFLINE)
    assert made.queues["q"] == waiting(home="b")
    made = tables(waiting())
    forget(made, "a", "b")
    assert made.queues["q"] == waiting(home="c"), "b runs, and has no copy of it any more"


def test_nodes_that_were_forgotten_earlier_inherit_nothing() -> None:
    made = tables(waiting())
    forget(made, "b", *OFFLINE)
    forget(made, "a", *OFFLINE)
    assert made.queues["q"] == waiting(home="c", recoverable=("c",))


def test_forgetting_the_masters_node_first_may_promote_a_dead_one() -> None:
    made = tables(waiting())
    forget(made, "a", *OFFLINE)
    assert made.queues["q"].home == "b"
    forget(made, "b", *OFFLINE)
    assert made.queues["q"] == waiting(home="c", recoverable=("c",))


@pytest.mark.parametrize(
    ("queue", "running"),
    [
        (waiting(recoverable=()), OFFLINE),
        (waiting(), ("b", "c")),
        (waiting(durable=False), OFFLINE),
    ],
)
def test_without_a_possible_holder_the_queue_is_gone(
    queue: Queue, running: tuple[str, ...]
) -> None:
    made = tables(queue)
    forget(made, "a", *running)
    assert (made.queues, made.groups, made.bindings) == ({}, {}, {})


def test_forgetting_a_node_does_not_disturb_a_pending_promotion() -> None:
    queue = waiting(master=A, mirrors=(B, C))
    made = tables(queue)
    forget(made, "a", "b", "c")
    assert made.queues["q"] == queue


def test_mirrors_that_may_not_take_over_save_nothing() -> None:
    made = tables(waiting(master=A, mirrors=(B,)))
    made.policies["p"] = WHEN_SYNCED
    forget(made, "a", "b", "c")
    assert made.queues == {}


def test_a_queue_elsewhere_stays_as_it_is() -> None:
    queue = waiting(home="b", master=B, recoverable=("c",))
    made = tables(queue)
    forget(made, "a", "b", "c")
    assert made.queues["q"] is queue
