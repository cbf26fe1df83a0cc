"""A report of what the analysis found: evidence and report of a run, cells by expectations.

1. A run that was planned and could not be judged stands there with its reason.
2. Cells come in the order of their first run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.analyse import operated, routed
from harness.analyse.judged_run import JudgedRun
from harness.claims.doubts import Caveat
from harness.claims.evidence import Evidence
from harness.claims.judge import ClaimVerdict
from harness.compare.expectations import CellResult, Expectations
from harness.compare.loads import played
from harness.judging import known_facts
from harness.judging.exits import Judge
from harness.judging.result import CellTitle, RunReport
from harness.plan.clients import registry as clients
from harness.plan.clients.client_options import name_of
from harness.plan.clients.requirements import resends
from harness.plan.declared import ignored_text
from harness.plan.fault_words import resolved_words
from harness.plan.layouts.layout_values import (
    BALANCER,
    BROKER_IMAGE,
    BY_NAME_SERVERS,
    OF_DISTRIBUTION,
    USERS_IMAGE,
)
from harness.plan.model import Cell, Experiment, RunPlan
from harness.run_folder.manifest import Manifest
from harness.run_folder.process_ends import watch_lost_text
from harness.systems.registry import registry
from harness.view import raw_lines, routes
from harness.view.backlogs import waiting
from harness.view.costs import cost
from harness.view.detail import detail_of, failures_of, records_of
from harness.view.failing import Failing, failed_sends, failing
from harness.view.failing import observe as observe_failing
from harness.view.grouping import by_key
from harness.view.message_traces import Records
from harness.view.naming import fault_of_plan
from harness.view.new_masters import with_new_masters
from harness.view.observations import Observation, audit, observe, starts, unplanned
from harness.view.summary import Summary, summary
from harness.view.takeovers import explaining, taken_over

_OPEN_LOG = (
    "caveat: the harness's log has no end, so it may lack its last probes, fault events and "
    "resource samples; times of faults come from the manifest"
)
_NO_SEAL = (
    "no checksums: an old version sealed this run, so it is unknown whether its records are "
    "complete"
)
_FRESH = {"another layout": "another layout than in the run before"}  # what runs record, in full
_OF_MISSING = ("drain", "unreadable")  # doubts about the place of missing messages


@dataclass(frozen=True, slots=True)
class RawReading:
    """What the raw rows of one run tell. `words`: facts of plan/vocabulary (OPERATED, SEEN) by
    name; None is unknown. `uncounted`: measures whose opportunities its marts do not hold, since
    they are of before format 3. `receivers`, `stale`: of raw_lines. Packed marts keep neither."""

    words: Mapping[str, Any]
    audited: tuple[Observation, ...]
    records: Records
    failing: tuple[Failing, ...]
    uncounted: frozenset[str] = frozenset()
    receivers: str = ""
    stale: str = ""


def read_raw(run: JudgedRun) -> RawReading:
    words = operated.client_state(run.folder, run.manifest, run.facts, run.findings)
    words |= routed.route_state(run.folder, run.manifest, run.facts)
    records = records_of(run.folder, run.findings, run.manifest.client)
    return RawReading(
        words,
        audit(run.folder),
        records,
        failing_of(run, records),
        receivers=raw_lines.receivers(run.folder, run.findings, run.facts),
        stale=raw_lines.stale(run.folder, run.views),
    )


def failing_of(run: JudgedRun, records: Records) -> tuple[Failing, ...]:
    meanings = failures_of(run.manifest.client)
    return failing(run.manifest, run.facts, run.sends, records.clients, meanings)


def evidence_of(run: JudgedRun, raw: RawReading) -> Evidence:
    """Return the evidence of one run: its marts, and what was read of its raw rows."""
    return Evidence(
        run.findings,
        run.facts,
        known_facts.of_run(run.manifest, raw.words),
        uncounted=raw.uncounted,
        resends=resends(run.manifest.client),
        failed_sends=failed_sends(raw.failing),
        taken_over=taken_over(run.facts, raw.records.looks),
    )


def run_report(
    run: JudgedRun, raw: RawReading, evidence: Evidence, verdicts: Iterable[ClaimVerdict]
) -> RunReport:
    """Return the report of one run. `evidence`: by which it was judged."""
    manifest = run.manifest
    run_summary = summary(evidence)
    if run_summary.backlog_left:
        run_summary = replace(run_summary, waiting=waiting(run.folder, run.facts))
    findings = with_new_masters(run.findings, run.facts, run.views)
    detail = detail_of(raw.records, manifest, run.facts, findings, run.views, raw.failing)
    gone = ((one.number, one.gone) for one in detail.timeline.faults)
    gone_ns = {number: look.at_ns for number, look in gone if look is not None and look.ok}
    lines = (
        *observe(evidence, gone_ns),
        *observe_failing(raw.failing),
        *explaining(detail.takeovers, run.findings.attributions),
        *routes.observe(manifest, findings, run.views, evidence.doubts.run is None),
        *unplanned(manifest.process_ends),
        *starts(manifest.audit_starts),
        *raw.audited,
    )
    return RunReport(
        name=manifest.run,
        cell=(manifest.scenario, manifest.system, manifest.layout, manifest.client),
        repeat=manifest.repeat,
        seed=manifest.seed,
        verdicts=tuple(verdicts),
        observations=tuple(raw_lines.amended(one, raw.receivers, raw.stale) for one in lines),
        doubts=tuple(_doubt(doubt, run_summary) for doubt in evidence.doubts),
        failure=manifest.failure,
        notes=_notes(manifest),
        summary=run_summary,
        detail=detail,
        cost=cost(manifest, run.facts, run.costs, run.findings.doubts),
        together=tuple(manifest.together),
        brokers=_brokers(manifest),
        broker_version=_reported(manifest)[1],
        origin=_origin(manifest),
        load=played(manifest.scenario_source),
    )


def _reported(manifest: Manifest) -> tuple[str, str]:
    """Return the software of the brokers and its version; "" if they reported none."""
    known = registry().systems.get(manifest.system)
    name = (known.versioned_as if known is not None else None) or ""
    return name, manifest.versions.get(name, "")


def _another_version(manifest: Manifest) -> str:
    """Return that Java's library has another version than the brokers; "" if it has not."""
    known = clients.registry().clients.get(name_of(manifest.client))
    jars = known.jars if known is not None else None
    own = jars.artifacts[0].rpartition(":")[2] if jars is not None else ""
    _, reported = _reported(manifest)
    if not own or not reported or own == reported:
        return ""
    return f"the client's library has version {own}, the brokers have {reported}, as planned"


