"""`mqproof compare`: two experiments, and what changed from the first to the second."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.shell import Shell
from harness.compare.versus import versus
from harness.judging import verdict_file
from harness.judging.exits import of_versus
from harness.judging.verdict_file import NAME
from harness.outside.files import is_folder, why_not_replaced, why_not_written
from harness.plan.problems import PlanError, Problem
from harness.report import versus_page

NAME_MAX = 64  # characters of an experiment's name in that of a file


def compare(
    context: typer.Context,
    first: Annotated[
        Path, typer.Argument(metavar="A", help="An experiment's folder, or its verdict.json.")
    ],
    second: Annotated[
        Path, typer.Argument(metavar="B", help="The second experiment, compared with A.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write the page; if left out, beside B's verdict.",
        ),
    ] = None,
) -> int:
    """List what got worse from A to B, what got better, and what shows no difference."""
    shell: Shell = context.obj
    before, after = verdict_file.sides((first, second))
    folder = second if is_folder(second) else second.parent
    path = output or folder / f"compared-with-{_name(before.name)}.html"
    if problem := _unwritable(path, (first, second)):
        raise PlanError([problem])
    comparison = versus(before, after)
    display = shell.display()
    for line in versus_page.lines(comparison):
        display.message(line)
    try:
        display.message(f"page: {versus_page.write(comparison, path)}")
    except OSError as failure:  # a full disk does not hide what was found
        display.message(f"{path} was not written: {failure}")
    return of_versus(comparison)


def _name(experiment: str) -> str:
    """What others called it becomes no path."""
    plain = (mark if mark.isalnum() or mark in "-_." else "-" for mark in experiment[:NAME_MAX])
    return "".join(plain)


def _unwritable(path: Path, inputs: Iterable[Path]) -> Problem | None:
    if is_folder(path):
        return Problem("--output", f"{path} is a folder: name a file")
    if not is_folder(path.parent):
        return Problem("--output", f"there is no folder {path.parent}")
    if reason := why_not_written(path) or why_not_replaced(path):
        return Problem("--output", f"{path}: {reason}")
    files = [one / NAME if is_folder(one) else one for one in inputs]
    if path.exists() and any(path.samefile(one) for one in files):
        return Problem("--output", f"{path} is what is to be compared")
    return None
