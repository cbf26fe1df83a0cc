"""A ring as one member sees it."""

from reference_impl.metadata.tables import Group, Member
from reference_impl.mirrored.gm import View, view_of
from reference_impl.pid import Pid

A, B, C, D = (Pid(name, 1, 2) for name in "abcd")


def group(*members: tuple[Pid, bool]) -> Group:
    return Group("q", 3, tuple(Member(pid, alive) for pid, alive in members))


def seen(me: Pid, *members: tuple[Pid, bool]) -> View:
    view = view_of(group(*members), me)
    assert view is not None
    return view


def test_neighbours_are_the_nearest_living_in_a_circle() -> None:
    ring = ((A, True), (B, False), (C, True), (D, True))
    assert (seen(A, *ring).left, seen(A, *ring).right) == (D, C)
    assert (seen(C, *ring).left, seen(C, *ring).right) == (A, D)


def test_the_dead_are_aliases_of_the_next_living_one() -> None:
    ring = ((A, False), (B, False), (C, True), (D, True))
    assert seen(C, *ring).aliases == (A, B)
    assert seen(D, *ring).aliases == ()


def test_the_circle_closes_over_its_end() -> None:
    assert seen(A, (A, True), (B, True), (C, False), (D, False)).aliases == (C, D)
    assert seen(B, (A, False), (B, True), (C, False)).aliases == (C, A)


def test_a_member_may_be_alone_with_the_dead() -> None:
    view = seen(B, (A, False), (B, True))
    assert view.alone
    assert (view.left, view.right, view.aliases) == (B, B, (A,))


def test_a_member_marked_dead_has_no_view() -> None:
    assert view_of(group((A, True), (B, False)), B) is None
    assert view_of(group((A, True)), C) is None
