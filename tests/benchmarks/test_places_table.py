"""Systems beside each other as a table: what it takes from verdicts, and does not hide."""

import io
from dataclasses import replace

from harness.report import verdict
from tests.benchmarks.places_table import Row, lines, of_verdict, read, write
from tests.findings import Story
from tests.reports import CELL, OTHER, run
from tests.told_runs import page_of, summed

ROW = Row(
    experiment="e",
    run="a",
    scenario="master-crash",
    system="rocketmq-2m2s",
    layout="colocated@compressed",
    client="native",
    confirmed=12345,
    lost=0,
    stranded=0,
    loss_decided=True,
    outage_decided=True,
    out_s=1.5,
    bound=False,
    late=(1, 200),
    duplicates={},
)


def named(*rows: Row) -> list[Row]:
    return [replace(row, run=str(number)) for number, row in enumerate(rows)]


def table(*rows: Row) -> list[str]:
    """The fields of the first row, of runs with names of their own."""
    return [field.strip() for field in list(lines(named(*rows)))[2].strip("|").split("|")]


def test_a_row_tells_how_many_runs_stand_behind_each_figure() -> None:
    slower = replace(ROW, out_s=2.5)
    stalled = replace(ROW, out_s=None, late=None, outage_decided=False)
    assert table(ROW, slower, stalled) == [
        "`master-crash`",
        "rocketmq-2m2s `colocated@compressed`",
        "3, times of 2",
        "37,035",
        "0",
        "0",
        "2 s (2.5 s)",
        "0.50%",
    ]


def test_what_is_not_known_is_no_zero() -> None:
    row = table(replace(ROW, loss_decided=False, stranded=3, out_s=None, late=None))
    assert row[4] == "0, 3 stranded, unknown in 1 runs"
    assert row[6:] == ["-", "-"]


def test_an_outage_whose_end_nobody_saw_is_a_bound() -> None:
    assert table(ROW, replace(ROW, out_s=20.5, bound=True))[6] == "≥ 11 s (20.5 s)"


def test_duplicates_are_told_by_what_they_came_of_where_half_of_the_runs_had_any() -> None:
    often, seldom = {"redelivery": 18}, {"redelivery": 20, "publisher_retry": 7}
    rows = (replace(ROW, duplicates=each) for each in (often, seldom, {}))
    assert table(*rows)[5] == "18 redelivery"


def test_a_run_that_stands_in_two_files_counts_once() -> None:
    assert table(ROW)[2] == "1, times of 1"
    assert "| 1, times of 1 |" in list(lines([ROW, ROW]))[2]


def test_systems_stand_together_under_their_scenario() -> None:
    rows = named(
        ROW,
        replace(ROW, scenario="mirror-crash"),
        replace(ROW, system="rabbitmq-mirrored"),
    )
    heads = [line.split("|")[1:3] for line in list(lines(rows))[2:]]
    assert [scenario.strip(" `") for scenario, _ in heads] == [
        "master-crash",
        "master-crash",
        "mirror-crash",
    ]


def test_what_is_written_of_verdicts_reads_the_same() -> None:
    lost = Story().count("lost", "replicated", 37).count("duplicated", "redelivery", 4)
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    unjudged = run(Story(), "b", verdicts=(), failure="the cluster did not come up")
    unseen = summed(Story().unverified("the process runs"), repeat=3)
    lasting = summed(lost.silence(33.0, censored=True))
    document = verdict.document(page_of(lasting, summed(stalled, cell=OTHER), unjudged, unseen))
    first, second = rows = list(of_verdict(document))
    assert (first.cell, first.lost, first.loss_decided) == (CELL, 37, True)
    assert (first.out_s, first.bound, first.duplicates) == (33.0, True, {"redelivery": 4})
    assert (second.cell, second.out_s, second.late) == (OTHER, None, None)
    out = io.StringIO()
    write(rows, out)
    assert list(read(out.getvalue().splitlines())) == rows
