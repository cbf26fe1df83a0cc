"""One member of a ring, event by event: the rules at the head of gm.py."""

from reference_impl.metadata.records import EraseMembers, MarkDead
from reference_impl.metadata.tables import Tables
from reference_impl.mirrored.gm import GUARD_MS, Arrived, Died, Ring, Step
from reference_impl.mirrored.messages import (
    Activity,
    AskState,
    Catchup,
    Pub,
    RequestDepth,
    SenderDeath,
    SenderState,
    StreamState,
)
from reference_impl.pid import Pid
from reference_impl.process import (
    NO_CONNECTION,
    NORMAL,
    Arm,
    Effect,
    Send,
    Transact,
    Unwatch,
    Watch,
)
from tests.reference_impl.mirrored.fixed_world import QUEUE, FixedWorld

A, B, C, D = (Pid(name, 1, 2) for name in "abcd")


def pub(number: int) -> Pub:
    return number, SenderDeath(Pid("x", 1, number))


def body(number: int) -> SenderDeath:
    return SenderDeath(Pid("x", 1, number))


def sends(step: Step) -> list[Send]:
    return [effect for effect in step.effects if isinstance(effect, Send)]


class Member:
    """B of the ring A, B, C, which knows nothing yet, or what a Catchup of A said."""

    def __init__(self, *states: StreamState) -> None:
        self.world = FixedWorld("b")
        self.ring = Ring(B, QUEUE, self.world, founder=False)
        self.world.group(1, A, B, C)
        self.joined = self.ring.regroup()
        self.caught_up = self.ring.receive(Catchup(1, A, states))

    def hears(self, *entries: SenderState, left: Pid = A, version: int = 1) -> Step:
        return self.ring.receive(Activity(version, left, entries))

    def regroups(self, version: int, *members: Pid, dead: tuple[Pid, ...] = ()) -> Step:
        self.world.group(version, *members, dead=dead)
        return self.ring.regroup()


def onward(*entries: SenderState, to: Pid = C, version: int = 1) -> Send:
    return Send(to, Activity(version, B, entries))


# --- broadcasts


def test_a_broadcast_goes_to_the_right_with_the_next_flush() -> None:
    member = Member()
    assert member.ring.broadcast(body(7))
    assert member.ring.broadcast(body(8))
    assert member.ring.flush() == [onward(SenderState(B, ((0, body(7)), (1, body(8))), ()))]
    assert member.ring.flush() == []


def test_an_unsent_broadcast_may_be_amended() -> None:
    member = Member()
    member.ring.broadcast(body(7))
    assert member.ring.unsent() == body(7)
    member.ring.amend(body(9))
    assert member.ring.flush() == [onward(SenderState(B, ((0, body(9)),), ()))]
    assert member.ring.unsent() is None


def test_a_foreign_broadcast_is_forwarded_before_it_is_delivered() -> None:
    entry = SenderState(A, (pub(0), pub(1)), ())
    step = Member().hears(entry)
    assert step.effects == [onward(entry)]
    assert step.happened == [Arrived(A, body(0)), Arrived(A, body(1))]


def test_an_own_broadcast_that_returns_is_acked_and_not_delivered() -> None:
    member = Member()
    member.ring.broadcast(body(7))
    member.ring.flush()
    step = member.hears(SenderState(B, ((0, body(7)),), ()))
    assert step.effects == [onward(SenderState(B, (), (0,)))]
    assert step.happened == []


def test_an_ack_that_returns_to_its_sender_goes_no_further() -> None:
    member = Member()
    member.ring.broadcast(body(7))
    member.ring.flush()
    member.hears(SenderState(B, ((0, body(7)),), ()))
    assert member.hears(SenderState(B, (), (0,))).effects == []


def test_messages_of_a_forgotten_member_are_ignored() -> None:
    step = Member().hears(SenderState(D, (pub(0),), ()))
    assert (step.effects, step.happened) == ([], [])


def test_acks_of_others_are_sent_on_and_make_it_forget() -> None:
    member = Member()
    member.hears(SenderState(A, (pub(0), pub(1)), ()))
    acks = SenderState(A, (), (0,))
    assert member.hears(acks).effects == [onward(acks)]
    pushed = sends(member.regroups(2, A, B, D))[0]
    assert pushed == Send(D, Catchup(2, B, (StreamState(A, (pub(1),), 1, 0),)))


def test_only_the_left_neighbour_is_listened_to() -> None:
    step = Member().hears(SenderState(A, (pub(0),), ()), left=C)
    assert (step.effects, step.happened) == ([], [])


