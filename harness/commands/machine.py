"""`mqproof heal`, `doctor` and `build`: what this machine has to offer, before and after runs."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cleanup.heal import Chosen
from harness.commands.shell import Shell
from harness.judging.exits import Exit
from harness.plan.layouts import variants
from harness.plan.problems import EMPTY, PlanError, Problem, twice, unknown
from harness.request import run_request, topology_file
from harness.systems import catalogue


def heal(
    context: typer.Context,
    results: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Only what experiments in this folder left."),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only what this experiment left: its name or folder."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
) -> int:
    """Undo faults and remove clusters that dead runs left behind; live ones are left alone."""
    shell: Shell = context.obj
    if experiment == "":  # it would mean all of them
        raise PlanError([Problem("--experiment", EMPTY)])
    chosen = Chosen(results, experiment or "")
    return 0 if shell.load().heal(shell.display(), chosen, dry) else Exit.NOT_DECIDED


def doctor(
    context: typer.Context,
    topology: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Check brokers against this file; a test queue is declared and deleted.",
        ),
    ] = None,
) -> int:
    """Show which requirements this machine lacks, and how to install them."""
    shell: Shell = context.obj
    if topology is None:
        return 0 if shell.load().doctor(shell.display()) else Exit.NOT_DECIDED
    named = topology_file.read(topology, run_request.systems())
    return 0 if shell.load().doctor_of(named, shell.display()) else Exit.NOT_DECIDED


def build(
    context: typer.Context,
    system: Annotated[
        list[str] | None, typer.Option(help="Systems to build for; if left out, all.")
    ] = None,
    version: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="Version of the brokers, such as 4.0.5; repeatable."),
    ] = None,
) -> int:
    """Fetch or build every image ahead of time."""
    shell: Shell = context.obj
    names = catalogue.system_names()
    chosen = tuple(system or ())
    wrong = dict.fromkeys(word for word in chosen if word not in names)
    problems = [unknown("--system", "system", word, names) for word in wrong]
    problems += twice("--system", chosen)
    meant = [one for one in run_request.systems() if one.name in (chosen or names)]
    problems += variants.problems(version or (), (), meant) if meant else []
    if problems:
        raise PlanError(problems)
    display = shell.display()
    try:
        shell.load().build(chosen or names, display, tuple(version or ()))
    finally:
        display.close()
    return 0
