"""Two experiments against each other: what may be called a difference, and what may not."""

from collections.abc import Mapping

import pytest

from harness.compare.loads import PlayedLoad
from harness.compare.medians import Time
from harness.compare.rates import Tried, rate
from harness.compare.versus import Counted, Ran, Side, Trend, Versus, versus
from harness.judging.exits import of_versus

CELL = ("master-crash", "rabbitmq-mirrored", "all-automatic@T=10", "pika")
OTHER = ("master-crash", "rabbitmq-mirrored", "exactly-2@T=10", "pika")


def counted(
    violated: int, runs: int, unjudged: int = 0, warns: bool = False, meaning: str = "m"
) -> Counted:
    return Counted(Tried(rate(violated, runs), unjudged, warns), meaning)


def ran(**claims: Counted) -> Ran:
    return Ran(10, claims, {})


def timed(*values: float, measure: str = "out") -> Ran:
    return Ran(len(values), {}, {measure: tuple(Time(abs(v), v < 0) for v in values)})


def held(first: Ran, second: Ran) -> Versus:
    return versus(Side("a", {CELL: first}), Side("b", {CELL: second}))


def change(comparison: Versus) -> Trend:
    (row,) = comparison.rows
    return row.change


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((0, 10), (6, 10), Trend.WORSE),  # Fisher: 0.011
        ((0, 10), (5, 10), Trend.WORSE),  # 0.033
        ((0, 10), (4, 10), Trend.NONE),  # 0.087
        ((6, 10), (0, 10), Trend.BETTER),
        ((0, 3), (3, 3), Trend.NONE),  # 0.1: three against three can show nothing
        ((0, 4), (4, 4), Trend.WORSE),  # 0.029
        ((0, 10), (0, 10), Trend.NONE),
        ((10, 10), (10, 10), Trend.NONE),
    ],
)
def test_more_broken_runs_are_worse_only_if_significant(
    before: tuple[int, int], after: tuple[int, int], expected: Trend
) -> None:
    comparison = held(ran(stays=counted(*before)), ran(stays=counted(*after)))
    assert change(comparison) is expected
    newly = not before[0] and after[0]
    assert of_versus(comparison) == (1 if expected is Trend.WORSE else 2 if newly else 0)


def test_the_interval_of_two_rates_is_newcombes() -> None:
    # Newcombe 1998, table II: 56/70 against 48/80 is 0.2, from 0.0524 to 0.3339.
    (row,) = held(ran(stays=counted(48, 80)), ran(stays=counted(56, 70))).rows
    assert (row.by, row.low, row.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)


def test_no_violation_in_twenty_runs_reports_the_confidence_interval() -> None:
    (row,) = held(ran(stays=counted(0, 10)), ran(stays=counted(0, 10))).rows
    assert (row.low, row.by, row.high) == pytest.approx((-0.2775, 0, 0.2775), abs=1e-4)
    assert row.p is None


def test_longer_times_are_worse_and_shorter_ones_better() -> None:
    short, long = timed(1, 2, 3, 4, 5), timed(11, 12, 13, 14, 15)
    assert change(held(short, long)) is Trend.WORSE
    assert change(held(long, short)) is Trend.BETTER
    assert change(held(short, timed(1.5, 2.5, 2.9, 4.5, 5.5))) is Trend.NONE


def test_unrecovered_run_counts_as_the_longest_and_is_kept() -> None:
    (row,) = held(timed(1, 2, 3, 4, 5), timed(11, 12, -13, -14, -15)).rows
    assert row.change is Trend.WORSE
    assert row.low == 7  # the third of the sorted differences


def test_many_comparisons_need_stronger_evidence_than_one() -> None:
    alone = {"odd": (counted(0, 10), counted(5, 10))}
    claims = {f"c{n}": (counted(3, 10), counted(4, 10)) for n in range(20)}

    def compare(pairs: Mapping[str, tuple[Counted, Counted]]) -> Versus:
        first = ran(**{name: pair[0] for name, pair in pairs.items()})
        return held(first, ran(**{name: pair[1] for name, pair in pairs.items()}))

    assert [row.what for row in compare(alone).of(Trend.WORSE)] == ["odd"]
    among = compare({**alone, **claims})
    assert not among.of(Trend.WORSE)
    assert [row.what for row in among.rows if row.alone] == ["odd"]
    # Claims without any violation were no tests, and cost the others nothing.
    never = {f"c{n}": (counted(0, 10), counted(0, 10)) for n in range(20)}
    assert [row.what for row in compare({**alone, **never}).of(Trend.WORSE)] == ["odd"]


