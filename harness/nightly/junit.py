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
from spark_analysis.schema.writing import write_whole

NAME = "nightly.xml"
FAILURE, ERROR, SKIPPED = "failure", "error", "skipped"
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
        _count(suite)
    _count(suites)
    xml.indent(suites, " ")
    return xml.tostring(suites, encoding="unicode") + "\n"


def write(night: Night, gate: Gate, folder: Path) -> Path:
    """Writes it into `folder`, whole or not at all."""
    declared = f'<?xml version="1.0" encoding="UTF-8"?>\n{text(night, gate)}'
    return write_whole(folder / NAME, declared)


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


def _count(element: xml.Element) -> None:
    found = list(element.iter("testcase"))
    element.set("tests", str(len(found)))
    for name, child in (("failures", FAILURE), ("errors", ERROR), ("skipped", SKIPPED)):
        element.set(name, str(sum(case.find(child) is not None for case in found)))
