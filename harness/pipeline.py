"""plan -> deploy -> run -> analyse -> report; healing and tear-down always follow.

1. Everything of an experiment lies in one folder of results/; each stage leaves it readable.
2. A guardian stands before anything of a cluster is made: whatever becomes of this process, what
   it broke is mended and what it started is removed.
3. Spark starts after the last run closed and the last cluster is gone.
4. A signal ends what is on its way, whatever that is; what was recorded is sealed, what stood is
   removed.
"""

import asyncio
import contextlib
import platform
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path

from harness.analyse import claims, exactness, expectations, rows
from harness.analyse.bounded import Bounded
from harness.analyse.experiments import (
    NoExperiment,
    StoredRun,
    curtail,
    recall,
    remember,
    remember_merged,
)
from harness.analyse.judge import ClaimVerdict
from harness.analyse.marts import Judged, Marts, NothingRecorded, judge_all, judge_one
from harness.cluster.port import Cluster, Deployment
from harness.deploy import images
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip as equip_compose
from harness.deploy.doctor import Row, examine
from harness.deploy.engine import connect
from harness.deploy.external.deployment import ExternalDeployment
from harness.deploy.external.doctor import examine as examine_external
from harness.deploy.external.faults import equip as equip_external
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip as equip_local
from harness.plan.misbehave import TRUTH
from harness.plan.model import Experiment, RunPlan
from harness.plan.topology import Topology
from harness.report.assemble import compare, run_report, titles, unjudged
from harness.report.display import (
    CellTitle,
    Display,
    Judge,
    Piece,
    Report,
    RunOptions,
    RunReport,
)
from harness.report.rates import Rates
from harness.report.steps import Steps
from harness.run import signals
from harness.run.everywhere import heal_all, settle
from harness.run.external_projects import anything_armed
from harness.run.going import alone, at_work
from harness.run.guardian import Kind
from harness.run.guards import Guards
from harness.run.heal import EVERYBODY, Chosen
from harness.run.interrupts import Interrupt, told
from harness.run.series import RUNS, Hooks, Series
from harness.run.view import View
from harness.run_folder.manifest import NAME as MANIFEST
from harness.run_folder.manifest import Manifest
from spark_analysis.schema.failed import Failed, failed

NOT_BEGUN = "it was not begun"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def run(experiment: Experiment, options: RunOptions, show: Display) -> Report:
    """Carries an experiment out and judges it. Raises DeployError where nothing could begin."""
    folder = options.results.resolve() / experiment.name
    try:
        return _run(experiment, folder, options, show)
    except KeyboardInterrupt:  # no cluster stood: while it was planned, or while it was judged
        show.message(told(0))
        return _ended_early(experiment, options, folder, "")


def _run(experiment: Experiment, folder: Path, options: RunOptions, show: Display) -> Report:
    named = {cell: (t.scenario, t.system, t.layout) for cell, t in titles(experiment).items()}
    remember(experiment, options.replay, named, folder)
    steps = Steps(show)
    bounded = Bounded(options.bound)
    interrupt = Interrupt(show.message)
    with at_work(folder):
        asyncio.run(_perform(experiment, folder, options, show, steps, bounded, interrupt))
        experiment = bounded.carried_out(experiment)
    if interrupt.is_set():
        return _ended_early(experiment, options, folder, interrupt.reason)
    failures = _failures(folder)
    if failures is not None:
        return _unjudged(
            experiment, options, folder, lambda plan: failures.get(plan.name, NOT_BEGUN)
        )
    with alone([folder], wait=True):
        return _report(folder, options.judge, steps, show)


def analyse(
    folders: Sequence[Path], into: Path, judge: Judge, show: Display, reseal: bool = False
) -> Report:
    """Judges stored experiments: seals what is not sealed, runs Spark, evaluates claims.

    `into`: the folder itself where there is one; a new one, for one report over several.
    `reseal`: the tables of damaged runs are made anew, where the logs are what they were.
    """
    if len(folders) > 1:
        words = ["mqproof", "analyse", *map(str, folders), "--judge", judge.value]
        remember_merged(folders, shlex.join(words), into)
    now = datetime.now(UTC).isoformat(timespec="seconds") if reseal else ""
    return _report(into.resolve(), judge, Steps(show), show, now)


def heal(show: Display, chosen: Chosen = EVERYBODY, dry: bool = False) -> bool:
    """Undoes every fault that dead runs left armed, and removes what they left standing."""
    return asyncio.run(heal_all(show.message, chosen, dry))


def build(systems: tuple[str, ...], show: Display) -> None:
    """Fetches or builds every image that these systems need in containers."""
    assert systems, "the command line asks for at least one"
    steps = Steps(show)
    client = connect()
    for system in systems:
        images.ensure(client, system, steps.begin)
    steps.end()


def doctor(show: Display) -> bool:
    return _told_rows(examine(Path.cwd()), show)


