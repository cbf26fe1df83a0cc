"""Which ways a cut closes, and who drops what."""

from hypothesis import given
from hypothesis import strategies as st

from faults.actions import both_ways
from faults.shapes import droppers, pairs, ways

HOSTS = tuple(f"h{number}" for number in range(1, 6))
WAYS = st.lists(st.permutations(HOSTS).map(lambda hosts: (hosts[0], hosts[1]))).map(tuple)


def test_one_host_is_cut_from_all_others_by_itself() -> None:
    cut = ways("one", "h2", HOSTS)
    assert set(cut) == set(both_ways("h2", ("h1", "h3", "h4", "h5")))
    assert droppers(cut) == {"h2": cut}


@given(WAYS)
def test_every_way_is_dropped_by_one_of_its_ends_and_no_other_is(
    cut: tuple[tuple[str, str], ...],
) -> None:
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
