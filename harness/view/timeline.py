"""One run along its time: slices of load, faults as asked for and as seen, what else happened.

1. Times are run time in ns, so that they agree with every line of a verdict.
2. At most as many slices as the mart `latencies` has (curves.py), and EVENTS_MAX events, however
   long the run was; what was left out is counted.
3. What was not recorded is None or "", never assumed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.claims.doubts import Caveat, doubts_of, worker_name
from harness.claims.recovery import NEEDS_CONSUMERS
from harness.claims.served import healed_from_ns
from harness.plan.fault_words import fault_words
from harness.plan.layouts.role_words import recorded_role_words
from harness.run_folder.manifest import Manifest
from harness.run_folder.replica_looks import ReplicaLook
from harness.run_folder.rows import ClientEvent, FaultEvent, Probe
from harness.view.costs import NOTHING_KEPT, UseOverTime, use_over_time
from harness.view.grouping import by_key
from harness.view.late_edges import LateFrom, late_from
from harness.view.message_traces import Records
from harness.view.naming import clients_of, lost_text, named_worker
from harness.view.routes import ATTACHED, Routes, beside_target
from harness.view.summary import NS, Out, outs, shortened
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.curves import slice_length_s
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.facts import Window as WindowFacts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures_of_runs import LONG_STALLS

NO_ROUTES = Routes()
EVENTS_MAX = 120
_FINE = ("connected", "attached", "attached elsewhere", "route", "answered again")
_CLIENT_WORDS = {"asked": "answered the broker's check of"}  # of a transaction
# Where clients find brokers through name servers, these events name a name server.
_OF_NAME_SERVERS = {"connected": "connected to name server", ATTACHED: "uses name server"}
_COUNTED = ("operations", "missed", "confirmed", "delivered")  # of each second, and of a slice
_QUIET = ("connecting", "closed", "consuming")  # events that say nothing when all is well


@dataclass(frozen=True, slots=True)
class Slice:
    """Some seconds of load. A latency is None where nothing was confirmed. `delivered`: each
    message once, at its first delivery."""

    from_s: int
    operations: int
    missed: int
    confirmed: int
    delivered: int
    p50_ms: float | None
    p99_ms: float | None
    late_from_s: float | None = None  # of what was due before, none was late; None: unknown


@dataclass(frozen=True, slots=True)
class Verification:
    """A verification from outside: when it ended, whether it proved what it looked for.

    `began_ns` None: no probe says since when it looked.
    """

    at_ns: int
    ok: bool
    detail: str
    began_ns: int | None = None


@dataclass(frozen=True, slots=True)
class FaultSpan:
    """One fault window: what the scenario asks for, what was done, what was seen."""

    number: int
    kind: str
    target: str  # the scenario's word
    resolved: str  # the host that it meant
    role: str  # what that host was when the window opened
    mechanism: str
    requested_from_ns: int | None
    requested_until_ns: int | None
    issued_ns: int
    returned_ns: int
    ended_ns: int | None
    held: Verification | None
    gone: Verification | None
    verified: bool
    doubt: str
    stages: tuple[Stage, ...]
    stages_doubt: str  # why no time of its stages is judged; "" where they are
    options: tuple[str, ...] = ()  # what else the scenario says of it: `clients: consumers`
    clients: str = ""  # whose links or processes it affects
    returns: bool = True  # False: the scenario says that it never goes
    undo_issued_ns: int | None = None
    consumers_doubt: str = ""  # why the times of NEEDS_CONSUMERS are not judged
    beside: str = ""  # what else ran at its host
    healed_from_ns: int | None = None  # until then clients have time to reconnect

    def doubt_of(self, stage: str) -> str:
        """Return why the time of a stage is not judged; "" where it is."""
        of_consumers = self.consumers_doubt if stage in NEEDS_CONSUMERS else ""
        return self.stages_doubt or of_consumers

    @property
    def words(self) -> str:
        """Return `kill ref1`, `hang publishers' links to ref1`."""
        return self.describe(self.resolved)

    def describe(self, place: str) -> str:
        """Return what it does, at `place`."""
        return fault_words(self.kind, place, self.clients)

    @property
    def opened(self) -> bool:
        """Whether an action of it was issued, or tried; `doubt` says why not."""
        return bool(self.resolved) or self.returned_ns > self.issued_ns


@dataclass(frozen=True, slots=True)
class OperationSpan:
    """One operation of the schedule, and what became of it; `detail`: what was said, or why not.

    `began_ns` None: it never did. `returned_ns` None: unknown.
    """

    number: int
    kind: str
    target: str
    resolved: str
    requested_ns: int | None
    began_ns: int | None
    returned_ns: int | None
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Happening:
    """Something at one instant. `sort`: client, stall, probe, operation, process."""

    at_ns: int
    sort: str
    who: str
    text: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """So many affected messages of one measure within one slice."""

    measure: str
    from_s: int
    messages: int


@dataclass(frozen=True, slots=True)
class Timeline:
    from_s: int
    until_s: int
    slice_s: int
    phases: tuple[tuple[str, int], ...]  # name, when it began
    slices: tuple[Slice, ...]
    faults: tuple[FaultSpan, ...]
    happenings: tuple[Happening, ...]
    happenings_left_out: int
    marks: tuple[Mark, ...]
    operations: tuple[OperationSpan, ...] = ()
    routes: Routes = NO_ROUTES
    outs: tuple[Out, ...] = ()
    use: UseOverTime = NOTHING_KEPT
    looks: tuple[ReplicaLook, ...] = ()  # at the replicas of queues
    serving: str = "master"  # what the system calls a queue's serving replica
    loaded_ns: tuple[int, int] = (0, 0)  # begin and end of the load; (0, 0): unknown
    groups: int = 0  # consumer groups: a message counts as delivered when the first one gets it

    @property
    def delivered(self) -> str:
        """Return what a number of delivered messages is called."""
        return f"delivered (first of {self.groups} groups)" if self.groups > 1 else "delivered"


def timeline(
    manifest: Manifest,
    facts: Facts,
    findings: Findings,
    events: Records,
    routes: Routes = NO_ROUTES,
) -> Timeline:
    slice_s = slice_length_s(row.second for row in findings.seconds)
    slices = _slices(findings, slice_s, late_from(facts, findings))
    faults = tuple(_fault(window, manifest, facts, findings, events) for window in facts.windows)
    seen = _happenings(facts, findings, events, manifest.worker_names)
    happenings = sorted((*seen, *_verified(faults, events.probes)), key=lambda one: one.at_ns)
    ends_s = [one.from_s + slice_s for one in slices] + [-(-facts.load_ended_ns // NS)]
    if "drain" in manifest.phases_ns:  # it is there, also where nothing was left to be drained
        ends_s.append(manifest.phases_ns["drain"] // NS + 1)
    return Timeline(
        from_s=min([one.from_s for one in slices] + [facts.load_started_ns // NS]),
        until_s=max(ends_s),
        slice_s=slice_s,
        phases=tuple(sorted(manifest.phases_ns.items(), key=lambda phase: phase[1])),
        slices=slices,
        faults=faults,
        happenings=tuple(happenings[:EVENTS_MAX]),
        happenings_left_out=max(0, len(happenings) - EVENTS_MAX),
        marks=_marks(findings, slice_s),
        operations=tuple(_operations(manifest, facts)),
        routes=routes,
        outs=shortened(outs(facts, findings.outages), doubts_of(findings.doubts, facts)),
        use=use_over_time(events.samples, slice_s),
        looks=tuple(events.looks),
        serving=recorded_role_words(manifest.state).serving,
        loaded_ns=(facts.load_started_ns, facts.load_ended_ns),
        groups=len(facts.consumer_groups),
    )


def _operations(manifest: Manifest, facts: Facts) -> Iterable[OperationSpan]:
    at_s = {step["number"]: step["at_s"] for step in manifest.schedule.get("steps", [])}
    for one in manifest.operations:
        planned_s = at_s.get(one.number)
        yield OperationSpan(
            *(one.number, one.kind, one.target, one.resolved),
            None if planned_s is None else facts.load_started_ns + round(planned_s * NS),
            *(one.began_ns, one.returned_ns, one.ok, one.detail),
        )


def _slices(findings: Findings, slice_s: int, edge: LateFrom) -> tuple[Slice, ...]:
    by_number = by_key(findings.seconds, lambda one: one.second // slice_s)
    latencies = {row.second: row for row in findings.latencies}
    slices = []
    for number in range(min(by_number, default=0), max(by_number, default=-1) + 1):
        own, latency = by_number.get(number, []), latencies.get(number * slice_s)
        counts = {name: sum(getattr(one, name) for one in own) for name in _COUNTED}
        slices.append(
            Slice(
                from_s=number * slice_s,
                **counts,
                p50_ms=latency.p50_ns / 1e6 if latency else None,
                p99_ms=latency.p99_ns / 1e6 if latency else None,
                late_from_s=edge(number * slice_s, slice_s),
            )
        )
    return tuple(slices)


def _fault(
    window: WindowFacts, manifest: Manifest, facts: Facts, findings: Findings, events: Records
) -> FaultSpan:
    own = [event for event in events.faults if event.window == window.number]
    windows = manifest.schedule.get("windows", [])
    planned: dict[str, Any] = next((one for one in windows if one["number"] == window.number), {})
    fault, recorded = planned.get("fault", {}), own[0] if own else None
    from_ns = until_ns = None
    if planned:
        from_ns = facts.load_started_ns + round(planned["opens_s"] * NS)
        until_ns = from_ns + round(planned["lasts_s"] * NS)
    doubts = doubts_of(findings.doubts, facts)
    target = recorded.target if recorded else fault.get("target", "")
    place = recorded.resolved if recorded else ""
    return FaultSpan(
        number=window.number,
        kind=window.kind,
        target=target,
        resolved=place,
        beside=beside_target(manifest.state, window.number, window.kind, target, place),
        role=recorded.role if recorded else "",
        mechanism=recorded.mechanism if recorded else "",
        requested_from_ns=from_ns,
        requested_until_ns=until_ns,
        issued_ns=window.origin_ns,
        returned_ns=window.returned_ns,
        ended_ns=window.ended_ns,
        held=_look(own, events.probes, "verified"),
        gone=_look(own, events.probes, "gone"),
        verified=window.verified and window.gone,
        doubt=window.unverified_reason,
        stages=tuple(sorted(_stages(window.number, manifest, findings))),
        # About the whole run, or about what publishers saw in this window.
        stages_doubt=_sentence(doubts.run or doubts.availability(window.number)),
        consumers_doubt=_sentence(doubts.consumption(window.number)),
        options=_options(fault),
        clients=clients_of(fault),
        returns=fault.get("returns", True),
        undo_issued_ns=next((row.at_ns for row in own if row.event == "undo_issued"), None),
        healed_from_ns=healed_from_ns(findings, window.number),
    )


def _stages(number: int, manifest: Manifest, findings: Findings) -> Iterable[Stage]:
    """Yield the stages of a window, without those of consumers if the run had none."""
    alone = manifest.state.get("consumers") == 0
    for row in findings.stages:
        if row.window == number and not (alone and row.stage in NEEDS_CONSUMERS):
            yield row


def _options(fault: Mapping[str, Any]) -> tuple[str, ...]:
    """Those that do not say what goes without saying. They stand in `options`, or beside it."""
    options = {"clients": fault.get("clients", ""), **fault.get("options", {})}
    return tuple(
        f"{name.replace('_', ' ')}: {format(value, 'g') if isinstance(value, float) else value}"
        for name, value in options.items()
        if value and value != _UNSAID.get(name)
    )


# Options that a fault has whether a scenario names them or not, and which most kinds do not take.
_UNSAID = {"clients": "all", "direction": "both", "shape": "one", "resource": "memory"}


def _sentence(doubt: Caveat | None) -> str:
    return "" if doubt is None else doubt.sentence


def _look(own: Iterable[FaultEvent], probes: Iterable[Probe], event: str) -> Verification | None:
    row = next((row for row in own if row.event == event), None)
    if row is None:
        return None
    # The probe that proved it is written down with the same end.
    named = (one for one in probes if one.kind == event and one.ended_ns == row.at_ns)
    began_ns = next((one.started_ns for one in named), None)
    return Verification(row.at_ns, bool(row.ok), row.detail, began_ns)


def _happenings(
    facts: Facts, findings: Findings, events: Records, names: Mapping[int, str]
) -> Iterable[Happening]:
    """`names`: of all workers, by number."""
    for end in facts.process_ends:
        yield Happening(end.at_ns, "process", end.place, f"ended: {end.detail}", False)
    for client in events.clients:
        if client.kind not in _QUIET:
            who, text = named_worker(client.worker, facts, names), _client_text(client, events)
            yield Happening(client.at_ns, "client", who, text, client.kind in _FINE)
    # A stall that touches two windows is a doubt in each.
    stalls = (doubt for doubt in findings.doubts if doubt.reason in LONG_STALLS)
    for worker, at_ns, late_ns in {(one.worker, one.at_ns, one.late_ns) for one in stalls}:
        text = f"stalled {late_ns / 1e6:,.0f} ms: the instrument, not the broker"
        yield Happening(at_ns, "stall", worker_name(worker, facts), text, False)
    for operation in events.operations:
        text = f"{operation.kind} {operation.target} {operation.detail}".strip()
        yield Happening(operation.at_ns, "operation", operation.resolved, text, bool(operation.ok))


def _client_text(client: ClientEvent, events: Records) -> str:
    if client.kind == "lost":  # "lost no confirm" would be no good news
        return lost_text(client.detail)
    words = _CLIENT_WORDS | (_OF_NAME_SERVERS if events.by_name_servers else {})
    if client.kind == ATTACHED and not client.detail:
        return "it is not known which name server it uses"
    return f"{words.get(client.kind, client.kind)} {client.detail}".strip()


def _verified(faults: Iterable[FaultSpan], probes: Iterable[Probe]) -> Iterable[Happening]:
    """Yield each probe that proves a fault, or its end, with the fault that it is of."""
    whose: dict[tuple[str, int], str] = {}
    for fault in faults:
        for kind, proof in (("verified", fault.held), ("gone", fault.gone)):
            if proof is not None:
                whose[kind, proof.at_ns] = f"fault {fault.number} ({fault.words})"
    for probe in probes:
        who = whose.get((probe.kind, probe.ended_ns), probe.target)
        found = _LOOKED[probe.kind] if probe.ok else f"not {_LOOKED[probe.kind]}"
        text = f"{found}; {probe.detail or 'no detail was recorded'}"
        yield Happening(probe.ended_ns, "probe", who, text, bool(probe.ok))


# Kinds of probes that prove a fault; what probers see all the time tells of itself by its changes.
_LOOKED = {"verified": "verified active", "gone": "verified ended"}
PROOFS = tuple(_LOOKED)


def _marks(findings: Findings, slice_s: int) -> tuple[Mark, ...]:
    found: Counter[tuple[str, int]] = Counter()
    for row in findings.marks:
        found[row.measure, row.second // slice_s * slice_s] += row.cases
    return tuple(Mark(*key, number) for key, number in sorted(found.items()))
