"""The demo tells a newcomer what it showed, and where to go."""

import re
from io import StringIO

from rich.console import Console

from harness.report.console import demo_table
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import page_of, summed
from tests.rigs.runs.reports import OTHER, report, run


def shown(renderable: object) -> str:
    text = StringIO()
    Console(file=text, width=120).print(renderable)
    return text.getvalue()


def test_demo_table_has_a_sentence_and_verdict_for_each_cell() -> None:
    demo = report(run(Story()))
    text = shown(demo_table.table(demo))
    assert "verdict" in text
    assert "lost" in text


def test_layouts_have_the_letters_of_the_report() -> None:
    text = shown(demo_table.table(report(run(Story()), run(Story(), cell=OTHER))))
    assert re.search(r"\bA: ", text) and re.search(r"\bB: ", text)


def test_words_of_the_table_are_explained_below_it() -> None:
    text = shown(demo_table.table(page_of(summed(Story()))))
    assert "downtime: the sum of all outages; in an outage, more than 1 %" in text
    assert "@T=…: the detection timeout in seconds" in text
    assert "warning: " not in text


def test_the_last_lines_name_the_two_ways_on() -> None:
    lines = list(
        demo_table.last_lines(report(run(Story())), "some-system", "real-one", "repeat it")
    )
    assert any("mqproof new scenario" in line and "some-system" in line for line in lines)
    assert any("--system real-one" in line for line in lines)
