"""More traffic, queues and publishers, all healthy; an unverified fault later."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.plan.fault_properties import properties_of
from spark_analysis.schema.facts import QueueEnd, Window, Worker
from spark_analysis.schema.words import NO_INTENT, NO_OFFSET, Outcome, Strength, Via
from tests.rigs.defects.harmless import is_time
from tests.rigs.defects.runs import MS, Row, Run, S
from tests.rigs.histories.claim_names import FIFO
from tests.rigs.relations.relation import Relation, in_doubt, kept, with_facts

_QUEUE, _PUBLISHER, _CONSUMER = "a-queue-beside", 501, 502
_EVERY_NS, _LONGER_NS, _MUCH_LONGER_NS = 100 * MS, 20 * S, 60 * S


def a_queue_beside(run: Run, _: Random) -> Run | None:
    """A second queue with its own clients is healthy all the time."""
    facts = run.facts
    if facts.consumer_groups or not any(it.role == "consumer" for it in facts.workers):
        return None
    clients = Worker(_PUBLISHER, "publisher", True), Worker(_CONSUMER, "consumer", True)
    new = with_facts(
        run,
        workers=(*facts.workers, *clients),
        queues=(*facts.queues, QueueEnd(_QUEUE, True, True, "", ())),
    )
    start = {
        "worker": _CONSUMER,
        "at_ns": facts.load_started_ns + MS,
        "kind": "consuming",
        "connection": 1,
        "queue": _QUEUE,
        "detail": None,
    }
    new = new.having(client_events=[*run.table("client_events"), start])
    consumers = run.declared.get("consumers")
    if isinstance(consumers, int):
        new = replace(new, declared={**new.declared, "consumers": consumers + 1})
    client = {"queue": _QUEUE, "producer": _PUBLISHER, "consumer": _CONSUMER, "connection": 1}
    where = {**client, "publishes_on": 1, "broker": "a-place" if run.is_log else None}
    return _flow(new, where, facts.load_started_ns + 37 * MS, facts.load_ended_ns, 0)


def half_from_another_publisher(run: Run, _: Random) -> Run | None:
    """Every other message is another publisher's: what is ordered stays so for each of them."""
    publishers = {it.number: it for it in run.facts.workers if it.role == "publisher"}
    if run.facts.absences or not publishers:
        return None

    def moved(row: Row) -> Row:
        own = row["producer"] in publishers and row["sequence"] % 2
        return {**row, "producer": row["producer"] + 700} if own else row

    names = ("attempts", "settlements", "terms", "deliveries")
    new = run.having(**{name: [moved(it) for it in run.table(name)] for name in names})
    clocks = (it for it in run.facts.clocks if it.worker in publishers)
    others = (replace(it, number=number + 700) for number, it in publishers.items())
    return with_facts(
        new,
        workers=(*run.facts.workers, *others),
        clocks=(*run.facts.clocks, *(replace(it, worker=it.worker + 700) for it in clocks)),
    )


def a_longer_steady_state(run: Run, _: Random) -> Run | None:
    """The load begins earlier, and all is well for so long."""
    at_ns = run.facts.load_started_ns + 50 * MS
    return _longer(run, at_ns, _LONGER_NS, last=False)


def an_unverified_fault_later(run: Run, _: Random) -> Run | None:
    facts, number = run.facts, len(run.facts.windows) + 1
    new = _longer(run, facts.load_ended_ns, _MUCH_LONGER_NS, last=True)
    if new is None or not all(it.gone and it.ended_ns for it in facts.windows):
        return None
    at_ns = facts.load_ended_ns + 25 * S
    window = Window(
        number,
        "kill",
        origin_ns=at_ns,
        returned_ns=at_ns + 20 * MS,
        ended_ns=at_ns + 15 * S,
        verified=False,
        gone=True,
        unverified_reason="nothing showed it",
        over_ns=at_ns + 16 * S,
        properties=properties_of("kill"),
    )
    steps: list[Row] = [
        {"window": number, "event": "undo_issued", "at_ns": at_ns + 15 * S},
        {"window": number, "event": "gone", "at_ns": at_ns + 15 * S + 50 * MS},
    ]
    new = with_facts(new, windows=(*new.facts.windows, window))
    new = new.having(faults=[*new.table("faults"), *steps])
    return replace(new, declared={**new.declared, "faults": number})


