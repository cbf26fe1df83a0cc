"""When a mirror is synchronised (3.4)."""

import pytest

from reference_impl.mirrored.following import Depth, Diverged


def behind(delta: int) -> Depth:
    depth = Depth()
    assert not depth.update(delta, 0)
    return depth


def test_an_empty_queue_makes_a_mirror_synchronised_at_once() -> None:
    depth = Depth()
    assert depth.update(0, 0)
    assert depth.is_synchronised


def test_a_mirror_is_synchronised_when_its_missing_messages_are_gone() -> None:
    depth = behind(3)
    assert not depth.less(2)
    assert not depth.is_synchronised
    assert depth.less(1)
    assert depth.is_synchronised


def test_synchronisation_is_reported_only_once() -> None:
    depth = behind(1)
    assert depth.less(1)
    assert not depth.update(5, 5)
    assert not depth.less(0)


def test_before_the_depth_comes_nothing_is_known() -> None:
    depth = Depth()
    assert not depth.less(4)
    assert depth.delta is None


@pytest.mark.parametrize(("master", "own"), [(2, 0), (0, 1)])
def test_a_mirror_cannot_fall_behind_nor_be_ahead(master: int, own: int) -> None:
    depth = behind(1)
    with pytest.raises(Diverged):
        depth.update(master, own)


def test_a_synchronised_mirror_that_misses_something_is_broken() -> None:
    depth = Depth()
    depth.update(0, 0)
    with pytest.raises(Diverged):
        depth.less(1)


def test_explicit_synchronisation_ends_the_lag_and_failure_makes_it_unknown() -> None:
    depth = behind(7)
    assert depth.synchronised()
    assert depth.is_synchronised
    depth.forget()
    assert depth.delta is None
