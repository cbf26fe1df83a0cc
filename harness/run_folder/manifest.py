"""manifest.json: what the harness itself knows of a run, saved whole at every step forward.

1. A manifest on the disk is always whole: written beside itself, then renamed.
2. What is not known yet is None; a harness that dies leaves what it knew, and `facts` says so.
3. `facts` is what the analysis reads; everything else is for people and for replaying.
4. An unknown key is an error: a newer mqproof wrote it, and sealing would drop it.
5. A manifest that differs from its digest is not read; older ones have none.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.plan.distribution import groups
from harness.plan.fault_properties import declared_properties
from harness.plan.model import RunPlan
from harness.plan.operations import OPERATIONS
from harness.run_folder.never_begun import never_begun, parted, parted_facts
from harness.run_folder.operations import (
    OperationRecord,
    leadership_changes,
    operation_times,
)
from harness.run_folder.planned import TargetRecord, recorded
from harness.run_folder.tolerances import DRIFT_NS_MAX
from spark_analysis.files.regular import check_regular, json_of
from spark_analysis.files.sealed import DIGEST, MANIFEST, Seal, altered, digest_of
from spark_analysis.files.writing import write_whole
from spark_analysis.schema import old_names
from spark_analysis.schema.declared import WRONG, Listing, Reader, brief
from spark_analysis.schema.facts import (
    FACTS_VERSION,
    Absence,
    Clock,
    CompetingLeaders,
    ConsumerGroup,
    Facts,
    GroupQueue,
    ProcessEnd,
    QueueEnd,
    Window,
    Worker,
)
from spark_analysis.schema.sound import ROLES, again, check_recorded, written_later
from spark_analysis.schema.ways import DeliveryWay
from spark_analysis.schema.words import LEVELS, Level, ProblemCause

NAME = MANIFEST
BYTES_MAX = 1 << 26
SEALED = "sealed"  # the last phase
_PROBLEMS_MAX = 20
_WIDE = "seed", "run_number", "origin_wall_ns", "wall_set_ns"  # more than a time of a run
_NAMES = "run", "scenario", "system", "layout", "client", "repeat"


@dataclass(slots=True)
class WorkerRecord:
    """One worker process and how it ended."""

    name: str
    number: int
    role: str
    exit_code: int | None = None
    log_closed: bool = False
    failure: str = ""
    log_whole: bool = False  # though it is not closed: killed on purpose, all it did is on record
    ended_early: bool = False  # its log is closed, but it ended before the run did
    group: str = ""  # the consumer group that it belongs to; "": all consumers are one

    @property
    def reaches_the_end(self) -> bool:
        """Return whether its log has all that it did in the run."""
        return (self.log_closed and not self.ended_early) or self.log_whole


@dataclass(slots=True)
class ClockRecord:
    """The measured offset and bound of one process's clock; ns."""

    name: str
    same_boot: bool
    offset_ns: int
    bound_ns: int
    problem: str


@dataclass(slots=True)
class AuditStart:
    """A broker's process that did not answer when places were to be read, and what the auditor did
    about that; run time in ns."""

    place: str  # a host, or a process of one that carries several
    found: str = ""  # how it was seen that no broker lives there
    left: str = ""  # why it was left as it was; "" where it was started
    issued_ns: int | None = None  # of the start
    answered_ns: int | None = None  # None: it never did
    detail: str = ""  # what it was to the queues then, or why it did not answer


