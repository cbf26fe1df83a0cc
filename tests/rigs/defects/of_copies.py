"""Defects that deliver a message more often than the broker may."""

from random import Random

from spark_analysis.schema.words import Redelivered
from tests.rigs.defects.chosen import few, names, plain
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.runs import MS, Row, Run, S, changed, message, moved

AGAIN = ("acknowledged-is-not-redelivered",)


def _acknowledged(run: Run, until_ns: int, after_ns: int) -> list[Row]:
    """Return what was acknowledged, on a connection that lived on, long enough before a time."""
    return [
        row
        for row in plain(run)
        if row["acked_ns"] is not None
        and row["acked_ns"] + after_ns < until_ns
        and row["acked_ns"] + after_ns < run.lost_after(row["consumer"], row["connection"])
    ]


def _forget_acknowledgements(run: Run, random: Random) -> Run | None:
    """Acknowledged messages come again on the same connection, before any fault."""
    if run.is_log:
        return None
    after_ns = random.randint(1_100, 4_000) * MS
    again = [
        moved(row, row["acked_ns"] + after_ns, redelivered=int(Redelivered.YES))
        for row in few(_acknowledged(run, run.calm_ends, after_ns + 10 * MS), random)
    ]
    return run.having(deliveries=[*run.table("deliveries"), *again])


def _forget_at_failover(run: Run, random: Random) -> Run | None:
    """The new master gives out what its dead one knew to be acknowledged."""
    if run.is_log or not run.facts.windows:
        return None
    later = [row for row in run.of_load() if row["received_ns"] > run.calm_ends + S]
    if not later:
        return None
    new, flag = later[0], random.choice((Redelivered.YES, Redelivered.NO))
    again = [
        moved(
            row,
            new["received_ns"] + 5 * MS + index,
            redelivered=int(flag),
            consumer=new["consumer"],
            connection=new["connection"],
        )
        for index, row in enumerate(few(_acknowledged(run, run.calm_ends, 1_100 * MS), random))
    ]
    return run.having(deliveries=[*run.table("deliveries"), *again])


def _forget_under_the_fault(run: Run, random: Random) -> Run | None:
    """What was acknowledged well within a fault comes again, while the fault is in force."""
    if run.is_log or not run.facts.windows:
        return None
    from_ns, until = run.calm_ends + 5 * S, run.undone - 6 * S
    found = [row for row in plain(run) if from_ns < row["received_ns"] < until]
    found = [row for row in found if row["acked_ns"] is not None]
    if not found:
        return None
    again = [
        moved(
            row,
            row["acked_ns"] + random.randint(2_000, 5_000) * MS,
            redelivered=int(Redelivered.YES),
        )
        for row in few(found, random)
    ]
    return run.having(deliveries=[*run.table("deliveries"), *again])


def _roll_back_offsets(run: Run, random: Random) -> Run | None:
    """A group of a log reads again what its progress had passed long before."""
    if not run.is_log:
        return None
    after_ns = random.randint(6_500, 9_000) * MS
    again = [
        moved(row, row["acked_ns"] + after_ns)
        for row in few(_acknowledged(run, run.calm_ends, after_ns + 10 * MS), random)
    ]
    return run.having(deliveries=[*run.table("deliveries"), *again])


def _store_twice(run: Run, random: Random) -> Run | None:
    after_ns = random.randint(1, 900) * MS
    tail = max((row["offset"] for row in run.table("deliveries")), default=0)
    copies = [
        moved(row, row["received_ns"] + after_ns)
        for row in few(_acknowledged(run, run.calm_ends, after_ns + 10 * MS), random)
    ]
    if run.is_log:
        copies = [{**row, "offset": tail + 1 + i} for i, row in enumerate(copies)]
    return run.having(deliveries=[*run.table("deliveries"), *copies])


def _redeliver_without_cause(run: Run, random: Random) -> Run | None:
    if run.is_log:
        return None
    after_ns = random.randint(1, 900) * MS
    chosen = few(_acknowledged(run, run.calm_ends, after_ns + 10 * MS), random)
    again = [
        moved(row, row["received_ns"] + after_ns, redelivered=int(Redelivered.YES))
        for row in chosen
    ]
    held = names(chosen)

    def late(row: Row) -> Row:
        return {**row, "acked_ns": row["acked_ns"] + after_ns} if message(row) in held else row

    return run.having(deliveries=[*changed(run.table("deliveries"), late), *again])


DEFECTS = (
    Defect(
        "forget acknowledgements",
        "redelivers acknowledged messages 1.1 to 4 s later on a living connection",
        AGAIN,
        _forget_acknowledgements,
    ),
    Defect(
        "forget acknowledgements at the failover",
        "redelivers after the fault what was acknowledged at least 1.1 s before it",
        AGAIN,
        _forget_at_failover,
    ),
    Defect(
        "forget acknowledgements under the fault",
        "redelivers, 2 to 5 s later, what was acknowledged at least 5 s after the fault began",
        AGAIN,
        _forget_under_the_fault,
        reasons=("events overlap, so the cause is not decided",),
    ),
    Defect(
        "roll offsets back",
        "lets a group read again what its progress had passed 6.5 to 9 s before",
        AGAIN,
        _roll_back_offsets,
    ),
    Defect("store twice", "delivers unflagged second copies", ("one-copy",), _store_twice),
    Defect(
        "redeliver without cause",
        "redelivers flagged copies to the connection that holds the message",
        ("held-is-not-redelivered",),
        _redeliver_without_cause,
    ),
)
