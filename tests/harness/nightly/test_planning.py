"""What fits into a night, and in which order."""

from collections.abc import Mapping

from harness.nightly.playing import NOTHING, Past, fitting
from harness.nightly.record import PlannedCell
from harness.nightly.suite import Item
from harness.plan.model import Cell

HOUR = 3600.0
Plan = tuple[tuple[PlannedCell, ...], tuple[PlannedCell, ...]]


def cell(name: str, system: str = "rabbitmq-mirrored") -> Cell:
    return (name, system, "all-automatic@T=10", "pika")


def item(name: str, weight: float = 1.0, plays: int = 1) -> Item:
    return Item(cell(name), plays, "", 60.0, weight, digest="now")


def judged(nights_ago: int, alarmed: bool = False, digest: str = "now") -> Past:
    return Past(nights_ago, digest, alarmed)


def planned(
    *items: Item,
    past: Mapping[str, Past],
    hours: float = 100.0,
    each_hours: float = 1.0,
    changed: tuple[str, ...] = (),
) -> Plan:
    by_cell = {cell(name): one for name, one in past.items()}
    estimates = {one.cell: each_hours * HOUR for one in items}
    return fitting(items, by_cell, estimates, hours * HOUR, changed)


def names(plan: Plan) -> list[str]:
    return [one.cell[0] for one in plan[0]]


def test_cells_run_alarmed_then_new_then_changed_then_oldest() -> None:
    items = [item(name) for name in ("old", "recent", "changed", "alarmed", "new")]
    past = {
        "old": judged(9),
        "recent": judged(1),
        "changed": judged(1, digest="then"),
        "alarmed": judged(1, alarmed=True),
        "new": NOTHING,
    }
    chosen_plan = planned(*items, past=past)
    assert names(chosen_plan) == ["alarmed", "new", "changed", "old", "recent"]
    assert [one.reason for one in chosen_plan[0]] == [
        "it alarmed when it was last judged",
        "it was never judged",
        "its scenario or layout changed since it was judged",
        "it was judged 9 nights ago",
        "it was judged 1 night ago",
    ]


def test_system_marked_new_by_the_user_plays_first() -> None:
    other = Item(cell("other", "rabbitmq-quorum"), 1, "", 60.0, 1.0, "now")
    past = {"old": judged(9)}
    chosen_plan = fitting(
        [item("old"), other],
        {cell("old"): past["old"], other.cell: judged(1)},
        {cell("old"): HOUR, other.cell: HOUR},
        10 * HOUR,
        ("rabbitmq-quorum",),
    )
    assert names(chosen_plan) == ["other", "old"]


def test_a_risk_counts_as_more_nights() -> None:
    items = [item("low", 0.5), item("high", 2.0), item("usual")]
    past = {"low": judged(4), "high": judged(2), "usual": judged(3)}
    assert names(planned(*items, past=past)) == ["high", "usual", "low"]


def test_cell_that_does_not_fit_gives_way_to_shorter_ones() -> None:
    """Report the reason of the cell that is left out."""
    long, short = item("long"), item("short")
    chosen_plan = fitting(
        [long, short],
        {short.cell: judged(1)},
        {long.cell: 5 * HOUR, short.cell: HOUR},
        2 * HOUR,
    )
    assert names(chosen_plan) == ["short"]
    assert [(one.cell[0], one.reason) for one in chosen_plan[1]] == [
        ("long", "it was never judged")
    ]


def test_an_item_gets_as_many_runs_as_fit() -> None:
    chosen_plan = planned(item("long", plays=5), past={}, hours=2)
    assert [(one.plays, one.estimate_s) for one in chosen_plan[0]] == [(2, 2 * HOUR)]
    assert [(one.plays, one.estimate_s) for one in chosen_plan[1]] == [(3, 3 * HOUR)]
    assert planned(item("long"), past={}, hours=0.5)[0] == ()


def test_skipped_cell_ages_each_night_until_it_is_first() -> None:
    past = {"a": judged(1), "b": judged(1), "c": judged(1)}
    seen: list[str] = []
    for _ in range(3):
        (chosen,) = names(planned(item("a"), item("b"), item("c"), past=past, hours=1))
        seen.append(chosen)
        past = {name: judged((one.nights_ago or 0) + 1) for name, one in past.items()}
        past[chosen] = judged(1)
    assert sorted(seen) == ["a", "b", "c"]
