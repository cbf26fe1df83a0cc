"""The demo tells a newcomer what it showed, and where to go."""

from io import StringIO

from rich.console import Console

from harness.report.console import demo_table
from tests.rigs.runs.findings import Story
from tests.rigs.runs.reports import report, run


def shown(renderable: object) -> str:
    text = StringIO()
    Console(file=text, width=120).print(renderable)
    return text.getvalue()


def test_demo_table_has_a_sentence_and_verdict_for_each_cell() -> None:
    demo = report(run(Story()))
    text = shown(demo_table.table(demo))
    assert "verdict" in text
    assert "lost" in text


def test_the_last_lines_name_the_two_ways_on() -> None:
    lines = list(demo_table.last_lines(report(run(Story())), "some-system", "real-one"))
    assert any("mqproof new scenario" in line and "some-system" in line for line in lines)
    assert any("--system real-one" in line for line in lines)