def _longer(run: Run, at_ns: int, by_ns: int, *, last: bool) -> Run | None:
    """Let all times from then on be later, and fill the gap with what clients did last before it,
    or first after it."""
    flows = _flows(run, last)
    queues = {queue for queue, _ in flows}
    if run.facts.consumer_groups or run.is_log or not queues or queues != run.facts.sent_to:
        return None
    new = replace(
        run,
        facts=_later(run.facts, at_ns, by_ns),
        rows={
            name: [_later_row(it, at_ns, by_ns) for it in rows] for name, rows in run.rows.items()
        },
    )
    unused = 10_000 + max(it["sequence"] for it in run.table("attempts"))
    for place, where in enumerate(flows.values()):
        from_ns = at_ns + place * MS
        new = _flow(new, where, from_ns, at_ns + by_ns - 20 * MS, unused + 10_000 * place)
    return new


def _flows(run: Run, last: bool) -> Mapping[tuple[str, int], Row]:
    """Return the connections by which each publisher's messages of a queue came, the first ones
    or the last ones."""
    sent = {(it["producer"], it["sequence"], it["attempt"]): it for it in run.table("attempts")}
    found: dict[tuple[str, int], Row] = {}
    for row in sorted(run.of_load(), key=lambda it: it["received_ns"], reverse=last):
        attempt = sent.get((row["producer"], row["sequence"], row["attempt"]))
        if attempt is not None and attempt["queue"] == row["queue"]:
            where = {**row, "publishes_on": attempt["connection"]}
            found.setdefault((row["queue"], row["producer"]), where)
    return found


def _later_row(row: Row, at_ns: int, by_ns: int) -> Row:
    return {
        name: value + by_ns if is_time(name, value) and value >= at_ns else value
        for name, value in row.items()
    }


def _later(part: Any, at_ns: int, by_ns: int) -> Any:
    """Return facts, or a part of them, with all times from then on later."""
    changes: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if is_time(field.name, value) and value >= at_ns:
            changes[field.name] = value + by_ns
        elif isinstance(value, tuple):
            changes[field.name] = tuple(
                _later(it, at_ns, by_ns) if is_dataclass(it) else it for it in value
            )
    return replace(part, **changes)


def _flow(run: Run, where: Row, from_ns: int, until_ns: int, first: int) -> Run:
    """Add healthy messages. `where`: the clients, their connections, queue and place."""
    added: dict[str, list[Row]] = {"attempts": [], "settlements": [], "deliveries": []}
    for place, at_ns in enumerate(range(from_ns, until_ns, _EVERY_NS)):
        for name, row in _message(run, where, at_ns, first + place, place).items():
            added[name].append(row)
    declared = dict(run.declared)
    if isinstance(planned := declared.get("messages"), int):
        declared["messages"] = planned + len(added["attempts"])
    new = run.having(**{name: [*run.table(name), *rows] for name, rows in added.items()})
    return replace(new, declared=declared)


def _message(run: Run, where: Row, at_ns: int, sequence: int, offset: int) -> dict[str, Row]:
    """Return the rows of a message that is confirmed, delivered and acknowledged at once."""
    facts, name = run.facts, {"producer": where["producer"], "sequence": sequence, "attempt": 1}
    acknowledges = run.declared.get("acknowledges") is not False
    own = where["queue"] == _QUEUE and where["broker"] is not None
    return {
        "attempts": {
            **name,
            "queue": where["queue"],
            "key": 0,
            "intended_ns": at_ns if facts.paced else NO_INTENT,
            "sent_ns": at_ns,
            "connection": where["publishes_on"],
            "tag": sequence,
            "body_bytes": 100,
        },
        "settlements": {
            **name,
            "settled_ns": at_ns + 5 * MS,
            "outcome": int(Outcome.CONFIRMED if facts.confirms else Outcome.UNCONFIRMED),
            "strength": _rank(run) if facts.confirms else 0,
            "raw": "ack",
            "connection": where["publishes_on"],
        },
        "deliveries": {
            **name,
            "consumer": where["consumer"],
            "key": 0,
            "received_ns": at_ns + 10 * MS,
            "sent_ns": at_ns,
            "queue": where["queue"],
            "broker": where["broker"],
            "offset": offset if own else NO_OFFSET,
            "redelivered": 0,
            "header_ok": 1,
            "payload_ok": 1,
            "run_ok": 1,
            "tag": 0,
            "via": int(Via.LOAD),
            "connection": where["connection"],
            "acked_ns": at_ns + 12 * MS if acknowledges else None,
        },
    }


def _rank(run: Run) -> int:
    confirmed = (it for it in run.table("settlements") if it["outcome"] == Outcome.CONFIRMED)
    return int(next((it["strength"] for it in confirmed), Strength.REPLICATED.rank))


def _kept_but_for_order(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    """Nothing orders the messages of two publishers."""
    return before.claim == FIFO or kept(before, after)


HEALTHY = (
    Relation(a_queue_beside, kept),
    Relation(half_from_another_publisher, _kept_but_for_order),
    Relation(a_longer_steady_state, kept),
    Relation(an_unverified_fault_later, in_doubt),
)