def _brokers(manifest: Manifest) -> str:
    name, reported = _reported(manifest)
    # Mnesia is what every RabbitMQ had before there was a choice.
    store = manifest.versions.get(f"{name} metadata store", "mnesia")
    kept = "" if store == "mnesia" else f", metadata in {store}"
    return f"{name} {reported}{kept}" if reported else ""


def _origin(manifest: Manifest) -> str:
    """Return the user's own image or build that the brokers ran from; "" if there was none. The
    image that is made of a build changes with its jars."""
    versions = manifest.versions
    if image := versions.get(USERS_IMAGE, ""):
        return f"{USERS_IMAGE} {image}"
    if build := versions.get(OF_DISTRIBUTION, ""):
        return f"{OF_DISTRIBUTION} {build}, {BROKER_IMAGE} {versions.get(BROKER_IMAGE, '')}"
    return ""


def _doubt(doubt: Caveat, run_summary: Summary) -> str:
    """Return the doubt's sentence. An unread place can hold nothing if nothing is missing: then
    the count is decided."""
    missing = run_summary.lost.least or run_summary.stranded.least
    arrived = run_summary.confirmed and run_summary.loss_proved and not missing
    judged = "loss was judged, because every confirmed message arrived, although "
    return f"{judged if arrived and doubt.reason in _OF_MISSING else ''}{doubt.sentence}"


def unjudged(plan: RunPlan, reason: str) -> RunReport:
    """Return the report of a planned run that cannot be read."""
    load = played(plan.scenario.source)
    return RunReport(plan.name, plan.cell, plan.repeat, plan.seed, failure=reason, load=load)


def compare(
    runs: Sequence[RunReport], expectations: Expectations, judge: Judge = Judge.EXPECTATIONS
) -> tuple[CellResult, ...]:
    """Every cell against what is known of it. Expectations are ours: where none speaks of a user's
    scenario or system, a report tells of them only to who asks for them by `judge`."""
    every = judge is Judge.EXPECTATIONS
    return tuple(
        expectations.compare(cell, [run.verdicts for run in own])
        for cell, own in by_key(runs, lambda run: run.cell).items()
        if every or expectations.speak_of(cell)
    )


def titles(experiment: Experiment) -> dict[Cell, CellTitle]:
    runs = experiment.runs
    return {r.cell: CellTitle(r.scenario.title, r.system.title, r.layout.title) for r in runs}


def _notes(manifest: Manifest) -> tuple[str, ...]:
    another = _another_version(manifest)
    others, options = ", ".join(manifest.together), ", ".join(manifest.client_options)
    fresh, lost = manifest.cluster_fresh_because, manifest.process_watch_lost
    notes = (
        (fresh, f"the cluster was started for this run; reason: {_FRESH.get(fresh, fresh)}"),
        (lost, watch_lost_text(lost)),
        (manifest.cluster_stood, "cluster: the one that `mqproof up` had started"),
        (another, another),
        (options, f"options of {manifest.client}: {options}"),
        (others, f"played together with {others}: one cluster, and one fault for all"),
        *((one, ignored_text(one, manifest.client)) for one in manifest.ignored),
    )
    return (*_kept(manifest), *(text for applies, text in notes if applies), *_meant(manifest))


def _meant(manifest: Manifest) -> Iterator[str]:
    """Yield `consumers connect first to rmq1`, `fault 1: kill rmq1 (master of orders)`."""
    for who, place in sorted(manifest.endpoints.items()):
        if who == "consumers" and manifest.state.get("consumers") == 0:
            yield f"there are no consumers; the drain {_reaches('connects', 'finds', place)}"
        else:
            yield f"{who} {_reaches('connect', 'find', place)}"
    for one in sorted(manifest.targets, key=lambda target: target.window):
        words = fault_of_plan(manifest.schedule, one.window, one.kind, one.places)
        beside = routes.beside_target(manifest.state, one.window, one.kind, one.target, one.places)
        yield f"fault {one.window}: {resolved_words(words, one.target, one.places, beside)}"


def _reaches(connect: str, find: str, place: str) -> str:
    """Return `connect first to rmq1`, or `find the brokers through a name server`. `connect`,
    `find`: the verbs, in the number of their subject."""
    if place == BY_NAME_SERVERS:
        return f"{find} the brokers through a name server"
    return f"{connect} first to {'the balancer' if place == BALANCER else place}"


def _kept(manifest: Manifest) -> Iterator[str]:
    """Yield notes about the records themselves."""
    if not manifest.harness_log_closed:
        yield _OPEN_LOG
    if manifest.seal is None:
        yield _NO_SEAL
    for one in manifest.seal.resealed if manifest.seal is not None else ():
        yield f"sealed again from its logs at {one.at}, because {one.because}"
