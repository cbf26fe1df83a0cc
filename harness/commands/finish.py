"""From an outcome to files, words and an exit code."""

from pathlib import Path

from harness.report import html, junit, verdict
from harness.report.display import Report
from harness.report.terminal import Terminal


def finish(report: Report, display: Terminal, as_json: bool) -> int:
    files = write(report, display) if report.folder.is_dir() else ()
    if as_json:
        print(verdict.text(report), end="")
        for path in files:
            display.message(str(path))
    else:
        display.report(report, files)
    return report.exit_code


def write(report: Report, display: Terminal) -> tuple[Path, ...]:
    """The files of a report that could be written; a full disk does not hide the verdict."""
    files = []
    for file in (verdict, junit, html):
        try:
            files.append(file.write(report, report.folder))
        except OSError as failure:
            display.message(f"{file.NAME} was not written: {failure}")
    return tuple(files)