def test_a_warning_is_neither_better_nor_worse() -> None:
    comparison = held(ran(w=counted(0, 10, warns=True)), ran(w=counted(10, 10, warns=True)))
    assert (comparison.rows, comparison.left_out, of_versus(comparison)) == ((), (), 2)


def test_undecided_claim_is_reported_and_not_compared() -> None:
    comparison = held(ran(stays=counted(0, 10)), ran(stays=counted(0, 0, unjudged=10)))
    assert not comparison.rows
    assert comparison.left_out == (f"{' · '.join(CELL)}, stays: decided in no run of the second",)
    not_applicable = held(ran(stays=counted(0, 0)), ran(stays=counted(0, 0)))
    assert not_applicable.left_out == ()


NEVER, HELD, BROKEN = counted(0, 0, unjudged=10), counted(0, 10), counted(1, 1)


@pytest.mark.parametrize(
    "before",
    [
        ran(other=HELD, stays=NEVER),  # the promise was never decided
        ran(other=HELD),  # it was not known
        ran(other=HELD, stays=counted(0, 1)),  # it held, in too few runs
        ran(other=HELD, stays=counted(1, 1, meaning="something else")),  # it was another promise
    ],
)
def test_promise_broken_only_in_the_second_is_no_success(before: Ran) -> None:
    after = ran(other=HELD, stays=BROKEN)
    found = held(before, after)
    assert not found.of(Trend.WORSE)
    assert len(found.newly_broken) == 1
    assert found.newly_broken[0].startswith(f"{' · '.join(CELL)}, stays: ")
    assert of_versus(found) == 2


def test_promise_broken_in_a_new_cell_is_no_success() -> None:
    both = ran(stays=HELD)
    second = Side("b", {CELL: both, OTHER: ran(stays=BROKEN)})
    found = versus(Side("a", {CELL: both}), second)
    assert found.newly_broken == (f"{' · '.join(OTHER)}, stays: never decided -> in 1 of 1 run",)
    assert of_versus(found) == 2


@pytest.mark.parametrize("after", [NEVER, HELD, BROKEN])
def test_promise_that_the_first_broke_is_not_newly_broken(after: Counted) -> None:
    found = held(ran(other=HELD, stays=BROKEN), ran(other=HELD, stays=after))
    assert (found.newly_broken, of_versus(found)) == ((), 0)


def test_shown_regression_is_not_listed_as_newly_broken() -> None:
    found = held(ran(stays=HELD), ran(stays=counted(10, 10)))
    assert (found.newly_broken, of_versus(found)) == ((), 1)


def test_a_warning_is_not_newly_broken() -> None:
    warned = counted(1, 1, warns=True)
    assert held(ran(other=HELD), ran(other=HELD, stays=warned)).newly_broken == ()


def test_a_claim_that_says_something_else_is_another_claim() -> None:
    comparison = held(
        ran(stays=counted(0, 10)), ran(stays=counted(10, 10, meaning="something else"))
    )
    assert not comparison.rows
    assert "says one thing" in comparison.left_out[0]


def test_cells_of_differing_loads_are_named_once() -> None:
    cells = {CELL: ran(stays=HELD), OTHER: ran(stays=HELD)}
    slow, fast = PlayedLoad({"rate": 300}, "a"), PlayedLoad({"rate": 600}, "b")

    def side(name: str, *loads: PlayedLoad | None) -> Side:
        return Side(name, cells, loads=dict.fromkeys(cells, loads))

    def loads(*sides: Side) -> tuple[str, ...]:
        return versus(*sides).loads

    assert loads(side("a", slow), side("b", fast)) == ("master-crash: rate 300 → 600",)
    assert loads(side("a", slow), side("b", slow, fast)) == (
        "master-crash: rate 300 → 300 or 600",
    )
    assert loads(side("a", slow), side("b", slow)) == ()
    unknown = "master-crash: it is unknown whether the load differs: no record of it in"
    assert loads(side("a", slow, None), side("b", slow)) == (f"{unknown} a",)
    assert loads(side("a", None), side("b")) == (f"{unknown} a and b",)


