"""Defects that deliver unsent or refused messages, or at a wrong time."""

from random import Random

from spark_analysis.schema.words import ROLLBACKS, Fate, Outcome
from tests.rigs.defects.chosen import few, names, plain
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.runs import MS, Row, Run, S, changed, message, moved
from tests.rigs.histories.ways import Via

_AUDITOR = 91


def _rewrite(run: Run, random: Random, **values: int) -> Run:
    chosen = names(few(plain(run), random))

    def rewritten(row: Row) -> Row:
        return {**row, **values} if message(row) in chosen else row

    return run.having(deliveries=changed(run.table("deliveries"), rewritten))


def _corrupt_payload(run: Run, random: Random) -> Run | None:
    return _rewrite(run, random, payload_ok=0)


def _corrupt_header(run: Run, random: Random) -> Run | None:
    nameless = {"header_ok": 0, "payload_ok": 0, "run_ok": 0, "key": 0, "sent_ns": 0}
    return _rewrite(run, random, producer=0, sequence=0, attempt=0, **nameless)


def _invent(run: Run, random: Random) -> Run | None:
    latest = max(row["sequence"] for row in run.table("attempts"))
    invented = [
        moved(row, row["received_ns"] + 1, sequence=latest + 1 + index)
        for index, row in enumerate(few(plain(run), random))
    ]
    return run.having(deliveries=[*run.table("deliveries"), *invented])


def _deliver_refused(run: Run, random: Random) -> Run | None:
    special = run.special()
    wrong = (Outcome.REFUSED, Outcome.RETURNED)
    refused = [row for row in run.table("settlements") if row["outcome"] in wrong]
    return _deliver_denied(run, random, [it for it in refused if message(it) not in special])


def _deliver_rolled_back(run: Run, random: Random) -> Run | None:
    fates = {message(row) for row in run.table("terms") if row["fate"] in ROLLBACKS}
    refused = [row for row in run.table("settlements") if row["outcome"] == Outcome.REFUSED]
    return _deliver_denied(run, random, [row for row in refused if message(row) in fates])


def _deliver_denied(run: Run, random: Random, denied: list[Row]) -> Run | None:
    """Deliver attempts that must not come, each just after the consumer got something else."""
    sent = {(*message(row), row["attempt"]): row for row in run.table("attempts")}
    models = {row["queue"]: row for row in run.of_load()}
    denied = [row for row in denied if sent[(*message(row), row["attempt"])]["queue"] in models]
    if not denied:
        return None
    came = []
    for row in few(denied, random):
        attempt = sent[(*message(row), row["attempt"])]
        named = {name: attempt[name] for name in ("producer", "sequence", "attempt", "sent_ns")}
        at_ns = row["settled_ns"] + random.randint(1, 2_000) * MS
        came.append({**moved(models[attempt["queue"]], at_ns), **named})
    return run.having(deliveries=[*run.table("deliveries"), *came])


def _tear(run: Run, random: Random) -> Run | None:
    committed = {message(row) for row in run.table("terms") if row["fate"] == Fate.COMMIT}
    torn = names(few((row for row in plain(run) if message(row) in committed), random))
    if not torn:
        return None
    at_ns = run.facts.load_ended_ns + 20 * S

    def half(row: Row) -> Row:
        if message(row) not in torn:
            return row
        return moved(row, at_ns, acked_ns=None, via=int(Via.HALF), consumer=_AUDITOR)

    return run.having(deliveries=changed(run.table("deliveries"), half))


def _misroute(run: Run, random: Random) -> Run | None:
    queues = {row["queue"]: row["consumer"] for row in run.of_load()}
    if len(queues) < 2:
        return None
    chosen = names(few(plain(run), random))

    def elsewhere(row: Row) -> Row:
        if message(row) not in chosen:
            return row
        queue = random.choice(sorted(queues.keys() - {row["queue"]}))
        return {**row, "queue": queue, "consumer": queues[queue]}

    return run.having(deliveries=changed(run.table("deliveries"), elsewhere))


def _early(run: Run, random: Random) -> Run | None:
    due = {message(row): row["due_ns"] for row in run.table("terms") if row["due_ns"] > 0}
    chosen = names(few((row for row in plain(run) if message(row) in due), random))
    if not chosen:
        return None
    confirmed = run.confirmed()

    def early(row: Row) -> Row:
        name = message(row)
        if name not in chosen:
            return row
        latest = due[name] - 100 * MS
        return moved(row, random.randint(confirmed[name] + MS, max(latest, confirmed[name] + MS)))

    return run.having(deliveries=changed(run.table("deliveries"), early))


def _overdue(run: Run, random: Random) -> Run | None:
    """Some, or all, delayed messages come late by 1.1 s to 4.5 s."""
    due = {message(row) for row in run.table("terms") if row["due_ns"] > 0}
    if not due:
        return None
    late_ns = random.randint(1_100, 4_500) * MS
    share = random.choice((0.05, 0.3, 1.0))
    chosen = {name for name in sorted(due) if random.random() < share} or {min(due)}

    def late(row: Row) -> Row:
        return moved(row, row["received_ns"] + late_ns) if message(row) in chosen else row

    return run.having(deliveries=changed(run.table("deliveries"), late))


DEFECTS = (
    Defect("corrupt payloads", "changes payloads", ("nothing-corrupt",), _corrupt_payload),
    Defect("corrupt headers", "destroys headers", ("nothing-corrupt",), _corrupt_header),
    Defect("invent messages", "delivers what was never sent", ("nothing-unexpected",), _invent),
    Defect(
        "deliver refused messages",
        "delivers what it refused",
        ("refused-stays-refused",),
        _deliver_refused,
    ),
    Defect(
        "deliver rolled-back messages",
        "delivers what was rolled back",
        ("rolled-back-stays-unseen",),
        _deliver_rolled_back,
    ),
    Defect(
        "tear transactions",
        "keeps the halves of committed transactions",
        ("no-transaction-torn",),
        _tear,
    ),
    Defect("misroute", "delivers messages in another queue", ("nothing-misrouted",), _misroute),
    Defect(
        "deliver delayed messages early",
        "delivers them 0.1 s or more before their time",
        ("nothing-early",),
        _early,
    ),
    Defect(
        "deliver delayed messages late",
        "delivers 5 %, 30 % or all of them 1.1 to 4.5 s late",
        ("nothing-overdue",),
        _overdue,
    ),
)