@dataclass(slots=True)
class Manifest:
    """One run. Times in ns of run time, unless the name says monotonic."""

    run: str
    run_number: int
    scenario: str
    system: str
    layout: str
    client: str
    deployment: str
    repeat: int
    seed: int
    scenario_source: str
    schedule: dict[str, Any]
    deadline_ns: int
    paced: bool
    confirms: bool
    phase: str = "planned"
    interrupted: bool = False
    failure: str = ""  # why the run could not go on; "" where it went on
    origin_monotonic_ns: int = 0
    # What this machine's clock of the day said at the origin, in ns since 1970 (0: not recorded):
    # servers' own logs tell the time by it. And by how much it was set from then to the run's end.
    origin_wall_ns: int = 0
    wall_set_ns: int = 0
    boot_id: str = ""
    cluster_boot: int = 0  # which boot of the experiment served this run, from 1
    cluster_fresh_because: str = ""  # why that cluster was started again for this run
    cluster_stood: bool = False  # `mqproof up` had started it
    together: list[str] = field(default_factory=list)  # the other runs that were played with it
    ignored: list[str] = field(default_factory=list)  # words that this client does not know
    levels: list[Level] = field(default_factory=lambda: [*LEVELS])  # of its system's confirms
    ways: list[DeliveryWay] = field(default_factory=list)  # of its system's deliveries
    client_options: list[str] = field(default_factory=list)  # how it differs from its library
    endpoints: dict[str, str] = field(default_factory=dict)  # of publishers, of consumers
    targets: list[TargetRecord] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)  # what claims' preconditions ask for
    phases_ns: dict[str, int] = field(default_factory=dict)  # when each phase began
    load_started_ns: int | None = None
    load_ended_ns: int | None = None
    workers: list[WorkerRecord] = field(default_factory=list)
    clocks: list[ClockRecord] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    not_begun: list[Window] = field(default_factory=list)  # planned, as the journal proves
    queues: list[QueueEnd] = field(default_factory=list)
    # By consumer group its queues, by the queues that publishers send to.
    consumer_groups: dict[str, dict[str, str]] = field(default_factory=dict)
    competing_leaders: list[CompetingLeaders] = field(default_factory=list)
    absences: list[Absence] = field(default_factory=list)  # workers that a fault kept away
    operations: list[OperationRecord] = field(default_factory=list)
    audit_starts: list[AuditStart] = field(default_factory=list)
    harness_log_closed: bool = True  # False: the harness died before it had written all of it
    process_ends: list[ProcessEnd] = field(default_factory=list)  # unplanned
    process_watch_lost: str = ""  # why other ends are unknown; "" where the watch went on
    cluster_altered: str = ""  # why it may not be what its layout says any more; "" where it is
    # Of each broker's log the run has the last so many bytes, and these are left out, by file.
    broker_log_bytes_max: int | None = None  # None: whole, as before there was a limit
    broker_logs_left_out: dict[str, int] = field(default_factory=dict)
    format: int = FACTS_VERSION
    facts: dict[str, Any] | None = None
    seal: Seal | None = None  # None: never sealed, or before there were checksums

    @property
    def worker_names(self) -> dict[int, str]:
        return {worker.number: worker.name for worker in self.workers}

    @classmethod
    def of(cls, plan: RunPlan) -> "Manifest":
        workload = plan.scenario.workload
        return cls(
            run=plan.name,
            run_number=plan.number,
            scenario=plan.scenario.name,
            system=plan.system.name,
            layout=plan.layout.label,
            client=plan.client.word,
            deployment=plan.deployment,
            repeat=plan.repeat,
            seed=plan.seed,
            scenario_source=plan.scenario.source,
            schedule=recorded(plan.schedule),
            deadline_ns=round(workload.deadline_s * 1e9),
            paced=workload.rate is not None,
            confirms=workload.confirms,
            levels=[*plan.system.levels],
            ways=[*plan.system.ways],
            consumer_groups={name: {**own} for name, own in groups(workload).items()},
            # A fault that never began was not verified active; it was planned nevertheless.
            windows=[
                Window.planned(number, kind.name, 0, "never began", declared_properties(kind))
                for number, kind in ((w.number, w.fault.kind) for w in plan.schedule.windows)
            ],
            operations=[
                OperationRecord(step.number, step.operation.kind.name, step.operation.target.word)
                for step in plan.schedule.steps
            ],
        )

    def save(self, folder: Path) -> None:
        """Raises OSError, which names the file."""
        # What JSON makes of it is what will be read, and so what the digest is of.
        document = json.loads(json.dumps(asdict(self), default=str))
        document[DIGEST] = digest_of(document)
        write_whole(folder / NAME, json.dumps(document, indent=1), durable=True)

    @classmethod
    def load(cls, folder: Path) -> "Manifest":
        """Raises FileNotFoundError, or ValueError on what is not a manifest of ours: its path, and
        everything that is wrong with it, as much of that as anybody reads."""
        path = folder / NAME
        manifest = cls.of_document(_document(path), path)
        if manifest.facts is not None and "not_begun" not in manifest.facts:  # of an older run
            manifest.facts["problem_cause"] = _cause(manifest, manifest.facts)
            manifest.move_never_begun(never_begun(manifest.windows, folder))
        return manifest

    def move_never_begun(self, numbers: Collection[int]) -> None:
        """Take the windows with these numbers for what they are: planned, and no faults."""
        self.windows, moved = parted(self.windows, numbers)
        self.not_begun = [*self.not_begun, *moved]
        if self.facts is not None and moved:
            self.facts = parted_facts(self.facts, numbers)

    @classmethod
    def of_document(cls, document: object, path: Path) -> "Manifest":
        """Return the manifest in a JSON document. Raises ValueError, which names `path`."""
        if isinstance(document, dict) and altered(document):
            raise ValueError(f"{path} is not as it was written: its digest is another")
        document = old_names.manifest(document)
        if not isinstance(document, dict) or document.get("format") != FACTS_VERSION:
            raise ValueError(f"{path}: not a manifest of format {FACTS_VERSION}")
        found = Listing(_PROBLEMS_MAX)
        own = {key: value for key, value in document.items() if key != DIGEST}
        manifest = Reader(found, wide=_WIDE).record(cls, own, "")
        if manifest is not WRONG:
            _check(manifest, found)
        if found.count:
            later = written_later(own, cls) or written_later(own.get("facts"))
            raise ValueError(f"{path} is no manifest of ours: {found}{later}")
        assert isinstance(manifest, Manifest), "without problems the manifest is complete"
        return manifest


