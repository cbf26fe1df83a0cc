"""nightly.xml: a night for machines that know tests: a suite a cell, a test a thing asked.

1. An alarm is a failure, what could not be judged an error; what has no baseline, or did not fit
   into the night, is skipped with the reason.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as xml

from harness.compare.gate import Gate
from harness.nightly.message import unjudged
from harness.nightly.record import Night
from harness.nightly.suite import Cell
from harness.outside.text import visible
from harness.report.junit import ERROR, FAILURE, SKIPPED, counted, save

NAME = "nightly.xml"
Case = tuple[str, str, str]  # what was asked, what came of it ("" where it holds), why


def text(night: Night, gate: Gate) -> str:
    """The whole document."""
    suites = xml.Element("testsuites", name=visible(f"mqproof nightly {night.name}"))
    planned = (one.cell for one in (*night.planned, *night.left_out))
    for cell in dict.fromkeys((*(one.cell for one in night.cells), *planned)):
        name = visible(" · ".join(cell))
        suite = xml.SubElement(suites, "testsuite", name=name)
        for title, came, why in cases(night, gate, cell):
            case = xml.SubElement(suite, "testcase", classname=name, name=visible(title))
            if came:
                xml.SubElement(case, came, message=visible(why)).text = visible(why)
    return counted(suites)


def write(night: Night, gate: Gate, folder: Path) -> Path:
    return save(text(night, gate), folder / NAME)


def cases(night: Night, gate: Gate, cell: Cell) -> Iterator[Case]:
    alarms = [one for one in night.alarms if one.cell == cell]
    yield from ((f"{one.what} is no worse", FAILURE, one.text) for one in alarms)
    if cell in gate.new:
        yield "there is a baseline", SKIPPED, f"{gate.baseline} has no run of it"
    yield from (("is played", SKIPPED, why) for why in _left_out(night, cell))
    reasons = (why for one, why in unjudged(night, gate) if one == cell)
    yield from (("is judged", ERROR, why) for why in reasons)
    if not alarms and any(one.cell == cell for one in night.cells):
        yield "nothing is worse", "", ""


def _left_out(night: Night, cell: Cell) -> Iterator[str]:
    return (one.reason for one in night.left_out if one.cell == cell)
