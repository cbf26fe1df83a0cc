"""plan -> deploy -> run -> analyse -> report; healing and tear-down always follow.

1. Everything of an experiment lies in one folder of results/; each stage leaves it readable.
2. A guardian stands before anything of a cluster is made: whatever becomes of this process, what
   it broke is mended and what it started is removed.
3. Spark starts when the last load is over, while queues are drained and the cluster is removed.
4. A signal ends what is on its way, whatever that is; what was recorded is sealed, what stood is
   removed.
"""

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.analyse.sessions import Ahead, bring_all
from harness.cleanup.everywhere import heal_all
from harness.cleanup.heal import EVERYBODY, Chosen
from harness.compare.bounded import Bounded
from harness.deploy import images, users_images
from harness.deploy.doctor import MachineCheck, examine, offered_rows
from harness.deploy.engine import connect
from harness.deploy.external import certificates
from harness.deploy.external.doctor import examine as examine_external
from harness.deploy.standing.deployment import doubts
from harness.judging import brought_claims
from harness.judging.assemble import titles
from harness.judging.exits import Judge
from harness.judging.own_claims import OwnClaims
from harness.judging.result import Report
from harness.pipeline import stored, unjudged
from harness.pipeline.performing import Performing
from harness.pipeline.port import RunOptions
from harness.plan.layouts import variants
from harness.plan.layouts.topology import Topology
from harness.plan.model import Experiment
from harness.plan.problems import PlanError, Problem
from harness.report.display import Display, Steps
from harness.request.standing import FLAG as ON_STANDING
from harness.run.folder_lock import alone, at_work
from harness.run.interrupts import Interrupt, notice
from harness.run_folder.experiments import judge_by, remember, remember_merged
from harness.systems.catalogue import load_layout, load_system
from spark_analysis.schema.place import HERE, Place


def run(experiment: Experiment, options: RunOptions, show: Display) -> Report:
    """Carry an experiment out and judge it.

    Raise DeployError if nothing could begin; PlanError if an image, a version or a certificate is
    not what it was named. If a run is refused after others were played, these are judged.
    """
    folder, steps = options.results.resolve() / experiment.name, Steps(show)
    try:
        _prepare(experiment, options, show)
        ahead = Ahead(options.spark)
        try:
            report, refused = _carry_out(experiment, folder, options, show, ahead.begin)
            if report is None:
                with alone([folder], wait=True):
                    report = stored.report_of(folder, options.judge, steps, show, ahead.session)
            return replace(report, refused=refused)
        finally:
            ahead.end()
    except KeyboardInterrupt:  # no cluster stood: while it was planned, or while it was judged
        show.message(notice(0))
        return unjudged.ended_early(experiment, options, folder, "")


def _prepare(experiment: Experiment, options: RunOptions, show: Display) -> None:
    """Check running clusters and certificates, and make images that do not exist."""
    if options.standing is not None:
        _check_standing(options.standing, experiment)
    _check_certificates(experiment)
    if options.standing is None:  # clusters that run have their images
        _prepare_images(experiment, show)


def _check_certificates(experiment: Experiment) -> None:
    """Raises PlanError where brokers that are there show others than their file says."""
    found = {one.name: one for run in experiment.runs if (one := run.layout.topology)}
    for topology in found.values():
        if problems := asyncio.run(certificates.problems(topology)):
            raise PlanError(problems)


def _check_standing(folder: Path, experiment: Experiment) -> None:
    """Raises PlanError where a running cluster is not clean; DeployError without an answer."""
    layouts = {(run.layout.system, run.layout.label): run.layout for run in experiment.runs}
    problems = [
        Problem(f"{ON_STANDING}: {layout.system}", text)
        for layout in layouts.values()
        for text in asyncio.run(doubts(folder, layout))
    ]
    if problems:
        raise PlanError(problems)


def _prepare_images(experiment: Experiment, show: Display) -> None:
    steps = Steps(show)
    try:
        users_images.prepare(experiment, steps.begin)
    finally:
        steps.end()