def test_a_lone_member_sends_nothing() -> None:
    world = FixedWorld()
    ring = Ring(A, QUEUE, world, founder=True)
    assert not ring.broadcast(body(1))
    assert ring.flush() == []
    assert ring.alone


# --- links


def test_a_newcomer_watches_its_neighbours_and_queries_the_left_one() -> None:
    joined = Member().joined
    assert joined.effects == [Watch(A), Watch(C), Send(A, AskState(1, B, (B,)))]


def test_a_newcomer_forwards_its_state_without_delivering_the_past() -> None:
    past = StreamState(A, (pub(3),), 3, 2)
    member = Member(past)
    assert member.caught_up.effects == [Send(C, Catchup(1, B, (past,)))]
    assert member.caught_up.happened == []
    assert member.hears(SenderState(A, (pub(4),), ())).happened == [Arrived(A, body(4))]


def test_a_newcomer_assumes_acked_what_its_left_neighbour_dropped() -> None:
    """The ack may have been lost with the member that carried it; the heir learns of it so."""
    member = Member(StreamState(A, (), 4, 1))
    pushed = sends(member.regroups(2, A, B, D, C))[0]
    assert pushed == Send(D, Catchup(2, B, (StreamState(A, (), 4, 4),)))


def test_before_its_state_has_come_a_newcomer_hears_nothing() -> None:
    world = FixedWorld("b")
    ring = Ring(B, QUEUE, world, founder=False)
    world.group(1, A, B, C)
    ring.regroup()
    assert not ring.has_state
    step = ring.receive(Activity(1, A, (SenderState(A, (pub(0),), ()),)))
    assert (step.effects, step.happened) == ([], [])


def test_a_new_left_neighbour_is_queried_and_ignored_before_answering() -> None:
    member = Member()
    step = member.regroups(2, A, D, B, C)
    assert step.effects == [Unwatch(A), Watch(D), Send(D, AskState(2, B, ()))]
    entry = SenderState(A, (pub(0),), ())
    assert member.hears(entry, left=D, version=2).happened == []
    answer = Catchup(2, D, (StreamState(A, (pub(0),), 0, -1),))
    assert member.ring.receive(answer).happened == [Arrived(A, body(0))]


def test_an_answer_from_before_the_last_change_does_not_count() -> None:
    member = Member()
    member.regroups(2, A, D, B, C)
    member.regroups(4, A, B, C)
    assert member.ring.receive(Catchup(3, A, ())).happened == []
    assert member.hears(SenderState(A, (pub(0),), ()), version=3).happened == []
    member.ring.receive(Catchup(4, A, ()))
    assert member.hears(SenderState(A, (pub(0),), ()), version=4).happened == [Arrived(A, body(0))]


def test_missed_broadcasts_arrive_as_if_received_normally() -> None:
    member = Member()
    member.hears(SenderState(A, (pub(0), pub(1)), ()))
    member.regroups(2, A, D, B, C)
    step = member.ring.receive(Catchup(2, D, (StreamState(A, (pub(1), pub(2)), 2, 0),)))
    assert step.effects == [onward(SenderState(A, (pub(2),), (0,)), version=2)]
    assert step.happened == [Arrived(A, body(2))]


def test_a_new_right_neighbour_gets_all_that_is_pending() -> None:
    member = Member()
    member.hears(SenderState(A, (pub(0),), ()))
    step = member.regroups(2, A, B, D, C)
    assert sends(step) == [Send(D, Catchup(2, B, (StreamState(A, (pub(0),), 0, -1),)))]


def test_a_right_neighbour_gets_what_it_lacks() -> None:
    member = Member()
    assert member.ring.receive(AskState(1, C, (C,))).effects == []  # it was pushed by itself
    again = member.regroups(3, A, B, C)
    assert sends(again) == []
    step = member.ring.receive(AskState(3, C, ()))
    assert step.effects == [Send(C, Catchup(3, B, ()))]
    assert member.ring.receive(AskState(3, D, ())).effects == []


def test_newcomers_whose_elders_all_died_begin_again() -> None:
    world = FixedWorld("b")
    ring = Ring(B, QUEUE, world, founder=False)
    world.group(2, A, B, dead=())
    ring.regroup()
    assert ring.receive(AskState(2, A, (A,))).effects == [Send(A, AskState(2, B, (A, B)))]
    assert ring.receive(AskState(2, A, (B, A))).effects == [Send(A, Catchup(2, B, ()))]
    assert ring.has_state


# --- versions


