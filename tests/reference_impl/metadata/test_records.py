"""Commands on queues and groups: the table at the head of records.py, and the lists."""

from typing import Any

import pytest
from msgspec.structs import replace

from reference_impl.metadata.records import (
    GONE,
    KEPT,
    PROMOTED,
    REFUSED,
    WAITING,
    AddMirror,
    AddQueue,
    EraseMembers,
    ForgetQueue,
    JoinGroup,
    LoseMaster,
    MarkDead,
    MarkSynchronised,
    RecordDeaths,
    RemoveMirror,
    RestartMaster,
    StopMirrors,
    leave_to_homes,
    replicas,
)
from reference_impl.metadata.tables import Binding, Group, Member, Policy, Queue, Tables
from reference_impl.pid import Pid

A, B, C, D = (Pid(name, 1, 2) for name in "abcd")
RUNNING = ("a", "b", "c")
WHEN_SYNCED = Policy("p", ".*", {"ha-promote-on-failure": "when-synced"}, 0, "all")


def queue(mirrors: tuple[Pid, ...] = (), **changes: Any) -> Queue:
    plain = Queue("q", True, False, None, {}, "a", A, mirrors, (), ())
    return replace(plain, **changes)


def tables(record: Queue, *policies: Policy, dead: tuple[Pid, ...] = ()) -> Tables:
    members = tuple(Member(pid, pid not in dead) for pid in (*replicas(record), D))
    return Tables(
        queues={"q": record},
        groups={"q": Group("q", 4, members)},
        policies={policy.name: policy for policy in policies},
    )


def deaths(member: Pid, *dead: Pid) -> RecordDeaths:
    return RecordDeaths("q", member, dead, RUNNING)


# --- promotion


def test_a_member_of_a_forgotten_queue_is_reported_gone() -> None:
    assert deaths(B, A).apply(Tables()) == GONE
    assert deaths(C, A).apply(tables(queue((B,)))) == GONE


def test_a_dead_mirror_is_taken_away_and_the_master_kept() -> None:
    world = tables(queue((B, C), synchronised=(C, B)))
    assert deaths(C, B).apply(world) == KEPT
    assert world.queues["q"].mirrors == (C,)
    assert world.queues["q"].synchronised == (C,)
    assert world.queues["q"].master == A


def test_a_younger_mirror_removes_the_dead_master_and_waits() -> None:
    world = tables(queue((B, C)))
    assert deaths(C, A).apply(world) == WAITING
    assert world.queues["q"].master is None
    assert world.queues["q"].mirrors == (B, C)
    assert world.queues["q"].home == "a"


def test_the_oldest_becomes_master_though_a_younger_one_is_synchronised() -> None:
    world = tables(queue((B, C), synchronised=(C,)), WHEN_SYNCED)
    assert deaths(B, A).apply(world) == PROMOTED
    now = world.queues["q"]
    assert (now.master, now.home, now.mirrors, now.synchronised) == (B, "b", (C,), (C,))


def test_the_next_oldest_is_promoted_when_the_oldest_died_too() -> None:
    world = tables(queue((B, C)))
    assert deaths(C, A).apply(world) == WAITING
    assert deaths(C, A, B).apply(world) == PROMOTED
    assert world.queues["q"].mirrors == ()


def test_an_unsynchronised_mirror_refuses_where_policy_says_so() -> None:
    world = tables(queue((B, C)), WHEN_SYNCED)
    assert deaths(B, A).apply(world) == REFUSED
    now = world.queues["q"]
    assert (now.master, now.mirrors, now.home) == (None, (B, C), "a")


def test_a_refused_promotion_binds_the_others_despite_policy_changes() -> None:
    world = tables(queue((B, C)), WHEN_SYNCED)
    deaths(B, A).apply(world)
    assert deaths(C, A).apply(world) == WAITING
    world.policies.clear()
    assert deaths(C, A, B).apply(world) == REFUSED


def test_an_unchanged_record_stays_the_same_object() -> None:
    world = tables(queue((B,)))
    before = world.queues["q"]
    assert deaths(B, C).apply(world) == KEPT
    assert world.queues["q"] is before


# --- mirrors


def test_mirrors_are_listed_in_the_order_of_their_age() -> None:
    world = tables(queue((C,)))
    assert AddMirror("q", D, RUNNING).apply(world)
    assert world.queues["q"].mirrors == (C, D)


def test_a_new_mirror_replaces_its_nodes_former_one() -> None:
    before = Pid("d", 0, 5)
    world = tables(queue((before, C), synchronised=(before,)))
    assert AddMirror("q", D, RUNNING).apply(world)
    assert world.queues["q"].mirrors == (C, D)
    assert world.queues["q"].synchronised == ()


@pytest.mark.parametrize(
    "world",
    [
        Tables(),
        tables(queue(master=None)),
        tables(queue(master=Pid("d", 1, 9), home="d")),
        tables(queue(), dead=(D,)),
    ],
)
def test_a_mirror_needs_a_remote_master_and_a_ring_membership(world: Tables) -> None:
    assert not AddMirror("q", D, RUNNING).apply(world)


def test_the_latest_synchronised_comes_first() -> None:
    world = tables(queue((B, C)))
    for mirror in (B, C, B):
        MarkSynchronised("q", mirror).apply(world)
    assert world.queues["q"].synchronised == (C, B)


def test_only_mirrors_are_marked_synchronised() -> None:
    world = tables(queue((B,)))
    MarkSynchronised("q", C).apply(world)
    assert world.queues["q"].synchronised == ()


