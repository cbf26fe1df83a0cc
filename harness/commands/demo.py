"""`mqproof demo`: what it does, shown with nothing but Python."""

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.shell import RESULTS, SeedOption, Shell, print_lines, seed_of, stamp
from harness.judging import brought_claims
from harness.judging.exits import Judge
from harness.outside.files import why_not_written
from harness.pipeline.port import RunOptions
from harness.plan.problems import PlanError, Problem
from harness.report.console import demo_table
from harness.request import demo


def show_demo(
    context: typer.Context,
    seed: SeedOption = None,
    results: Annotated[Path, typer.Option(help="Folder that the experiment goes into.")] = RESULTS,
) -> int:
    """See what it does, in less than two minutes, with brokers written in Python."""
    shell: Shell = context.obj
    shell.results = results
    problems = [*brought_claims.problems()]
    if reason := why_not_written(results / stamp()):
        problems.append(Problem("--results", f"{results}: {reason}"))
    if problems:
        raise PlanError(problems)
    seed = seed_of(seed)
    display = shell.display()
    try:
        options = RunOptions(results, Judge.EXPECTATIONS, replay=demo.replay(seed))
        report = shell.load().run(demo.experiment_of(seed, stamp()), options, display)
    finally:
        display.close()
    from harness.commands.finish import write  # pages take long to load

    files, code = write(report, display)
    shell.out.print()
    shell.out.print(demo_table.table(report))
    system, where = demo.shown()
    summary = demo_table.last_lines(report, system, where.real, demo.repeat(seed))
    print_lines(shell.out, [*(f"wrote {file}" for file in files), *summary])
    return code
