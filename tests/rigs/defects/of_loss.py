"""Defects that lose messages, or keep them where no client looks."""

from random import Random

from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.rigs.defects.chosen import few, names, plain
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.runs import MS, Message, Row, Run, S, changed, message, moved

LOST = ("confirmed-is-delivered",)
_AUDITOR = 91


def _without(run: Run, lost: set[Message]) -> Run:
    kept = (row for row in run.table("deliveries") if message(row) not in lost)
    return run.having(deliveries=kept)


def _lose(run: Run, random: Random) -> Run | None:
    return _without(run, names(few(plain(run), random)))


def _drop_queue(run: Run, random: Random) -> Run | None:
    queues = sorted({row["queue"] for row in run.of_load()})
    if not queues:
        return None
    queue, from_ns = random.choice(queues), random.uniform(0.1, 0.8) * run.facts.load_ended_ns
    lost = {
        message(row)
        for row in run.table("attempts")
        if row["queue"] == queue and row["sent_ns"] >= from_ns
    }
    return _without(run, lost)


def _strand(run: Run, random: Random) -> Run | None:
    stranded = names(few(plain(run), random))
    at_ns = run.facts.load_ended_ns + 20 * S

    def audited(row: Row) -> Row:
        if message(row) not in stranded:
            return row
        return moved(row, at_ns, acked_ns=None, via=int(Via.AUDIT), consumer=_AUDITOR)

    return run.having(deliveries=changed(run.table("deliveries"), audited))


def _confirm_without_storing(run: Run, random: Random) -> Run | None:
    """Confirm unsettled publishes at once, and never store them."""
    settled = {(*message(row), row["attempt"]) for row in run.table("settlements")}
    given = names(run.table("deliveries"))
    empty = [
        row
        for row in run.table("attempts")
        if row["sent_ns"] >= 0
        and (*message(row), row["attempt"]) not in settled
        and message(row) not in given
    ]
    if not empty:
        return None
    (model, *_) = run.table("settlements")
    confirms = [
        _confirm(model, row) for row in random.sample(empty, random.randint(1, len(empty)))
    ]
    return run.having(settlements=[*run.table("settlements"), *confirms])


def _confirm(model: Row, attempt: Row) -> Row:
    named = {name: attempt[name] for name in ("producer", "sequence", "attempt", "connection")}
    return {**model, **named, "settled_ns": attempt["sent_ns"] + 3 * MS}


def _lose_copy(run: Run, random: Random) -> Run | None:
    confirmed = {
        (*message(row), row["attempt"])
        for row in run.table("settlements")
        if row["outcome"] == Outcome.CONFIRMED
    }
    retried = {it[:2] for it in confirmed if it[2] > 1}
    first = [it for it in run.of_load() if message(it) in retried and it["attempt"] == 1]
    first = [it for it in first if (*message(it), 1) in confirmed]
    if not first:
        return None
    lost = names(random.sample(first, random.randint(1, len(first))))

    def kept(row: Row) -> Row | None:
        return None if row["attempt"] == 1 and message(row) in lost else row

    return run.having(deliveries=changed(run.table("deliveries"), kept))


def _forget_unacknowledged(run: Run, random: Random) -> Run | None:
    again = [row for row in run.of_load() if row["redelivered"] == Redelivered.YES]
    held = {
        message(row)
        for row in run.of_load()
        if row["acked_ns"] is None and row["redelivered"] != Redelivered.YES
    }
    again = [row for row in again if message(row) in held]
    if not again or run.is_log:
        return None
    lost = names(random.sample(again, random.randint(1, len(again))))

    def kept(row: Row) -> Row | None:
        flagged = row["redelivered"] == Redelivered.YES
        return None if flagged and message(row) in lost else row

    return run.having(deliveries=changed(run.table("deliveries"), kept))


DEFECTS = (
    Defect("lose confirmed messages", "loses 1 to 20 confirmed messages", LOST, _lose),
    Defect("drop a queue", "loses all messages of one queue from some time on", LOST, _drop_queue),
    Defect(
        "strand messages", "keeps confirmed messages where only the audit looks", LOST, _strand
    ),
    Defect(
        "confirm without storing",
        "confirms messages during the outage, and stores none of them",
        LOST,
        _confirm_without_storing,
    ),
    Defect(
        "lose one copy",
        "loses a confirmed attempt whose message was sent again",
        ("confirmed-copy-is-kept",),
        _lose_copy,
    ),
    Defect(
        "forget unacknowledged messages",
        "does not redeliver what the ended connection held",
        ("unacknowledged-is-redelivered",),
        _forget_unacknowledged,
    ),
)