def _document(path: Path) -> object:
    if (size := check_regular(path).st_size) > BYTES_MAX:
        raise ValueError(f"{path} has {size:,} bytes; a manifest has {BYTES_MAX:,} at most")
    try:
        return json_of(path, BYTES_MAX)
    except ValueError as failure:  # no JSON, or not even text
        raise ValueError(f"{path} is no manifest of ours: {failure}") from failure


def _check(manifest: Manifest, found: Listing) -> None:
    """Report contradictions in the manifest, and between it and its facts."""
    for place, number in again(worker.number for worker in manifest.workers):
        found.add(f"workers[{place}].number", f"{number} stands there twice")
    _check_schedule(manifest.schedule, found)
    for place, one in enumerate(manifest.operations):
        if one.kind not in OPERATIONS:
            found.unknown(f"operations[{place}].kind", "operation", one.kind, tuple(OPERATIONS))
    if manifest.phase == SEALED and manifest.facts is None:
        found.add("facts", "a sealed run has some")
    if manifest.facts is None:
        return
    facts = Reader(found).read(Facts, manifest.facts, "facts")
    if facts is WRONG:
        return
    check_recorded(facts, found)
    if "format" not in manifest.facts:
        found.add("facts", "format is missing")
    # The seal's own is that of the facts: the judgement reads these.
    for name in _NAMES:
        of_facts, of_run = getattr(facts, name), getattr(manifest, name)
        if of_facts != of_run:
            found.add(f"facts.{name}", f"{brief(of_facts)}, but the run's is {brief(of_run)}")
    workers = {(one.number, one.role) for one in manifest.workers}
    for place, worker in enumerate(facts.workers):
        if (worker.number, worker.role) not in workers:
            found.add(f"facts.workers[{place}]", f"the run has no {worker.role} {worker.number}")


@dataclass(frozen=True, slots=True)
class _Planned:
    """The fields of a planned window that are read again."""

    number: int
    opens_s: float | int
    lasts_s: float | int


@dataclass(frozen=True, slots=True)
class _PlannedStep:
    """The same of an operation."""

    number: int
    at_s: float | int