def test_a_message_from_a_later_version_triggers_reading_the_record() -> None:
    member = Member()
    member.world.group(2, A, D, B, C)
    step = member.ring.receive(Catchup(2, D, (StreamState(D, (pub(0),), 0, -1),)))
    assert step.happened == [Arrived(D, body(0))]


def test_a_message_from_an_unknown_version_waits_in_its_place() -> None:
    member = Member()
    for number in (0, 1):
        entry = SenderState(A, (pub(number),), ())
        assert member.hears(entry, version=2).happened == []
    step = member.regroups(2, A, B, D, C)
    assert step.happened == [Arrived(A, body(0)), Arrived(A, body(1))]


def test_a_message_does_not_overtake_those_that_wait() -> None:
    world = FixedWorld("b")
    ring = Ring(B, QUEUE, world, founder=False)
    ring.receive(Catchup(1, A, ()))
    world.group(1, A, B, C)
    step = ring.receive(Activity(1, A, (SenderState(A, (pub(0),), ()),)))
    assert step.happened == [Arrived(A, body(0))]


def test_a_member_absent_from_the_record_is_lost() -> None:
    member = Member()
    assert member.regroups(2, A, C).lost
    assert Member().regroups(2, A, B, C, dead=(B,)).lost
    member.world.tables = Tables()
    assert member.ring.regroup().lost


# --- deaths


def test_a_neighbour_that_ended_is_marked_dead_after_the_guard() -> None:
    member = Member()
    (arm,) = member.ring.down(C, NO_CONNECTION)
    assert isinstance(arm, Arm) and arm.after_ms == GUARD_MS
    assert member.ring.expired(arm.name) == [Transact(0, MarkDead(QUEUE, B, C))]
    assert member.ring.expired(arm.name) == []


def test_a_neighbour_that_others_have_marked_is_not_marked_again() -> None:
    member = Member()
    (arm,) = member.ring.down(C, NO_CONNECTION)
    assert isinstance(arm, Arm)
    member.regroups(2, A, B, C, dead=(C,))
    assert member.ring.expired(arm.name) == []


def test_a_neighbours_normal_end_and_strangers_ends_are_ignored() -> None:
    member = Member()
    assert member.ring.down(C, NORMAL) == []
    assert member.ring.down(D, NO_CONNECTION) == []


def heir(*pending: int) -> tuple[Member, Step]:
    """B has heard so much of A, which then died: B inherits, and C is its left neighbour now."""
    member = Member()
    member.hears(SenderState(A, tuple(pub(number) for number in pending), ()))
    step = member.regroups(2, A, B, C, dead=(A,))
    return member, step


def test_a_dead_members_successor_queries_the_next_left_member() -> None:
    _, step = heir(0)
    assert step.effects == [
        Unwatch(A),
        Send(C, AskState(2, B, ())),
    ]


def test_a_death_waits_for_the_dead_members_last_broadcasts() -> None:
    member, _ = heir(0)
    step = member.ring.receive(Catchup(2, C, ()))
    assert [it for it in step.effects if isinstance(it, Transact)] == []


def test_an_heir_acknowledges_and_erases_the_dead_members_messages() -> None:
    """Acknowledge what comes round of the dead member, and erase it when that has come round."""
    member, _ = heir(0)
    step = member.ring.receive(Catchup(2, C, (StreamState(A, (pub(0),), 0, -1),)))
    assert step.effects == [onward(SenderState(A, (), (0,)), version=2)]
    step = member.hears(SenderState(A, (), (0,)), left=C, version=2)
    assert step.effects == [Transact(0, EraseMembers(QUEUE, B, (A,)))]
    assert member.hears(left=C, version=2).effects == []  # asked for once


def test_the_death_comes_when_the_record_has_forgotten_the_member() -> None:
    member, _ = heir()
    member.ring.receive(Catchup(2, C, ()))
    step = member.regroups(3, B, C)
    assert step.happened == [Died((A,))]


def test_a_last_member_erases_the_dead_members() -> None:
    member = Member()
    member.hears(SenderState(A, (pub(0),), ()))
    member.ring.broadcast(body(1))
    step = member.regroups(3, A, B, C, dead=(A, C))
    assert [it for it in step.effects if isinstance(it, Transact)] == [
        Transact(0, EraseMembers(QUEUE, B, (C, A)))
    ]
    assert member.ring.flush() == []
    effects: list[Effect] = member.regroups(4, B).effects
    assert effects == []


def test_a_body_may_be_any_message_of_members() -> None:
    step = Member().hears(SenderState(A, ((0, RequestDepth()),), ()))
    assert step.happened == [Arrived(A, RequestDepth())]
