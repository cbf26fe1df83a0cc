"""Dominated layouts, and when dominance is unknown."""

from collections.abc import Mapping

import pytest

from harness.compare.frontier import Offer, standings
from harness.compare.medians import Time, median
from harness.compare.rates import rate

OUT = {"master-crash": 5.0, "cut-one-node": 10.0}
GIB = 2.0**30


def offer(
    name: str,
    hosts: int | None = 3,
    memory: float | None = GIB,
    lost: tuple[int, int] = (0, 3),
    outs: Mapping[str, float] = OUT,
) -> Offer:
    medians = {scenario: median([Time(value)] * 3) for scenario, value in outs.items()}
    place = (name, "layout", "client")
    return Offer(place, 3, hosts, 0.5, memory, 200.0, 2.0, rate(*lost), rate(0, 3), medians)


GOOD = offer("good")


def dominated(one: Offer) -> dict[str, tuple[str, ...]]:
    (_, standing) = standings([GOOD, one])
    return {place[0]: better for place, better in standing.by}


@pytest.mark.parametrize(
    ("one", "better"),
    [
        (offer("more hosts", hosts=5), ("hosts",)),
        (offer("more memory", memory=2 * GIB), ("memory",)),
        (offer("loses", lost=(1, 3)), ("loss",)),
        (offer("out longer", outs={**OUT, "cut-one-node": 20.0}), ("cut-one-node",)),
        (offer("all of it", 5, 2 * GIB, (3, 3)), ("hosts", "memory", "loss")),
    ],
)
def test_layout_worse_once_and_never_better_is_dominated(
    one: Offer, better: tuple[str, ...]
) -> None:
    assert dominated(one) == {"good": better}


@pytest.mark.parametrize(
    "one",
    [
        offer("cheaper and slower", hosts=2, outs={**OUT, "cut-one-node": 60.0}),
        offer("dearer and quicker", memory=3 * GIB, outs={**OUT, "master-crash": 1.0}),
        offer("cheaper and loses", hosts=1, lost=(3, 3)),
        offer("the same"),
        offer("nearly the same", memory=1.05 * GIB, outs={**OUT, "master-crash": 5.3}),
    ],
)
def test_a_trade_and_what_is_alike_are_on_the_frontier(one: Offer) -> None:
    assert dominated(one) == {}
    assert all(standing.on_frontier for standing in standings([GOOD, one]))


def test_scenario_played_by_one_layout_says_nothing_about_the_other() -> None:
    assert dominated(offer("more played", hosts=5, outs={**OUT, "reboot": 90.0})) == {
        "good": ("hosts",)
    }
    assert dominated(offer("none in common", hosts=5, outs={"reboot": 90.0})) == {}


@pytest.mark.parametrize(
    "one",
    [
        offer("no hosts", hosts=None),
        offer("no memory", memory=None),
        offer("no loss judged", lost=(0, 0)),
        offer("no times", outs={}),
    ],
)
def test_unknown_layout_is_neither_dominated_nor_on_the_frontier(one: Offer) -> None:
    _, standing = standings([GOOD, one])
    assert (standing.known, standing.by, standing.on_frontier) == (False, (), False)
    assert standings([one, offer("worse", hosts=9)])[1].by == ()
