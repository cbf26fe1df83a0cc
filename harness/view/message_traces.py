"""What happened to affected messages, event by event: pure, from the rows of those messages.

1. A journey is everything that was recorded of one message, in order of time, with the faults and
   the losses of its connections in between.
2. Who did it and where: the worker by its name, the host that its connection led to, and what that
   host was to the queue, where that was recorded. What was not recorded is not said.
3. A client that finds brokers through name servers records only the name server's host. The broker
   that an attempt was sent to is known from a delivery of it, or from the error that its client
   reported, and the audit says who has it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.claims.doubts import worker_name
from harness.claims.stories import message_name
from harness.run_folder import rows
from harness.run_folder.replica_looks import ReplicaLook
from harness.run_folder.rows import attempt_key
from harness.view.naming import (
    address_in,
    error_text,
    fault_of_plan,
    given_up,
    has_queue,
    log_text,
    lost_text,
    named_worker,
    not_accepted,
    queue_text,
)
from harness.view.overtaking import Neighbours, Overtaking, overtaking
from harness.view.readers import THE_DRAIN, acknowledgements, reader
from harness.view.trace_steps import MessageTrace, TraceStep, bounded
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.measures import BY_NAME
from spark_analysis.schema.messages import Affected
from spark_analysis.schema.ways import OWN_WAYS
from spark_analysis.schema.words import (
    NEVER_SENT,
    NO_DUE,
    Fate,
    Outcome,
    Redelivered,
    level_text,
)

BEFORE_NS = 1_000_000_000  # what a fault did so shortly before belongs to the story
LATE_NS = 10_000_000  # a sending that kept its time is not told twice
_ATTACHED = "attached"  # the client event that names the name server in use
_FATES = {
    Fate.COMMIT: "to be committed",
    Fate.ROLLBACK: "to be rolled back",
    Fate.COMMIT_WHEN_CHECKED: "to be committed when the broker checks",
    Fate.ROLLBACK_WHEN_CHECKED: "to be rolled back when the broker checks",
}
_FAULT_EVENTS = {
    "issued": "is being injected",
    "returned": "is injected",
    "verified": "is verified active",
    "undo_issued": "is being undone",
    "undo_returned": "is undone",
    "gone": "is verified ended",
}


@dataclass(frozen=True, slots=True)
class Records:
    """The raw rows that a page shows of one run: its small tables, and all rows of the messages
    that are shown. `unreadable`: why some are missing; "". `schedule`: of the manifest. `workers`:
    the names of all, by number. `by_name_servers`: clients find brokers through name servers.
    `not_accepted`: of the family of its client.

    `samples`: what hosts used; None where they are not kept. `neighbours`: of messages that came
    out of order.
    """

    faults: Sequence[rows.FaultEvent] = ()
    probes: Sequence[rows.Probe] = ()  # those that prove a fault
    operations: Sequence[rows.Operation] = ()
    clients: Sequence[rows.ClientEvent] = ()
    attempts: Sequence[rows.Attempt] = ()
    settlements: Sequence[rows.Settlement] = ()
    deliveries: Sequence[rows.Delivery] = ()
    acknowledgements: Sequence[rows.Acknowledgement] = ()
    terms: Sequence[rows.TermsRow] = ()
    samples: Sequence[rows.Resource] | None = None
    neighbours: Neighbours = field(default_factory=Neighbours)
    unreadable: str = ""
    schedule: Mapping[str, Any] = field(default_factory=dict)
    workers: Mapping[int, str] = field(default_factory=dict)
    by_name_servers: bool = False
    not_accepted: Mapping[str, str] = field(default_factory=dict)
    looks: Sequence[ReplicaLook] = ()  # at the replicas of queues
    replica_steps: Sequence[tuple[str, TraceStep]] = ()  # by queue: what brokers reported
    answers: Mapping[int, str] = field(default_factory=dict)  # about outages, by their begin


def trace(row: Affected, records: Records, facts: Facts) -> MessageTrace:
    """The story of one row of the mart `affected`."""
    places = _places(records)
    own = sorted(_own(row, records, facts, places), key=lambda step: step.at_ns)
    of_message = records.attempts, records.settlements, records.deliveries
    overtook = overtaking(row, *of_message, records.neighbours, facts)
    if own:
        around = [
            *([] if overtook is None else _overtaking_steps(overtook, records, facts)),
            *_around(row, records, facts, own[0].at_ns, own[-1].at_ns),
            *_after(row, records, own[0].at_ns, own[-1].at_ns),
        ]
        # Of events at one instant, what the fault did comes first: it may be the cause.
        own = sorted([*around, *own], key=lambda step: step.at_ns)
        end = BY_NAME[row.measure].end
        own += [TraceStep(own[-1].at_ns, "end", end)] if end else []
    place = near(row.at_ns, facts)
    found = (row.measure, row.detail) == ("lost_indeterminate", "found")
    instant = BY_NAME["stranded" if found else row.measure].instant
    place = f"{instant} at +{row.at_ns / 1e9:.3f} s, {place}" if place else ""
    parts = (place, "" if overtook is None else overtook.sentence(facts))
    return MessageTrace(_message(row, facts), "; ".join(filter(None, parts)), bounded(own))


def _overtaking_steps(one: Overtaking, records: Records, facts: Facts) -> Iterator[TraceStep]:
    name = f"{message_name(one.sequence)} of the same key"
    place = f" to {queue_text(one.came.broker)}" if has_queue(one.came.broker) else ""
    yield TraceStep(one.sent_ns, "sent", f"{name} sent{place}", kept=True)
    text = f"{name}, sent later, delivered to {reader(one.came, facts, records.workers)}"
    yield TraceStep(one.came.received_ns, "delivered", text, kept=True)


def near(at_ns: int, facts: Facts) -> str:
    """`0.120 s after fault 1 (kill) began`: the place of an instant among the fault windows."""
    if at_ns < 0 or not facts.windows:
        return ""
    begun = [window for window in facts.windows if window.origin_ns <= at_ns]
    if not begun:
        first = facts.windows[0]
        before_s = (first.origin_ns - at_ns) / 1e9
        return f"{before_s:.3f} s before fault {first.number} ({first.kind})"
    last = begun[-1]
    name = f"fault {last.number} ({last.kind})"
    if last.ended_ns is None or at_ns < last.ended_ns:
        return f"during {name}, {(at_ns - last.origin_ns) / 1e9:.3f} s after it began"
    return f"{(at_ns - last.ended_ns) / 1e9:.3f} s after {name} was undone"


@dataclass(frozen=True, slots=True)
class _Places:
    """Where connections led. A worker records it as it dials: `HOST (before: ...)`."""

    hosts: Mapping[tuple[int, int], str]  # by worker and connection
    roles: Mapping[str, Sequence[str]]  # of hosts, when faults began
    attached: Sequence[rows.ClientEvent]  # which name server a client used, by time

    def of(self, worker: int, connection: int) -> str:
        """Return `rmq1 (master of orders when fault 1 began)`, or `connection 2`."""
        host = self.hosts.get((worker, connection), "")
        if not host:
            return f"connection {connection}"
        return f"{host} ({'; '.join(self.roles[host])})" if host in self.roles else host

    def name_server(self, worker: int, connection: int, at_ns: int) -> str:
        """Return ` (name server ns1)`, the one in use at that time; "" if it is not on record."""
        used = [one.detail for one in self.attached if one.worker == worker and one.at_ns <= at_ns]
        host = used[-1] if used else self.hosts.get((worker, connection), "")
        return f" (name server {host})" if host else ""


def _places(records: Records) -> _Places:
    hosts = {
        (event.worker, event.connection): event.detail.split(" ", 1)[0]
        for event in records.clients
        if event.kind == "connecting" and event.detail
    }
    issued = (event for event in records.faults if event.event == "issued" and event.role)
    roles: dict[str, list[str]] = {}
    for event in issued:
        text = f"{event.role.partition(' (')[0]} when fault {event.window} began"
        roles.setdefault(event.resolved, []).append(text)
    attached = [event for event in records.clients if event.kind == _ATTACHED]
    return _Places(hosts, roles, sorted(attached, key=lambda event: event.at_ns))


def _own(row: Affected, records: Records, facts: Facts, places: _Places) -> Iterator[TraceStep]:
    for attempt in records.attempts:
        if (attempt.producer, attempt.sequence) == (row.producer, row.sequence):
            yield from _attempt(attempt, records, facts, places)
    for settlement in records.settlements:
        if (settlement.producer, settlement.sequence) == (row.producer, row.sequence):
            text = _settlement(settlement, records, facts)
            confirms = settlement.outcome == Outcome.CONFIRMED
            yield TraceStep(settlement.settled_ns, "settled", text, kept=confirms)
    for delivery in records.deliveries:
        if _is_of(delivery, row, facts):
            counted = delivery.received_ns == row.at_ns
            text = _delivery(delivery, records, facts, places)
            yield TraceStep(delivery.received_ns, "delivered", text, counted or row.producer < 0)
            acks = records.acknowledgements
            yield from acknowledgements(delivery, row, acks, facts, records.workers)


def _is_of(delivery: rows.Delivery, row: Affected, facts: Facts) -> bool:
    """A broken header names no message: only the instant says which delivery it was. What another
    consumer group got is no part of the story."""
    if delivery.queue in facts.of_other_groups(row.queue):
        return False
    if row.producer < 0:
        return not delivery.header_ok and delivery.received_ns == row.at_ns
    return (delivery.producer, delivery.sequence) == (row.producer, row.sequence)


def _terms(attempt: rows.Attempt, records: Records) -> str:
    """Return what it was sent with beyond its body; "" for an ordinary message."""
    name = attempt_key(attempt)
    parts = []
    for terms in records.terms:
        if attempt_key(terms) == name:
            parts += [f"due at +{terms.due_ns / 1e9:.3f} s"] if terms.due_ns != NO_DUE else []
            parts += [_FATES[Fate(terms.fate)]] if terms.fate in _FATES else []
    return "".join(f", {words}" for words in parts)


def _attempt(
    attempt: rows.Attempt, records: Records, facts: Facts, places: _Places
) -> Iterator[TraceStep]:
    if attempt.sent_ns == NEVER_SENT:
        text = f"was due in {attempt.queue}; its deadline passed first, so it was never sent"
        yield TraceStep(attempt.intended_ns, "intended", text)
        return
    if 0 <= attempt.intended_ns < attempt.sent_ns - LATE_NS:
        yield TraceStep(attempt.intended_ns, "intended", f"was due in {attempt.queue}")
    link = attempt.producer, attempt.connection
    who, place = worker_name(attempt.producer, facts), f" to {places.of(*link)}"
    if records.by_name_servers:
        place = places.name_server(*link, attempt.sent_ns) + _broker_of(attempt, records, facts)
    text = f"attempt {attempt.attempt} sent by {who}{place}{_terms(attempt, records)}"
    yield TraceStep(attempt.sent_ns, "sent", text)


def _broker_of(attempt: rows.Attempt, records: Records, facts: Facts) -> str:
    """Return which broker got an attempt of a client that does not record it."""
    name, ways = attempt_key(attempt), facts.way_numbers
    found = [
        one
        for one in records.deliveries
        if attempt_key(one) == name and one.header_ok and one.run_ok and one.broker
    ]
    brokers = {one.broker.partition("/")[0] for one in found if one.via in ways.direct}
    if brokers:
        return f" to {' and '.join(sorted(brokers))} (known from its delivery)"
    hosts = {one.broker.partition(" ")[0] for one in found if one.via in ways.audit}
    if hosts:
        return f" to a broker (the audit found it on {' and '.join(sorted(hosts))})"
    own = (one for one in records.settlements if attempt_key(one) == name)
    address = next(filter(None, (address_in(one.raw) for one in own)), "")
    if address:
        return f" to {address} (known from the client's error)"
    return " to a broker that is not on record"


def _settlement(row: rows.Settlement, records: Records, facts: Facts) -> str:
    reported = error_text(row.raw)
    if row.outcome == Outcome.UNKNOWN:
        found = f"{given_up(reported)}; " if reported else ""
        return f"attempt {row.attempt}: {found}whether the broker has this attempt is unknown"
    # A number that a newer mqproof wrote stays a number.
    known = row.outcome in set(Outcome)
    outcome = Outcome(row.outcome).name.lower() if known else str(row.outcome)
    if row.outcome == Outcome.REFUSED:
        outcome = not_accepted(row.raw, records.not_accepted)
    label = facts.labels.get(row.strength, str(row.strength))
    strength = f" ({level_text(label)})" if row.strength else ""
    raw = f": the client reported “{reported}”" if reported else ""
    return f"attempt {row.attempt}: {outcome}{strength}{raw}"


def _delivery(row: rows.Delivery, records: Records, facts: Facts, places: _Places) -> str:
    texts = {way.number: way.text for way in (*OWN_WAYS, *facts.ways)}
    way = texts.get(row.via, "reached")
    way += f" {reader(row, facts, records.workers)}"
    source = _source(row, records, facts, places)
    parts = [f"attempt {row.attempt} {way}{source}"]
    if row.redelivered == Redelivered.YES:
        parts.append("flagged as redelivered")
    if row.broker and row.broker not in source and not records.by_name_servers:
        parts.append(f"served by {row.broker}")
    if row.offset >= 0:
        parts.append(f"offset {row.offset}")
    flaws = (
        (row.header_ok, "its header is broken"),
        (row.payload_ok, "its payload is broken"),
        (row.run_ok or not row.header_ok, "it is of another run"),
    )
    parts += [flaw for fine, flaw in flaws if not fine]
    return ", ".join(parts)


def _source(row: rows.Delivery, records: Records, facts: Facts, places: _Places) -> str:
    """Return where a delivery came from: ` through rmq1`, ` from broker-b, queue 0`."""
    link, is_find = (row.consumer, row.connection), row.via in facts.way_numbers.audit
    if row.broker and is_find:
        return f" from {log_text(row.broker) if records.by_name_servers else row.broker}"
    if not records.by_name_servers or is_find:
        return f" through {places.of(*link)}"
    if not row.broker:
        return places.name_server(*link, row.received_ns)
    return f" from {queue_text(row.broker)}"


def _around(
    row: Affected, records: Records, facts: Facts, from_ns: int, until_ns: int
) -> Iterator[TraceStep]:
    """What the faults did meanwhile, and what became of the connections that it went through."""
    for fault in records.faults:
        if fault.event in _FAULT_EVENTS and from_ns - BEFORE_NS <= fault.at_ns <= until_ns:
            failed = "" if fault.ok else f" (failed: {fault.detail})"
            yield _fault_step(fault, records, failed)
    # What a publisher lost with its connection, its settlements tell.
    used = {
        (one.consumer, one.connection): one
        for one in records.deliveries
        if _is_of(one, row, facts)
    }
    for event in records.clients:
        got, meanwhile = used.get((event.worker, event.connection)), until_ns
        # A consumer that closed may explain why a message came again, and nothing else.
        if event.kind == "closed" and row.measure == "duplicated":
            meanwhile = row.at_ns
        elif event.kind not in ("lost", "cancelled"):
            continue
        if got is not None and from_ns <= event.at_ns <= meanwhile:
            text = f"connection {event.kind} {event.detail}"
            text = lost_text(event.detail) if event.kind == "lost" else text
            by_drain = got.via in facts.way_numbers.drain
            who = THE_DRAIN if by_drain else named_worker(event.worker, facts, records.workers)
            yield TraceStep(event.at_ns, "connection", f"{who}: {text}".strip())


def _after(row: Affected, records: Records, sent_ns: int, from_ns: int) -> Iterator[TraceStep]:
    """Of a message that never arrived: the faults that came after its last event, and the replicas
    of its queue as brokers last reported them before it was sent, and since then."""
    if not BY_NAME[row.measure].end:
        return
    for fault in records.faults:
        if fault.event in ("issued", "undo_returned") and fault.at_ns > from_ns:
            yield _fault_step(fault, records)
    own = [step for queue, step in records.replica_steps if queue == row.queue]
    before = [step for step in own if step.at_ns <= sent_ns]
    yield from sorted(before, key=lambda step: step.at_ns)[-1:]
    yield from (step for step in own if step.at_ns > sent_ns)


def _fault_step(fault: rows.FaultEvent, records: Records, failed: str = "") -> TraceStep:
    words = fault_of_plan(records.schedule, fault.window, fault.kind, fault.resolved)
    known = fault.role.replace(" (", ", ").replace(")", "") if fault.event == "issued" else ""
    role = f" ({known})" if known else ""
    what = f"fault {fault.window}, {words}{role}, {_FAULT_EVENTS[fault.event]}"
    return TraceStep(fault.at_ns, "fault", f"{what}{failed}")


def _message(row: Affected, facts: Facts) -> str:
    place = f" in {row.queue}" if row.queue else ""
    if row.producer < 0:
        return f"a message that cannot be identified{place}"
    return f"{message_name(row.sequence)} of {worker_name(row.producer, facts)}{place}"
