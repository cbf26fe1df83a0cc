"""`mqproof compare`: two experiments, and what changed from the first to the second."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from harness.analyse.versus import versus
from harness.commands.shell import Shell
from harness.plan.problems import PlanError, Problem
from harness.report import recalled, versus_page
from harness.report.verdict import NAME


def compare(
    context: typer.Context,
    first: Annotated[
        Path, typer.Argument(metavar="A", help="An experiment's folder, or its verdict.json.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="What is held against it.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The page; else beside B's verdict."),
    ] = None,
) -> int:
    """Say what got worse from A to B, what got better, and what shows no difference."""
    shell: Shell = context.obj
    before, after = recalled.sides((first, second))
    folder = second if second.is_dir() else second.parent
    path = output or folder / f"compared-with-{_name(before.name)}.html"
    if problem := _unwritable(path, (first, second)):
        raise PlanError([problem])
    told = versus(before, after)
    display = shell.display()
    for line in versus_page.lines(told):
        display.message(line)
    try:
        display.message(f"page: {versus_page.write(told, path)}")
    except OSError as failure:  # a full disk does not hide what was found
        display.message(f"{path} was not written: {failure}")
    return told.exit_code


def _name(experiment: str) -> str:
    """What others called it becomes no path."""
    return "".join(mark if mark.isalnum() or mark in "-_." else "-" for mark in experiment)


def _unwritable(path: Path, inputs: Iterable[Path]) -> Problem | None:
    if path.is_dir():
        return Problem("--output", f"{path} is a folder: name a file")
    files = [one / NAME if one.is_dir() else one for one in inputs]
    if path.exists() and any(path.samefile(one) for one in files):
        return Problem("--output", f"{path} is what is to be compared")
    if not path.parent.is_dir():
        return Problem("--output", f"there is no folder {path.parent}")
    return None
