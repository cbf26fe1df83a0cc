"""`mqproof run`: scenarios against systems."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import spark
from harness.commands.shell import (
    RESULTS,
    AllOption,
    ClaimsOption,
    JsonOption,
    JudgeOption,
    SeedOption,
    Shell,
    print_lines,
    seed_of,
    stamp,
)
from harness.judging import brought_claims, own_claims
from harness.judging.exits import Judge
from harness.judging.own_claims import OwnClaims
from harness.outside.text import brief
from harness.pipeline.port import RunOptions
from harness.plan import bound, misbehave
from harness.plan.experiment import EXPERIMENT_NAME, NAME_FLAG, TOGETHER
from harness.plan.problems import PlanError, Problem
from harness.report import dry_run
from harness.report.lines import claims_lines
from harness.request import distribution as distributions
from harness.request import run_request, standing, suites, topology_file
from harness.request.run_request import PlannedRequest, RunRequest
from spark_analysis.schema.place import Place

if TYPE_CHECKING:  # it takes long to load
    from harness.report.console.terminal import Terminal

_Scenarios = Annotated[
    list[str], typer.Argument(metavar="SCENARIO...", help="Names, paths to files, or a suite.")
]
_Layouts = Annotated[
    list[str] | None,
    typer.Option(help="NAME@PROFILE, NAME, a pattern with *, or a path; repeatable."),
]
_Versions = Annotated[
    list[str] | None,
    typer.Option(metavar="NUMBER", help="Version of the brokers, such as 4.0.5; repeatable."),
]
_Images = Annotated[
    list[str] | None,
    typer.Option(metavar="PRODUCT=IMAGE", help="Your own image of a system's brokers."),
]
_Topology = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A cluster that already runs, instead of a system."),
]
_Compressed = Annotated[
    bool, typer.Option(suites.COMPRESSED, help="Play the short form of a suite.")
]
_Together = Annotated[
    bool,
    typer.Option(
        TOGETHER, help="Play all clients at once, on one cluster, under the same faults."
    ),
]

_Distribution = Annotated[
    str | None, typer.Option(distributions.FLAG, metavar="PATH", help=distributions.HELP)
]
_OnStanding = Annotated[bool, typer.Option(standing.FLAG, help=standing.HELP)]
_Systems = Annotated[list[str] | None, typer.Option(help="System under test; repeatable.")]
_Clients = Annotated[list[str] | None, typer.Option(help="Client library; repeatable.")]
_Deployment = Annotated[
    str | None,
    typer.Option(help="How the system runs: local (subprocesses) or compose (containers)."),
]
_Repeats = Annotated[int | None, typer.Option(help="Runs of each cell; 1 if left out.")]
_Until = Annotated[str | None, typer.Option(bound.FLAG, metavar="SHARE", help=bound.HELP)]
_Results = Annotated[Path, typer.Option(help="Folder for experiments.")]
_Keep = Annotated[bool, typer.Option("--keep", help="Leave the cluster running.")]
_Wrong = Annotated[
    str | None, typer.Option(misbehave.FLAG, metavar="KIND[:SHARE]", help=misbehave.HELP)
]
_Name = Annotated[str | None, typer.Option(NAME_FLAG, hidden=True)]  # nightly: to find it again
_Dry = Annotated[bool, typer.Option("--dry-run", help="Show the plan, start nothing.")]


def run(
    context: typer.Context,
    scenarios: _Scenarios,
    system: _Systems = None,
    layout: _Layouts = None,
    client: _Clients = None,
    version: _Versions = None,
    image: _Images = None,
    deployment: _Deployment = None,
    topology: _Topology = None,
    together: _Together = False,
    distribution: _Distribution = None,
    on_standing: _OnStanding = False,
    compressed: _Compressed = False,
    repeats: _Repeats = None,
    until: _Until = None,
    seed: SeedOption = None,
    results: _Results = RESULTS,
    judge: JudgeOption = Judge.CLAIMS,
    claims: ClaimsOption = None,
    keep: _Keep = False,
    wrong: _Wrong = None,
    as_json: JsonOption = False,
    whole: AllOption = False,
    dry: _Dry = False,
    name: _Name = None,
    master: spark.MasterOption = "",
    conf: spark.ConfOption = None,
) -> int:
    """Run scenarios against systems, and judge what happened."""
    shell: Shell = context.obj
    shell.results = results
    request = RunRequest(
        scenarios=tuple(scenarios),
        systems=tuple(system or ()),
        layouts=tuple(layout or ()),
        clients=tuple(client or ()),
        versions=tuple(version or ()),
        images=tuple(image or ()),
        deployment=deployment,
        topology=topology,
        distribution=distribution,
        together=together,
        on_standing=on_standing,
        compressed=compressed,
        repeats=repeats,
        bound=until,
        misbehave=wrong,
        seed=seed_of(seed),
        results=results,
        keep=keep,
    )
    where, misplaced = spark.place(master, conf)
    own, unread = own_claims.given(claims)
    problems = [*misplaced, *_name_problems(results, name), *brought_claims.problems(), *unread]
    planned = run_request.planned(request, name or stamp(), problems)
    if dry and as_json:
        text = "--dry-run has no verdict to write as JSON: leave one of them out"
        raise PlanError([Problem("--json", text)])
    if dry:
        print_lines(shell.out, dry_run.lines(planned.experiment, planned.bound))
        print_lines(shell.out, claims_lines([own.named] if own else []))
        return 0
    topology_file.check_before(planned.experiment, keep, os.environ)
    options = _options(request, planned, judge, where, own)
    with _shown(shell, planned, as_json, whole) as display:
        report = shell.load().run(planned.experiment, options, display)
    from harness.commands.finish import finish  # pages take long to load

    return finish(report, display, as_json)


def _name_problems(results: Path, name: str | None) -> Iterator[Problem]:
    if name is not None and not EXPERIMENT_NAME.fullmatch(name):
        yield Problem(NAME_FLAG, f"{brief(name)} is none", expected="YYYYMMDD-HHMMSS-XXXX")
    elif name is not None and (results / name).exists():
        yield Problem(NAME_FLAG, f"{results / name} is already there", advice="leave it out")


@contextlib.contextmanager
def _shown(
    shell: Shell, planned: PlannedRequest, as_json: bool, whole: bool
) -> "Iterator[Terminal]":
    """Yield the display of a run, which has shown the notices of its plan."""
    display = shell.display(as_json, whole)
    try:
        for line in dry_run.notices(planned.experiment, planned.bound):
            display.message(line)
        yield display
    finally:
        display.close()


def _options(
    request: RunRequest,
    planned: PlannedRequest,
    judge: Judge,
    where: Place,
    claims: OwnClaims | None,
) -> RunOptions:
    return RunOptions(
        results=request.results,
        judge=judge,
        keep=request.keep,
        replay=run_request.replay(request, judge.value),
        misbehave=planned.misbehave,
        bound=planned.bound,
        spark=where,
        standing=standing.folder() if request.on_standing else None,
        claims=claims,
    )