def _carry_out(
    experiment: Experiment,
    folder: Path,
    options: RunOptions,
    show: Display,
    over: Callable[[], None],
) -> tuple[Report | None, tuple[Problem, ...]]:
    """Run everything. Return the report if nothing is to be judged, and what was refused.

    `over`: called when nothing is timed any more.
    """
    named = {cell: (t.scenario, t.system, t.layout) for cell, t in titles(experiment).items()}
    copy = options.claims.copy if options.claims else None
    remember(experiment, options.replay, named, folder, options.judge.value, copy)
    steps, bounded, interrupt = Steps(show), Bounded(options.bound), Interrupt(show.message)
    performing = Performing(experiment, folder, options, show, steps, bounded, interrupt, over)
    with at_work(folder):
        refused = _performed(performing)
        experiment = bounded.carried_out(experiment)
    if interrupt.is_set():
        return unjudged.ended_early(experiment, options, folder, interrupt.reason), refused
    failures = unjudged.failures(folder)
    if failures is None:
        return None, refused
    report = unjudged.report_of(
        experiment, options, folder, lambda plan: failures.get(plan.name, stored.NOT_BEGUN)
    )
    return report, refused


def _performed(performing: Performing) -> tuple[Problem, ...]:
    """Play the runs. Return why one was refused after others had had load; raise PlanError if none
    had: then there is nothing to judge."""
    try:
        asyncio.run(performing.perform())
    except PlanError as error:
        if unjudged.failures(performing.folder) is not None:
            raise
        return error.problems
    return ()


def bring(wanted: Mapping[str, Path], where: Place, show: Display) -> None:
    """Copies experiments from a store, by URL, to folders that are not there yet."""
    steps = Steps(show)
    bring_all(wanted, where, steps.begin)
    steps.end()


def analyse(
    folders: Sequence[Path],
    into: Path,
    judge: Judge | None,
    show: Display,
    reseal: bool = False,
    where: Place = HERE,
    claims: OwnClaims | None = None,
) -> Report:
    """Judges stored experiments: seals what is not sealed, runs Spark, evaluates claims.

    `into`: the folder itself where there is one; a new one, for one report over several.
    `judge`: None takes the judge that the folder recorded; so do `claims`.
    `reseal`: make the tables of damaged runs again if their logs are unchanged; `where`: where
    Spark runs.
    """
    if len(folders) > 1:
        words = ["mqproof", "analyse", *map(str, folders)]
        words += ["--judge", judge.value] if judge else []
        by, copy = judge.value if judge else None, claims.copy if claims else None
        remember_merged(folders, shlex.join(words), into, by, copy)
    elif claims is not None:
        judge_by(claims.copy, into)
    now = datetime.now(UTC).isoformat(timespec="seconds") if reseal else ""
    start = Ahead(where).session
    return stored.report_of(into.resolve(), judge, Steps(show), show, start, now)


def heal(show: Display, chosen: Chosen = EVERYBODY, dry: bool = False) -> bool:
    """Undo every active fault of dead runs, and remove their clusters."""
    return asyncio.run(heal_all(show.message, chosen, dry))


def build(systems: tuple[str, ...], show: Display, versions: tuple[str, ...] = ()) -> None:
    """Fetches or builds every image that these systems need in containers."""
    assert systems, "the command line asks for at least one"
    steps = Steps(show)
    client = connect()
    for system in systems:
        known = load_system(system)
        layout = load_layout(system, known.default_layout)
        for one in variants.of(layout, known, versions, ()):
            images.ensure(client, system, steps.begin, layout=one)
    steps.end()


def doctor(show: Display) -> bool:
    rows = *examine(Path()), *offered_rows("claims file", brought_claims.registry())
    return _show_rows(rows, show)


def doctor_of(topology: Topology, show: Display) -> bool:
    """What a topology file promises, held against the world; only a queue of its own is made.

    Raises PlanError where certificates are not what the file says: then nothing else can be seen;
    and after all rows, where brokers take no queue with the file's arguments.
    """
    if problems := asyncio.run(certificates.problems(topology)):
        raise PlanError(problems)
    rows = asyncio.run(examine_external(topology))
    well = _show_rows(rows, show)
    if wrong := [row.problem for row in rows if row.problem is not None]:
        raise PlanError(wrong)
    return well


def _show_rows(found: Sequence[MachineCheck], show: Display) -> bool:
    for row in found:
        word = "absent" if row.optional else "MISSING"
        show.message(f"{'ok' if row.ok else word:<7} {row.what}: {row.found}")
        if not row.ok:
            show.message(f"        {row.remedy}")
    return all(row.ok or row.optional for row in found)