def test_cells_are_compared_with_the_same_cells() -> None:
    claims = ran(stays=counted(0, 10))
    comparison = versus(Side("a", {CELL: claims, OTHER: claims}), Side("b", {CELL: claims}))
    assert [(row.first, row.second) for row in comparison.rows] == [(CELL, CELL)]
    assert comparison.left_out == (f"{' · '.join(OTHER)}: only a has it",)


def test_places_without_a_common_cell_are_compared_by_scenario() -> None:
    comparison = versus(
        Side("a", {CELL: ran(stays=counted(0, 10))}),
        Side("b", {OTHER: ran(stays=counted(10, 10))}),
    )
    assert [(row.first, row.second, row.change) for row in comparison.rows] == [
        (CELL, OTHER, Trend.WORSE)
    ]


def test_sides_without_common_cells_are_not_compared() -> None:
    elsewhere = ("mirror-crash", *OTHER[1:])
    claims = ran(stays=counted(0, 10))
    comparison = versus(Side("a", {CELL: claims}), Side("b", {elsewhere: claims}))
    assert (comparison.rows, of_versus(comparison), len(comparison.left_out)) == ((), 2, 2)


def versioned(layout: str) -> tuple[str, str, str, str]:
    return (CELL[0], CELL[1], layout, CELL[3])


def test_cells_that_differ_only_by_version_are_compared() -> None:
    old, new = versioned("three@T=60+4.0.5"), versioned("three@T=60+4.3.x")
    one = ran(stays=counted(0, 10))
    first = Side("a", {CELL: one, old: one}, {old: ("rabbitmq 4.0.5",)})
    second = Side("b", {CELL: one, new: one}, {new: ("rabbitmq 4.3.6",)})
    found = versus(first, second)
    assert [(row.first, row.second) for row in found.rows] == [(CELL, CELL), (old, new)]
    assert found.versions == (f"{CELL[1]} three@T=60: rabbitmq 4.0.5 → rabbitmq 4.3.6",)


def test_a_version_with_two_counterparts_is_paired_with_none() -> None:
    old = versioned("three@T=60+4.0.5")
    others = [versioned("three@T=60+4.1.0"), versioned("three@T=60+4.3.x")]
    one = ran(stays=counted(0, 10))
    found = versus(Side("a", {old: one}), Side("b", dict.fromkeys(others, one)))
    assert found.rows == ()
    assert len(found.left_out) == 3


def test_the_same_version_on_both_sides_is_not_mentioned() -> None:
    one = ran(stays=counted(0, 10))
    same = {CELL: ("rabbitmq 3.10.8",)}
    assert versus(Side("a", {CELL: one}, same), Side("b", {CELL: one}, same)).versions == ()


def test_another_image_of_the_user_is_named_once_a_layout() -> None:
    one = ran(stays=counted(0, 10))
    cells = {CELL: one, ("other", *CELL[1:]): one}
    first = Side("a", cells, origins=dict.fromkeys(cells, ("user's image a",)))
    second = Side("b", cells, origins=dict.fromkeys(cells, ("user's image b",)))
    assert versus(first, second).origins == (
        f"{CELL[1]} {CELL[2]}: user's image a → user's image b",
    )
    reported = Side("c", cells, brokers=dict.fromkeys(cells, ("rabbitmq 4.0.5",)))
    assert versus(reported, second).origins == (
        f"{CELL[1]} {CELL[2]}: no image or build of the user's on record → user's image b",
    )
    assert versus(first, first).origins == ()


def test_image_of_a_side_that_reports_no_version_is_unknown() -> None:
    cells = {CELL: ran(stays=counted(0, 10))}
    known = Side("a", cells, origins={CELL: ("user's image a",)})
    silent = Side("b", cells)
    assert versus(known, silent).origins == (
        f"{CELL[1]} {CELL[2]}: user's image a → "
        "unknown, because no run reports the version of its brokers",
    )
    assert versus(silent, silent).origins == ()