def doctor_of(topology: Topology, show: Display) -> bool:
    """What a topology file promises, held against the world; nothing is touched."""
    return _told_rows(asyncio.run(examine_external(topology)), show)


def _told_rows(found: Sequence[Row], show: Display) -> bool:
    for row in found:
        word = "ok     " if row.ok else "absent " if row.optional else "MISSING"
        show.message(f"{word} {row.what}: {row.found}")
        if not row.ok:
            show.message(f"        {row.remedy}")
    return all(row.ok or row.optional for row in found)


async def _perform(
    experiment: Experiment,
    folder: Path,
    options: RunOptions,
    show: Display,
    steps: Steps,
    bounded: Bounded,
    interrupt: Interrupt,
) -> None:
    """Runs everything, or what an interrupt leaves. What was started is removed by then."""
    loop = asyncio.get_running_loop()
    with signals.heard(lambda: loop.call_soon_threadsafe(interrupt.ask)):
        await _series(experiment, folder, options, show, steps, bounded, interrupt)


async def _series(
    experiment: Experiment,
    folder: Path,
    options: RunOptions,
    show: Display,
    steps: Steps,
    bounded: Bounded,
    interrupt: Interrupt,
) -> None:
    guards = Guards(folder, options.keep, show.message)
    over = asyncio.Event()
    watching = asyncio.create_task(guards.watch(over, interrupt))
    deployments = _deployments(options, guards)

    async def up(plan: RunPlan) -> Cluster:
        return await deployments[plan.deployment].up(plan.layout, folder, steps.begin)

    hooks = _hooks(interrupt, options, show, steps)
    if options.bound is not None:
        hooks.wanted = bounded.wanted
        hooks.ended = partial(_judged_early, bounded, experiment, show, steps)
    boot_id = BOOT_ID.read_text().strip()
    versions = _own_versions() | _misbehaving(options)
    series = Series(experiment, folder, boot_id, versions, up, hooks)
    try:
        await series.perform()
    finally:
        steps.end()
        over.set()
        await watching
        guards.end()
        await settle(guards.external, show.message)


def _deployments(options: RunOptions, guards: Guards) -> dict[str, Deployment]:
    """By their names in plans. Nothing is asked of an engine before a plan wants containers."""
    return {
        Kind.COMPOSE: ComposeDeployment(
            equip_compose, options.keep, partial(guards.begin, Kind.COMPOSE)
        ),
        Kind.LOCAL: LocalDeployment(
            equip_local, options.keep, partial(guards.begin, Kind.LOCAL), options.misbehave
        ),
        Kind.EXTERNAL: ExternalDeployment(
            equip_external, partial(guards.begin, Kind.EXTERNAL), anything_armed
        ),
    }


def _hooks(interrupt: Interrupt, options: RunOptions, show: Display, steps: Steps) -> Hooks:
    rates = Rates("")

    def began(plan: RunPlan, place: int, of: int) -> None:
        nonlocal rates
        steps.end()
        rates = Rates(plan.name, f"{place} of {of}")
        show.message(f"run {place} of {of}: {plan.name} ({' x '.join(plan.cell)})")

    def live(view: View) -> None:
        steps.end()
        show.live(rates.view(time.monotonic(), view))

    return Hooks(interrupt, began, steps.begin, live, show.message, options.keep)


async def _judged_early(
    bounded: Bounded,
    experiment: Experiment,
    show: Display,
    steps: Steps,
    plan: RunPlan,
    folder: Path,
) -> None:
    """While the cluster stands idle; the last word is the report's, over all runs together."""
    steps.begin("judge the run")
    verdicts = await asyncio.to_thread(_early_verdicts, folder)
    steps.end()
    if told := bounded.ended(plan, verdicts):
        show.message(told)
        curtail(bounded.carried_out(experiment), folder.parent.parent)


def _early_verdicts(folder: Path) -> tuple[ClaimVerdict, ...]:
    """None where the run could not be judged: what comes after it is carried out all the same."""
    run = judge_one(folder)
    if isinstance(run, Failed):
        return ()
    asked = StoredRun(folder, "", run.manifest.run, ("", "", "", ""), run.manifest.repeat, 0)
    return _judged(asked, run, claims.shipped()).verdicts


def _report(
    folder: Path, judge: Judge, steps: Steps, show: Display, resealed_at: str = ""
) -> Report:
    try:
        asked = recall(folder)
    except NoExperiment as reason:
        raise NothingRecorded(str(reason)) from reason
    held = {one.name: one.folder for one in asked.experiments}

    def step(name: str) -> None:
        signals.ending()  # Spark has put a handler of its own in the place of ours by now
        steps.begin(name)

    marts = judge_all(folder, step, held, resealed_at)
    steps.end()
    if marts.unwritten:
        show.message(f"the marts were not kept: {marts.unwritten}")
    shipped = claims.shipped()
    found = {run.folder: run for run in marts.runs}
    runs = tuple(
        _told(
            each, found.get(each.folder), marts, shipped, each.experiment if asked.pieces else ""
        )
        for each in asked.runs
    )
    known = expectations.shipped([claim.name for claim in shipped])
    return Report(
        experiment=asked.name,
        seed=asked.seed,
        folder=folder,
        judge=judge,
        replay=asked.replay,
        versions=_versions(marts),
        runs=runs,
        skipped=asked.skipped,
        cells=compare(runs, known),
        comparison=marts.comparison,
        titles={cell: CellTitle(*words) for cell, words in asked.titles.items()},
        pieces=tuple(Piece(one.name, one.seed, one.replay, one.folder) for one in asked.pieces),
    )