def _check_schedule(schedule: dict[str, Any], found: Listing) -> None:
    for name, kind in (("windows", _Planned), ("steps", _PlannedStep)):
        planned, place = schedule.get(name, []), f"schedule.{name}"
        if not isinstance(planned, list):
            found.add(place, f"{brief(planned)} is not a list")
            continue
        for number, one in enumerate(planned):
            own = f"{place}[{number}]"
            Reader(found).record(kind, one, own, more=True)
            fault = one.get("fault", {}) if isinstance(one, dict) else {}
            if not isinstance(fault, dict):
                found.add(f"{own}.fault", f"{brief(fault)} is not an object")


def _cause(manifest: Manifest, facts: Mapping[str, Any]) -> str:
    """Return the cause of the problem in the facts of an older run, which did not record it."""
    problem, cause = _problem(manifest)
    return cause.value if facts.get("clock_problem") == problem else ProblemCause.CLOCK.value


def facts_of(manifest: Manifest, last_ns: int) -> Facts:
    """Return the facts of a run as far as its manifest goes. `last_ns`: the last instant in any
    log; it replaces ends that were not recorded."""
    started_ns = manifest.load_started_ns if manifest.load_started_ns is not None else 0
    ended_ns = manifest.load_ended_ns if manifest.load_ended_ns is not None else last_ns
    problem, cause = _problem(manifest)
    return Facts(
        run=manifest.run,
        scenario=manifest.scenario,
        system=manifest.system,
        layout=manifest.layout,
        client=manifest.client,
        repeat=manifest.repeat,
        load_started_ns=started_ns,
        load_ended_ns=max(started_ns, ended_ns),
        deadline_ns=manifest.deadline_ns,
        paced=manifest.paced,
        confirms=manifest.confirms,
        clock_problem=problem,
        problem_cause=cause.value,
        workers=tuple(
            Worker(worker.number, worker.role, worker.reaches_the_end)
            for worker in manifest.workers
            if worker.role in ROLES
        ),
        windows=tuple(manifest.windows),
        not_begun=tuple(manifest.not_begun),
        queues=tuple(manifest.queues),
        competing_leaders=tuple(manifest.competing_leaders),
        absences=tuple(manifest.absences),
        leadership_changes=tuple(leadership_changes(manifest.operations, manifest.process_ends)),
        operations=tuple(operation_times(manifest.operations, manifest.schedule)),
        clocks=tuple(_clocks(manifest)),
        process_ends=tuple(manifest.process_ends),
        process_watch_lost=manifest.process_watch_lost,
        levels=tuple(manifest.levels),
        ways=tuple(manifest.ways),
        consumer_groups=tuple(_consumer_groups(manifest)),
    )


def _consumer_groups(manifest: Manifest) -> Iterator[ConsumerGroup]:
    for name, own in manifest.consumer_groups.items():
        consumers = (
            worker.number
            for worker in manifest.workers
            if worker.role == "consumer" and worker.group == name
        )
        queues = tuple(GroupQueue(queue, of) for of, queue in own.items())
        yield ConsumerGroup(name, queues, tuple(consumers))


def _clocks(manifest: Manifest) -> Iterator[Clock]:
    """Yield for every worker on another machine the bound of its clock's offset and drift."""
    numbers = {worker.name: worker.number for worker in manifest.workers}
    for clock in manifest.clocks:
        if not clock.same_boot and clock.name in numbers:
            yield Clock(numbers[clock.name], clock.bound_ns + DRIFT_NS_MAX)


def _problem(manifest: Manifest) -> tuple[str, ProblemCause]:
    """Return why the whole run cannot be judged, and the cause; "" if it can."""
    for clock in manifest.clocks:
        if clock.problem:
            return clock.problem, ProblemCause.CLOCK
    if manifest.failure:
        return manifest.failure, ProblemCause.FAILED
    if manifest.interrupted:
        return "the run was interrupted", ProblemCause.INTERRUPTED
    if manifest.load_ended_ns is None:
        return f"the harness ended in phase {manifest.phase!r}", ProblemCause.DIED
    for one in manifest.operations:
        if not one.ok:
            text = f"operation {one.number} ({one.kind} {one.target}) failed: {one.detail}"
            return text, ProblemCause.OPERATION
    return "", ProblemCause.CLOCK
