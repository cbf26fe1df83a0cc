"""Facts that are unknown, and logs that end early."""

from dataclasses import replace
from random import Random
from typing import Any

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from spark_analysis.schema.facts import GONE_WITHIN_NS, Clock, ProcessEnd, Worker
from spark_analysis.schema.words import Redelivered
from tests.rigs.defects.runs import MS, Row, Run, S, changed
from tests.rigs.histories.claim_names import (
    ACKED,
    CORRUPT,
    EARLY,
    FIFO,
    HELD,
    MISROUTED,
    ONE_COPY,
    REFUSED,
    ROLLED_BACK,
    UNEXPECTED,
)
from tests.rigs.relations.relation import (
    PASS,
    Relation,
    some_time,
    weaker,
    with_facts,
    with_window,
    with_worker,
)

# What consumers recorded stays on record, whatever a publisher's log shows.
_OF_DELIVERIES = (
    *(ACKED, ONE_COPY, HELD, FIFO, MISROUTED),
    *(REFUSED, UNEXPECTED, CORRUPT, EARLY, ROLLED_BACK),
)


def not_verified(run: Run, random: Random) -> Run | None:
    windows = [it for it in run.facts.windows if it.verified]
    if not windows:
        return None
    return with_window(
        run, random.choice(windows), verified=False, unverified_reason="nothing showed it"
    )


def not_seen_to_be_gone(run: Run, random: Random) -> Run | None:
    windows = [it for it in run.facts.windows if it.gone]
    if not windows:
        return None
    one = random.choice(windows)
    rows = [
        it for it in run.table("faults") if (it["window"], it["event"]) != (one.number, "gone")
    ]
    unknown = {"gone": False, "over_ns": None, "unverified_reason": "it was not seen"}
    return with_window(run.having(faults=rows), one, **unknown)


def not_noted_when_it_was_gone(run: Run, random: Random) -> Run | None:
    """No record says when a fault was gone, which was soon after its undo."""
    rows, ended = run.table("faults"), {it.number: it.ended_ns for it in run.facts.windows}

    def soon(row: Row) -> bool:
        ended_ns = ended[row["window"]]
        return ended_ns is not None and 0 <= row["at_ns"] - ended_ns <= GONE_WITHIN_NS

    noted = sorted({it["window"] for it in rows if it["event"] == "gone" and soon(it)})
    if not noted:
        return None
    one = random.choice(noted)
    return run.having(faults=[it for it in rows if (it["window"], it["event"]) != (one, "gone")])


def a_publisher_died(run: Run, random: Random) -> Run | None:
    one = _closed(run, random, "publisher")
    return one and with_worker(run, one, log_closed=False)


def a_consumer_died(run: Run, random: Random) -> Run | None:
    one = _closed(run, random, "consumer")
    return one and with_worker(run, one, log_closed=False)


def a_publishers_log_ends_early(run: Run, random: Random) -> Run | None:
    one, at_ns = _closed(run, random, "publisher"), some_time(run, random)
    if one is None:
        return None
    own = [it for it in run.table("attempts") if it["producer"] == one.number]
    gone = {_attempt(it) for it in own if max(it["sent_ns"], it["intended_ns"]) > at_ns}
    attempts, settlements, terms = (
        [it for it in run.table(name) if _attempt(it) not in gone]
        for name in ("attempts", "settlements", "terms")
    )
    early = [it for it in settlements if it["producer"] != one.number or it["settled_ns"] <= at_ns]
    new = run.having(attempts=attempts, settlements=early, terms=terms)
    return with_worker(_without_events(new, one, at_ns), one, log_closed=False)


def a_consumers_log_ends_early(run: Run, random: Random) -> Run | None:
    one, at_ns = _closed(run, random, "consumer"), some_time(run, random)
    if one is None:
        return None

    def cut(row: Row) -> Row | None:
        if row["consumer"] != one.number:
            return row
        if row["received_ns"] > at_ns:
            return None
        late = row["acked_ns"] is not None and row["acked_ns"] > at_ns
        return {**row, "acked_ns": None} if late else row

    new = run.having(deliveries=changed(run.table("deliveries"), cut))
    return with_worker(_without_events(new, one, at_ns), one, log_closed=False)