def _told(
    asked: StoredRun,
    run: Judged | None,
    marts: Marts,
    shipped: Sequence[claims.Claim],
    piece: str,
) -> RunReport:
    """A run that was asked for: judged, or with the reason why it was not."""
    if run is None:
        why = marts.failed.get(asked.folder, Failed(asked.name, NOT_BEGUN, ""))
        return replace(_unread(asked, why), piece=piece)
    return replace(_judged(asked, run, shipped), repeat=asked.repeat, piece=piece)


def _judged(asked: StoredRun, run: Judged, shipped: Sequence[claims.Claim]) -> RunReport:
    """Whatever goes wrong with one run, others are told."""
    told = run.manifest, run.facts, run.findings, shipped, run.costs, run.views
    try:
        return _with_truth(run_report(run.folder, *told), run)
    except rows.Unreadable as reason:
        return _unread(asked, Failed(asked.name, f"{run.folder}: {reason}", ""))
    except Exception as error:  # nobody foresaw it
        return _unread(asked, failed(asked.name, run.folder, error))


def _unread(asked: StoredRun, why: Failed) -> RunReport:
    return RunReport(
        asked.name, asked.cell, asked.repeat, asked.seed, failure=why.reason, trace=why.trace
    )


def _with_truth(report: RunReport, run: Judged) -> RunReport:
    """Says of a misbehaving cluster whether what it admits, and nothing else, was found."""
    if not (run.folder / TRUTH).exists():
        return report
    try:
        classes = exactness.compare(run.folder, run.manifest, run.findings)
    except (rows.Unreadable, ValueError, OSError) as failure:
        return replace(report, notes=(*report.notes, f"truth: cannot be read: {failure}"))
    told = [each for each in classes if each.must or each.found]
    notes = [f"truth: {'' if each.exact else 'NOT EXACT: '}{each}" for each in told]
    return replace(report, notes=(*report.notes, *notes))


def _failures(folder: Path) -> dict[str, str] | None:
    """Why each run never had any load; None where one had, so that there is something to judge."""
    try:
        manifests = [Manifest.load(path.parent) for path in folder.glob(f"runs/*/{MANIFEST}")]
    except (OSError, ValueError):
        return None  # the report says of each run what is wrong with it
    if any(manifest.load_started_ns is not None for manifest in manifests):
        return None
    return {manifest.run: manifest.failure for manifest in manifests}


def _unjudged(
    experiment: Experiment,
    options: RunOptions,
    folder: Path,
    reason: Callable[[RunPlan], str],
    interrupted: bool = False,
) -> Report:
    return Report(
        experiment=experiment.name,
        seed=experiment.seed,
        folder=folder,
        judge=options.judge,
        replay=options.replay,
        versions={},
        runs=tuple(unjudged(plan, reason(plan)) for plan in experiment.runs),
        skipped=experiment.skipped,
        cells=(),
        interrupted=interrupted,
        titles=titles(experiment),
    )


def _ended_early(experiment: Experiment, options: RunOptions, folder: Path, reason: str) -> Report:
    """`reason`: ours, where nobody asked for the end: that is no 130, but nothing is decided."""
    signals.silence()
    asked = not reason
    why = "interrupted" if asked else f"ended early: {reason}"
    if any(folder.glob(f"{RUNS}/*/{MANIFEST}")):
        why += f"; what was recorded is sealed: mqproof analyse {folder}"
    return _unjudged(experiment, options, folder, lambda _: why, interrupted=asked)


def _own_versions() -> dict[str, str]:
    names = ("mqproof", "pyspark", "pyarrow", "docker", "toxiproxy-python")
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):  # run from a bare checkout
            found[name] = metadata.version(name)
    return found


def _misbehaving(options: RunOptions) -> dict[str, str]:
    """Nobody is to take such a run for an honest one."""
    return {"misbehave": str(options.misbehave)} if options.misbehave is not None else {}


def _versions(marts: Marts) -> dict[str, str]:
    """Every version that was seen; where runs differ, all of them."""
    found: dict[str, dict[str, None]] = {}
    for run in marts.runs:
        for name, text in run.manifest.versions.items():
            found.setdefault(name, {})[text] = None
    return {name: "; ".join(texts) for name, texts in found.items()}
