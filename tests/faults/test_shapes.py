"""Which ways a cut closes, and who drops what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.core.actions import both_ways
from faults.core.shapes import SHAPES, droppers, left_open, pairs, ways

HOSTS = tuple(f"h{number}" for number in range(1, 6))
THREE = HOSTS[:3]
WAYS = st.lists(st.permutations(HOSTS).map(lambda hosts: (hosts[0], hosts[1]))).map(tuple)


def joined(shape: str, host: str, hosts: tuple[str, ...] = HOSTS) -> list[str]:
    """The pairs of hosts that still reach each other in both directions."""
    open_ = set(left_open(ways(shape, host, hosts), hosts))
    return sorted(f"{a}-{b}" for a, b in open_ if a < b and (b, a) in open_)


def test_one_host_is_cut_from_all_others_by_itself() -> None:
    cut = ways("one", "h2", HOSTS)
    assert set(cut) == set(both_ways("h2", ("h1", "h3", "h4", "h5")))
    assert droppers(cut) == {"h2": cut}


def test_halves_of_five_hosts_are_two_against_three() -> None:
    """Put the target and the first other host on the smaller side."""
    assert joined("halves", "h4") == ["h1-h4", "h2-h3", "h2-h5", "h3-h5"]


def test_halves_of_three_hosts_isolate_the_target() -> None:
    assert set(ways("halves", "h2", THREE)) == set(ways("one", "h2", THREE))


def test_four_hosts_fall_into_halves_of_two() -> None:
    assert joined("halves", "h1", HOSTS[:4]) == ["h1-h2", "h3-h4"]


def test_one_direction_is_closed_and_the_other_is_not() -> None:
    assert ways("one_way_in", "h2", THREE) == (("h1", "h2"), ("h3", "h2"))
    assert ways("one_way_out", "h2", THREE) == (("h2", "h1"), ("h2", "h3"))


@pytest.mark.parametrize("shape", ["one_way_in", "one_way_out"])
def test_one_direction_is_dropped_by_the_target_alone(shape: str) -> None:
    assert list(droppers(ways(shape, "h2", HOSTS))) == ["h2"]


def test_in_a_ring_each_host_reaches_its_two_neighbours() -> None:
    assert joined("ring", "h3") == ["h1-h2", "h1-h3", "h2-h4", "h3-h5", "h4-h5"]


def test_a_bridge_of_three_keeps_both_links_of_its_target() -> None:
    assert joined("bridge", "h2", THREE) == ["h1-h2", "h2-h3"]


def test_a_bridge_of_five_joins_two_halves() -> None:
    halves = ["h2-h3", "h4-h5"]
    assert joined("bridge", "h1") == ["h1-h2", "h1-h3", "h1-h4", "h1-h5", *halves]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("host", HOSTS)
def test_every_shape_closes_something_and_leaves_something(shape: str, host: str) -> None:
    for count in range(max(3, SHAPES[shape].hosts_min), len(HOSTS) + 1):
        hosts = (host, *(peer for peer in HOSTS if peer != host))[:count]
        cut = ways(shape, host, hosts)
        assert cut
        assert left_open(cut, hosts)
        assert len(set(cut)) == len(cut)
        assert len(cut) + len(left_open(cut, hosts)) == count * (count - 1)


@given(WAYS)
def test_each_cut_way_is_dropped_by_one_of_its_ends(cut: tuple[tuple[str, str], ...]) -> None:
    found = [(host, way) for host, own in droppers(cut).items() for way in own]
    assert all(host in way for host, way in found)
    assert sorted(way for _, way in found) == sorted(set(cut))


@given(WAYS)
def test_a_pair_is_attempted_once_whatever_directions_are_cut(
    cut: tuple[tuple[str, str], ...],
) -> None:
    found = pairs(cut)
    assert {frozenset(way) for way in found} == {frozenset(way) for way in cut}
    assert len({frozenset(way) for way in found}) == len(found)
