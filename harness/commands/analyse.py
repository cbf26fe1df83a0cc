"""`mqproof analyse`: stored experiments, judged again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.places import Places, places
from harness.commands.shell import RESULTS, AllOption, JsonOption, Shell, stamp
from harness.commands.spark import ConfOption, MasterOption, place
from harness.judging import brought_claims, own_claims
from harness.judging.exits import Judge
from harness.outside.files import why_not_written
from harness.plan.problems import PlanError, Problem
from harness.report.console.terminal import Terminal
from harness.run import folder_lock
from harness.run_folder import claims_copy, experiments
from spark_analysis.schema.place import Place


def analyse(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR...", help="Experiments' folders; or URLs of a store, hdfs://HOST/DIR."
        ),
    ],
    results: Annotated[
        Path,
        typer.Option(
            help="Folder for the report over several experiments, and for copies from URLs."
        ),
    ] = RESULTS,
    judge: Annotated[
        Judge | None,
        typer.Option(
            help="What decides the exit code. Default: as when the experiment ran; "
            "claims, if the experiments differ."
        ),
    ] = None,
    claims: Annotated[
        str | None,
        typer.Option(
            claims_copy.FLAG,
            metavar="FILE",
            help="Judge by this file of your own claims, and keep it. Default: the experiment's.",
        ),
    ] = None,
    as_json: JsonOption = False,
    whole: AllOption = False,
    reseal: Annotated[
        bool,
        typer.Option("--reseal", help="Rebuild the tables of damaged runs from intact logs."),
    ] = False,
    master: MasterOption = "",
    conf: ConfOption = None,
) -> int:
    """Judge stored experiments again; several give one report. Only Spark is started."""
    shell: Shell = context.obj
    where, wrong = place(master, conf)
    named, misnamed = places(words, results)
    problems = (*experiments.problems(named.here), *misnamed, *wrong)
    own, unread = own_claims.given(claims)
    problems = (*problems, *brought_claims.problems(), *unread)
    problems = problems or tuple(folder_lock.problems(experiments.places(named.here)))
    if len(words) > 1 and (reason := why_not_written(results / stamp())):
        problems = (*problems, Problem("--results", f"{results}: {reason}"))
    if own is None and not problems:
        problems = _own_claims_problems(named.here)
    if problems:
        raise PlanError(problems)
    if named.wanted:
        _bring(shell, named, where, shell.display(as_json, whole))
    folders = [*named.folders]
    into = folders[0] if len(folders) == 1 else results / f"{stamp()}-merged"
    shell.results = into
    with folder_lock.alone([*folders, *experiments.places(folders)]):
        display = shell.display(as_json, whole)
        try:
            report = shell.load().analyse(folders, into, judge, display, reseal, where, own)
        finally:
            display.close()
        from harness.commands.finish import finish  # pages take long to load

        return finish(report, display, as_json)


def _own_claims_problems(folders: Sequence[Path]) -> tuple[Problem, ...]:
    """Return what is wrong with the claims files that judged these experiments."""
    stored = [experiments.recall(folder) for folder in folders]
    try:
        own_claims.together(copy for one in stored for copy in one.claims_files)
    except PlanError as error:
        return error.problems
    text = "was judged by a claims file of its own, which a report over more would not have"
    return tuple(
        Problem(
            str(one.folder), text, advice=f"add {claims_copy.FLAG} {one.folder / claims_copy.NAME}"
        )
        for one in stored
        if one.pieces and one.claims and len(stored) > 1
    )


def _bring(shell: Shell, named: Places, where: Place, display: Terminal) -> None:
    try:
        shell.load().bring(named.wanted, where, display)
    finally:
        display.close()
    if problems := [*experiments.problems(named.folders)]:
        raise PlanError(problems)
