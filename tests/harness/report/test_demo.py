"""The demo is a full experiment, judged by what is known, and ends by telling where to go."""

from io import StringIO

from rich.console import Console

from harness.analyse import claims, expectations
from harness.report import demo
from tests.findings import Story
from tests.reports import report, run


def shown(told: object) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(told)
    return console.file.getvalue()


def test_the_same_deaths_meet_a_layout_that_keeps_its_promise_and_one_that_does_not() -> None:
    runs = demo.experiment_of(7, "x").runs
    cells = [(each.scenario.name, each.layout.label) for each in runs]
    assert cells == [
        (demo.DEATHS, demo.GOOD),
        (demo.LINK, demo.GOOD),
        (demo.DEATHS, demo.BAD),
    ]
    assert len({each.name for each in runs}) == len({each.seed for each in runs}) == 3


def test_no_run_of_the_demo_skips_its_drain_or_lasts_long() -> None:
    for each in demo.experiment_of(7, "x").runs:
        assert each.schedule.drain_limit_s > 0
        assert each.schedule.load_s + each.schedule.settle_s <= 17


def test_every_claim_of_the_demo_s_cells_is_known() -> None:
    names = [claim.name for claim in claims.shipped()]
    known = expectations.shipped(names)
    for each in demo.experiment_of(7, "x").runs:
        told = {name for name in names if known.expected(each.cell, name) is not None}
        assert "confirmed-hence-delivered" in told
    bad = demo.experiment_of(7, "x").runs[-1]
    assert str(known.expected(bad.cell, "confirmed-hence-delivered")) == "FAIL"


def test_a_newcomer_s_table_holds_a_sentence_and_a_verdict_for_each_cell() -> None:
    told = report(run(Story()))
    text = shown(demo.table(told))
    assert "verdict" in text
    assert "lost" in text


def test_the_last_lines_name_the_two_ways_on() -> None:
    lines = list(demo.last_lines(report(run(Story()))))
    assert any("mqproof new scenario" in line for line in lines)
    assert any("rabbitmq-mirrored" in line for line in lines)
