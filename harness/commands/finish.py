"""From an outcome to files, words and an exit code."""

import traceback
from collections.abc import Collection
from pathlib import Path

from harness.commands import crash
from harness.judging import exits
from harness.judging.exits import Exit
from harness.judging.result import Report
from harness.plan.problems import PlanError
from harness.report import html, junit, verdict
from harness.report.console.terminal import Terminal
from spark_analysis.files.failed import OURS, os_reason


def finish(report: Report, display: Terminal, as_json: bool) -> int:
    """A person reads the verdict before the pages are drawn."""
    if as_json:
        files, code = write(report, display)
        print(verdict.text(report), end="")
        for path in files:
            display.message(str(path))
        return code
    display.verdicts(report)
    files, code = write(report, display)
    display.files(report, files)
    return code


def write(report: Report, display: Terminal) -> tuple[tuple[Path, ...], Exit]:
    """The files of a report that could be written, and the exit code: neither a full disk nor a
    fault of ours in one of them hides the verdict."""
    files: list[Path] = []
    unwritten = False
    traces = [f"{run.name}:\n{run.trace}" for run in report.runs if run.trace]
    for file in (verdict, junit, html) if report.folder.is_dir() else ():
        path = report.folder / file.NAME
        try:
            files.append(file.write(report, report.folder))
        except OSError as failure:
            unwritten = True
            display.message(f"{file.NAME} was not written: {os_reason(failure, path)}")
        except Exception as error:  # unforeseen: still show the verdict
            display.message(f"{file.NAME} was not written: {OURS}: {type(error).__name__}")
            traces.append("".join(traceback.format_exception(error)))
    return tuple(files), _code(traces, report, display, unwritten)


def _code(traces: Collection[str], report: Report, display: Terminal, unwritten: bool) -> Exit:
    """The traces are kept where anybody can send them. Bad input is reported as elsewhere."""
    if report.refused:
        display.message(f"bad input:\n{PlanError(report.refused)}")
    if traces:
        text = "\n".join(traces)
        path = crash.keep(text, report.folder)
        display.message(f"the traceback is in {path}" if path else text)
    return exits.of_telling(report.exit_code, crashed=bool(traces), unwritten=unwritten)