def _closed(run: Run, random: Random, role: str) -> Worker | None:
    workers = [it for it in run.facts.workers if it.role == role and it.log_closed]
    return random.choice(workers) if workers else None


def _attempt(row: Row) -> tuple[Any, ...]:
    return row["producer"], row["sequence"], row["attempt"]


def _without_events(run: Run, worker: Worker, at_ns: int) -> Run:
    """Leave out what this worker saw of its client, and of itself, later than that."""
    kept = {
        name: [
            it for it in run.table(name) if it["worker"] != worker.number or it["at_ns"] <= at_ns
        ]
        for name in ("client_events", "lateness")
    }
    return run.having(**kept)


def not_drained(run: Run, random: Random) -> Run | None:
    return _queue(run, random, drained=False, undrained_reason="messages were left")


def a_place_is_unreadable(run: Run, random: Random) -> Run | None:
    return _queue(run, random, unreadable=("rmq9",))


def _queue(run: Run, random: Random, **values: Any) -> Run | None:
    if not run.facts.queues:
        return None
    one = random.choice(run.facts.queues)
    new = (replace(it, **values) if it is one else it for it in run.facts.queues)
    return with_facts(run, queues=tuple(new))


def processes_are_not_watched(run: Run, _: Random) -> Run:
    return with_facts(run, process_watch_lost="the engine answered nothing")


def the_machine_was_suspended(run: Run, _: Random) -> Run:
    return with_facts(run, clock_problem="the machine was suspended")


def a_process_ended_from_outside(run: Run, random: Random) -> Run:
    at_ns = some_time(run, random)
    end = ProcessEnd("rmq9", at_ns, "outside", "signal 9", at_ns + random.choice((1, 10)) * S)
    return with_facts(run, process_ends=(*run.facts.process_ends, end))


def one_fact_is_not_declared(run: Run, random: Random) -> Run:
    # A history without priorities, or of consumers that take no time, declares neither.
    names = [it for it in run.declared if it not in ("faults", "priorities", "processing_s")]
    gone = random.choice(names)
    return replace(run, declared={it: run.declared[it] for it in run.declared if it != gone})


def nothing_is_recorded_of_faults(run: Run, _: Random) -> Run | None:
    return replace(run, recorded={}) if run.recorded else None


def a_worker_stalls(run: Run, random: Random) -> Run | None:
    workers = [it.number for it in run.facts.workers if it.role in ("publisher", "consumer")]
    if not workers:
        return None
    late_ns = random.choice((120, 500, 2_000)) * MS
    row = {"worker": random.choice(workers), "at_ns": some_time(run, random), "late_ns": late_ns}
    return run.having(lateness=[*run.table("lateness"), row])


def clocks_are_apart(run: Run, random: Random) -> Run | None:
    if run.facts.clocks:
        return None
    bound_ns = random.choice((1, 10, 100, 1_000)) * MS
    return with_facts(run, clocks=tuple(Clock(it.number, bound_ns) for it in run.facts.workers))


def flags_are_not_reported(run: Run, _: Random) -> Run:
    unknown = int(Redelivered.NOT_REPORTED)
    rows = [{**it, "redelivered": unknown} for it in run.table("deliveries")]
    return run.having(deliveries=rows)


def without_client_events(run: Run, _: Random) -> Run | None:
    return run.having(client_events=[]) if run.table("client_events") else None


def _weaker_or_late(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    """An acknowledgement just before an end may have come too late for the broker."""
    late = before.claim in (ACKED, ONE_COPY) and after is PASS
    return late or weaker(before, after)


WEAKER = (
    Relation(a_process_ended_from_outside, _weaker_or_late),
    *(
        Relation(change, weaker)
        for change in (
            *(not_verified, not_seen_to_be_gone, not_noted_when_it_was_gone),
            *(a_publisher_died, a_consumer_died),
            *(a_consumers_log_ends_early, not_drained, a_place_is_unreadable),
            *(processes_are_not_watched, the_machine_was_suspended),
            *(one_fact_is_not_declared, nothing_is_recorded_of_faults, a_worker_stalls),
            *(clocks_are_apart, flags_are_not_reported, without_client_events),
        )
    ),
    Relation(a_publishers_log_ends_early, weaker, _OF_DELIVERIES),
)
