"""A report of what the analysis found: evidence and report of a run, cells by expectations.

1. A run that was planned and could not be judged stands there with its reason.
2. Cells come in the order of their first run.
"""

from collections.abc import Iterable, Iterator, Sequence

from harness.analyse.judged_run import JudgedRun
from harness.claims.doubts import Caveat
from harness.claims.evidence import Evidence
from harness.claims.judge import ClaimVerdict
from harness.claims.state import KnownFacts
from harness.compare.expectations import CellResult, Expectations
from harness.judging.raw_reading import RawReading
from harness.judging.result import CellTitle, RunReport
from harness.plan.clients.requirements import resends
from harness.plan.model import Experiment, RunPlan
from harness.run_folder.manifest import Manifest
from harness.systems.registry import registry
from harness.view import routes
from harness.view.audited import starts
from harness.view.costs import cost
from harness.view.detail import detail_of
from harness.view.observations import observe, unplanned
from harness.view.summary import Summary, summary

_OF_MISSING = ("drain", "unreadable")  # doubts about the place of missing messages


def evidence_of(run: JudgedRun, raw: RawReading) -> Evidence:
    """Return the evidence of one run: its marts, and what was read of its raw rows."""
    return Evidence(
        run.findings,
        run.facts,
        KnownFacts.from_json({**run.manifest.state, **raw.words}),
        uncounted=raw.uncounted,
        resends=resends(run.manifest.client),
    )


def run_report(
    run: JudgedRun, raw: RawReading, evidence: Evidence, verdicts: Iterable[ClaimVerdict]
) -> RunReport:
    """Return the report of one run. `evidence`: by which it was judged."""
    manifest = run.manifest
    run_summary = summary(evidence)
    return RunReport(
        name=manifest.run,
        cell=(manifest.scenario, manifest.system, manifest.layout, manifest.client),
        repeat=manifest.repeat,
        seed=manifest.seed,
        verdicts=tuple(verdicts),
        observations=(
            *observe(evidence),
            *routes.observe(manifest, run.findings, run.views, evidence.doubts.run is None),
            *unplanned(manifest.process_ends),
            *starts(manifest.audit_starts),
            *raw.audited,
        ),
        doubts=tuple(_doubt(doubt, run_summary) for doubt in evidence.doubts),
        failure=manifest.failure,
        notes=_notes(manifest),
        summary=run_summary,
        detail=detail_of(raw.material, manifest, run.facts, run.findings, run.views, run.sends),
        cost=cost(manifest, run.facts, run.costs, run.findings.doubts),
        together=tuple(manifest.together),
        brokers=_brokers(manifest),
    )


def _brokers(manifest: Manifest) -> str:
    known = registry().systems.get(manifest.system)
    name = known.versioned_as if known is not None else None
    reported = manifest.versions.get(name, "") if name is not None else ""
    # Mnesia is what every RabbitMQ had before there was a choice.
    store = manifest.versions.get(f"{name} metadata store", "mnesia")
    kept = "" if store == "mnesia" else f", metadata in {store}"
    return f"{name} {reported}{kept}" if reported else ""


def _doubt(doubt: Caveat, run_summary: Summary) -> str:
    """Return the doubt's sentence. An unread place can hold nothing if nothing is missing: then
    the count is decided."""
    nothing = (
        run_summary.confirmed
        and run_summary.loss_proved
        and not (run_summary.lost.least or run_summary.stranded.least)
    )
    if nothing and doubt.reason in _OF_MISSING:
        return (
            f"loss was judged, because every confirmed message arrived, although {doubt.sentence}"
        )
    return doubt.sentence


def unjudged(plan: RunPlan, reason: str) -> RunReport:
    """Return the report of a planned run that cannot be read."""
    return RunReport(plan.name, plan.cell, plan.repeat, plan.seed, failure=reason)


def compare(runs: Sequence[RunReport], expectations: Expectations) -> tuple[CellResult, ...]:
    """Every cell against what is known of it."""
    cells = dict.fromkeys(run.cell for run in runs)
    return tuple(
        expectations.compare(cell, [run.verdicts for run in runs if run.cell == cell])
        for cell in cells
    )


def titles(experiment: Experiment) -> dict[tuple[str, str, str, str], CellTitle]:
    """Return the titles of every cell."""
    return {
        run.cell: CellTitle(run.scenario.title, run.system.title, run.layout.title)
        for run in experiment.runs
    }


def _notes(manifest: Manifest) -> tuple[str, ...]:
    notes = [*_kept(manifest)]
    if manifest.cluster_fresh_because:
        notes.append(f"fresh cluster: {manifest.cluster_fresh_because}")
    if manifest.cluster_stood:
        notes.append("cluster: the one that `mqproof up` had started")
    if manifest.client_options:
        notes.append(f"options of {manifest.client}: {', '.join(manifest.client_options)}")
    if manifest.together:
        others = ", ".join(manifest.together)
        notes.append(f"played together with {others}: one cluster, and one fault for all")
    if manifest.ignored:
        notes.append(f"ignored by {manifest.client}: {', '.join(manifest.ignored)}")
    notes += [_resolved(*one) for one in sorted(manifest.resolved.items())]
    return tuple(notes)


def _resolved(word: str, place: str) -> str:
    """`consumers connect first to rmq1`, `fault 1: kill master of orders = rmq1`."""
    if word.endswith(" enter"):
        return f"{word.removesuffix(' enter')} connect first to {place}"
    return f"{word.replace('window ', 'fault ', 1)} = {place}"


def _kept(manifest: Manifest) -> Iterator[str]:
    """Yield notes about the records themselves."""
    if not manifest.harness_log_closed:
        yield (
            "caveat: the harness's log has no end, so it may lack its last probes, fault events "
            "and resource samples; times of faults come from the manifest"
        )
    if manifest.seal is None:
        yield (
            "no checksums: an old version sealed this run, so it is unknown whether its records "
            "are complete"
        )
        return
    for one in manifest.seal.resealed:
        yield f"sealed again from its logs at {one.at}, because {one.because}"
