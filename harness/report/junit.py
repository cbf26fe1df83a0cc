"""junit.xml: a report for machines that know tests: a suite a cell, a test a claim and repeat.

1. `--judge claims`: FAIL is a failure. `--judge expectations`: what differs from what is known is
   a failure, a FAIL that is known is none, and its line stands in system-out.
2. Other INCONCLUSIVE and NOT APPLICABLE tests are skipped, with the reason; a run that was not
   judged is an error. So where all is green the exit code is 0, or 2 where something is open.
3. Characters that XML cannot hold, and invisible ones, are written as their code points.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as xml

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.judging.exits import is_failure
from harness.judging.result import Report, RunReport
from harness.outside.text import visible
from harness.plan.model import Cell
from harness.report.lines import cell_name, standing_of, verdict_line
from harness.report.tried import CellTable, tabulated, unjudged_words
from spark_analysis.files.writing import write_whole

NAME = "junit.xml"
FAILURE, ERROR, SKIPPED = "failure", "error", "skipped"


def text(report: Report) -> str:
    suites = xml.Element("testsuites", name=visible(f"mqproof {report.experiment}"))
    seeds = ", ".join(str(one.seed) for one in report.pieces or (report,))
    origin = ("seed", seeds), ("judge", report.judge.value), ("replay", report.replay)
    for table in tabulated(report):
        suite = _suite(suites, table.cell)
        properties = xml.SubElement(suite, "properties")
        for name, value in (*origin, *sorted(report.versions.items()), *_rates(table)):
            xml.SubElement(properties, "property", name=visible(name), value=visible(value))
        for run in table.runs:
            _run(suite, run, report)
    for skipped in report.skipped:
        case = _case(_suite(suites, skipped.cell), skipped.cell, "cell applies")
        xml.SubElement(case, SKIPPED, message=visible(f"NOT APPLICABLE: {skipped.reason}"))
    return counted(suites)


def counted(suites: xml.Element) -> str:
    """Return suites as a document, with the numbers of tests that a reader expects."""
    for element in (*suites, suites):
        cases = list(element.iter("testcase"))
        element.set("tests", str(len(cases)))
        for name, child in (("failures", FAILURE), ("errors", ERROR), ("skipped", SKIPPED)):
            element.set(name, str(sum(case.find(child) is not None for case in cases)))
    xml.indent(suites, " ")
    return xml.tostring(suites, encoding="unicode") + "\n"


def save(document: str, path: Path) -> Path:
    """Write a document of `counted`, whole or not at all."""
    return write_whole(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{document}')


def write(report: Report, folder: Path) -> Path:
    return save(text(report), folder / NAME)


def _suite(suites: xml.Element, cell: Cell) -> xml.Element:
    return xml.SubElement(suites, "testsuite", name=visible(cell_name(cell)))


def _rates(table: CellTable) -> Iterator[tuple[str, str]]:
    """Yield how many of the cell's runs violate each claim that applies, with 95 % bounds."""
    if words := unjudged_words(table.totals):
        yield "not judged", words
    for claim, one in table.claims.items():
        if one.tried.applied:
            not_judged = one.tried.not_judged
            unjudged = f"; not decided in {not_judged}" if not_judged else ""
            yield f"runs of {claim}", one.tried.described + unjudged


def _run(suite: xml.Element, run: RunReport, report: Report) -> None:
    if not run.verdicts:
        case = _case(suite, run.cell, f"run is judged [repeat {run.repeat}]")
        reason = visible(run.failure or "it was not judged")
        xml.SubElement(case, ERROR, message=reason, type="not judged").text = reason
    for verdict in run.verdicts:
        case = _case(suite, run.cell, f"{verdict.claim} [repeat {run.repeat}]")
        _verdict(case, verdict, run, report)


def _verdict(case: xml.Element, verdict: ClaimVerdict, run: RunReport, report: Report) -> None:
    line = visible(verdict_line(verdict, standing_of(verdict, run, report)))
    if is_failure(report.judge, verdict, report.known_of(run.cell, verdict.claim)):
        message = visible(f"{verdict.word}: {verdict.meaning}")
        xml.SubElement(case, FAILURE, message=message, type=verdict.outcome.value).text = line
    elif verdict.outcome in (ClaimOutcome.INCONCLUSIVE, ClaimOutcome.NOT_APPLICABLE):
        xml.SubElement(case, SKIPPED, message=line)
    xml.SubElement(case, "system-out").text = f"{line}\n{visible(run.name)}"


def _case(suite: xml.Element, cell: Cell, name: str) -> xml.Element:
    place = ".".join(part.replace(".", "_") for part in cell)
    return xml.SubElement(suite, "testcase", classname=visible(place), name=visible(name))