def test_a_mirror_is_removed_by_its_own_node() -> None:
    world = tables(queue((B, C), synchronised=(B,)))
    RemoveMirror("q", B, RUNNING).apply(world)
    assert (world.queues["q"].mirrors, world.queues["q"].synchronised) == ((C,), ())


def test_a_killed_node_stays_recoverable_and_a_stopped_one_not() -> None:
    world = tables(queue((B,), recoverable=("b",)))
    RecordDeaths("q", A, (B,), ("a", "c")).apply(world)
    assert world.queues["q"].recoverable == ("b",)
    world = tables(queue((B,), recoverable=("b",)))
    RecordDeaths("q", A, (B,), ("a", "b", "c")).apply(world)
    assert world.queues["q"].recoverable == ()


# --- queues


def test_a_queue_is_added_once_with_its_masters_group() -> None:
    world = Tables()
    assert AddQueue(queue()).apply(world)
    assert world.groups["q"] == Group("q", 0, (Member(A, True),))
    assert not AddQueue(queue(master=B, home="b")).apply(world)
    assert world.queues["q"].master == A


def test_a_forgotten_queue_takes_its_bindings_and_its_group_along() -> None:
    world = tables(queue())
    world.bindings["amq.direct"] = (Binding("amq.direct", "q", "k", {}),)
    assert not ForgetQueue("q", B).apply(world)
    assert ForgetQueue("q", A).apply(world)
    assert (world.queues, world.groups, world.bindings) == ({}, {}, {})


def test_a_queue_comes_back_at_its_home_alone() -> None:
    world, again = tables(queue((B,))), Pid("a", 2, 7)
    assert RestartMaster("q", again, (A, B), RUNNING).apply(world)
    assert (world.queues["q"].master, world.queues["q"].mirrors) == (again, ())
    assert world.groups["q"] == Group("q", 5, (Member(again, True),))


@pytest.mark.parametrize(
    ("record", "gone"),
    [
        (queue(), ()),  # its master lives
        (queue((B,)), (A,)),  # a mirror lives that may take over
        (queue(home="b"), (A,)),  # its home is another node by now
    ],
)
def test_a_queue_does_not_come_back_beside_one_that_lives(
    record: Queue, gone: tuple[Pid, ...]
) -> None:
    world = tables(record)
    assert not RestartMaster("q", Pid("a", 2, 7), gone, RUNNING).apply(world)
    assert world.queues["q"] is record


def test_a_waiting_queue_restarts_on_its_home_beside_living_mirrors() -> None:
    world = tables(queue((B, C)), WHEN_SYNCED)
    deaths(B, A).apply(world)
    assert RestartMaster("q", Pid("a", 2, 7), (A, B), RUNNING).apply(world)
    assert not world.queues["q"].waits_for_home


def test_a_queue_stays_absent_after_full_outage_until_home_returns() -> None:
    world = tables(queue((B,)))
    leave_to_homes(world)
    LoseMaster("q", (A, B), ("c",)).apply(world)
    assert world.queues["q"].is_absent, "it is lost, and no other node has it"
    assert RestartMaster("q", Pid("a", 2, 7), (A, B), RUNNING).apply(world)
    assert not world.queues["q"].is_absent


def test_a_lost_durable_queue_waits_but_a_transient_one_ends() -> None:
    world = tables(queue((B,)))
    LoseMaster("q", (A, B), ("c",)).apply(world)
    assert (world.queues["q"].master, world.queues["q"].mirrors) == (None, ())
    world = tables(queue(durable=False))
    LoseMaster("q", (A,), ("c",)).apply(world)
    assert world.queues == {}


def test_a_queue_with_a_living_copy_is_not_lost() -> None:
    world = tables(queue((B,)))
    LoseMaster("q", (A,), ("b",)).apply(world)
    assert world.queues["q"].master == A


def test_a_master_that_stops_its_mirrors_leaves_the_queue_home() -> None:
    world = tables(queue((B, C), recoverable=("b", "c")))
    StopMirrors("q", A, RUNNING).apply(world)
    now = world.queues["q"]
    assert (now.master, now.mirrors, now.home, now.recoverable) == (None, (), "a", ())
    assert world.groups["q"].members == (Member(A, True),)


# --- groups


def members(world: Tables) -> list[tuple[Pid, bool]]:
    return [(member.pid, member.alive) for member in world.groups["q"].members]


def test_a_newcomer_stands_to_the_right_of_a_living_member() -> None:
    world = tables(queue((B,)), dead=(B,))
    new = Pid("e", 1, 2)
    assert JoinGroup("q", new, 0).apply(world)
    assert members(world) == [(A, True), (new, True), (B, False), (D, True)]
    assert world.groups["q"].version == 5


def test_a_group_without_a_living_member_is_not_joined() -> None:
    world = tables(queue(), dead=(A, D))
    assert not JoinGroup("q", B, 0).apply(world)


def test_dead_members_stay_until_living_members_erase_them() -> None:
    world = tables(queue((B,)))
    MarkDead("q", A, B).apply(world)
    assert members(world) == [(A, True), (B, False), (D, True)]
    MarkDead("q", B, A).apply(world)
    EraseMembers("q", B, (B,)).apply(world)
    EraseMembers("q", A, (D,)).apply(world)
    assert members(world) == [(A, True), (B, False), (D, True)]
    EraseMembers("q", A, (B,)).apply(world)
    assert members(world) == [(A, True), (D, True)]
    assert world.groups["q"].version == 6
