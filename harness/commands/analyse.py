"""`mqproof analyse`: stored experiments, judged again."""

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.shell import RESULTS, AllOption, JsonOption, JudgeOption, Shell, stamp
from harness.commands.spark import ConfOption, MasterOption, place
from harness.judging.exits import Judge
from harness.outside.files import why_not_written
from harness.plan.problems import PlanError, Problem
from harness.run import folder_lock
from harness.run_folder import experiments


def analyse(
    context: typer.Context,
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Experiments' folders.")],
    results: Annotated[
        Path, typer.Option(help="Folder that the report over several experiments goes into.")
    ] = RESULTS,
    judge: JudgeOption = Judge.CLAIMS,
    as_json: JsonOption = False,
    whole: AllOption = False,
    reseal: Annotated[
        bool,
        typer.Option("--reseal", help="Make damaged runs' tables anew, from logs that are whole."),
    ] = False,
    master: MasterOption = "",
    conf: ConfOption = None,
) -> int:
    """Judge stored experiments again, several in one report; nothing is started but Spark."""
    shell: Shell = context.obj
    where, wrong = place(master, conf)
    problems = (*experiments.problems(folders), *wrong)
    problems = problems or tuple(folder_lock.problems(experiments.places(folders)))
    if len(folders) > 1 and (reason := why_not_written(results / stamp())):
        problems = (*problems, Problem("--results", f"{results}: {reason}"))
    if problems:
        raise PlanError(problems)
    into = folders[0] if len(folders) == 1 else results / f"{stamp()}-merged"
    shell.results = into
    with folder_lock.alone([*folders, *experiments.places(folders)]):
        display = shell.display(as_json, whole)
        try:
            report = shell.load().analyse(folders, into, judge, display, reseal, where)
        finally:
            display.close()
        from harness.commands.finish import finish  # pages take long to load

        return finish(report, display, as_json)
