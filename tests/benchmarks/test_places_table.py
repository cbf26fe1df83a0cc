"""Systems beside each other as a table: what it takes from a verdict, and does not hide."""

from typing import Any

from tests.benchmarks.places_table import lines

CELL = {
    "scenario": "master-crash",
    "judged": 10,
    "loss_decided_runs": 10,
    "outage_decided_runs": 8,
    "confirmed": 12345,
    "lost": 0,
    "stranded": 0,
    "out": {"median_s": 1.5, "maximum_s": 2.25, "bound": False},
    "late": {"missed": 1, "operations": 200},
}
PLACE = {"system": "rocketmq-2m2s", "layout": "colocated@compressed", "client": "native"}


def table(cell: dict[str, Any], *duplicates: dict[str, Any]) -> list[str]:
    verdict = {"places": [{**PLACE, "scenarios": [{**CELL, **cell}]}], "comparison": duplicates}
    return [field.strip() for field in list(lines(verdict))[2].strip("|").split("|")]


def duplicated(detail: str, median: float) -> dict[str, Any]:
    row = {"measure": "duplicated", "detail": detail, "median": median, "scenario": "master-crash"}
    return {**PLACE, **row}


def test_a_row_tells_how_many_runs_stand_behind_each_figure() -> None:
    assert table({}) == [
        "`master-crash`",
        "rocketmq-2m2s `colocated@compressed`",
        "10, times of 8",
        "12,345",
        "0",
        "0",
        "1.5 s (2.25 s)",
        "0.50%",
    ]


def test_what_is_not_known_is_no_zero() -> None:
    row = table({"loss_decided_runs": 7, "stranded": 3, "out": None, "late": {"operations": 0}})
    assert row[4] == "0, 3 stranded, unknown in 3 runs"
    assert row[6:] == ["-", "-"]


def test_an_outage_whose_end_nobody_saw_is_a_bound() -> None:
    assert table({"out": {"median_s": 9.0, "maximum_s": 20.0, "bound": True}})[6] == "≥ 9 s (20 s)"


def test_duplicates_are_told_by_what_they_came_of_and_their_sum_only_once() -> None:
    rows = (duplicated("", 18), duplicated("publisher_retry", 0), duplicated("redelivery", 18))
    assert table({}, *rows)[5] == "18 redelivery"
