"""Defects of order, and records of what cannot have happened."""

from collections.abc import Collection
from random import Random

from tests.rigs.defects.chosen import drained, few, given_later, names
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.runs import MS, Message, Row, Run, S, changed, message, moved

ORDER = ("queue-is-first-in-first-out",)
_IMPOSSIBLE = ("before it was sent: the records are wrong",)


def _ordered(run: Run) -> bool:
    """Say whether order is promised and nothing of it waits or is in a transaction."""
    return all(it.ordered for it in run.facts.queues) and not run.special() and not run.is_log


def _reorder(run: Run, random: Random) -> Run | None:
    """A message comes after those of the next 0.3 to 1 s, on the same connection."""
    if not _ordered(run):
        return None
    wait_ns = random.randint(300, 1_000) * MS
    fit = [
        row
        for row in run.of_load()
        if row["received_ns"] + wait_ns + S < min(run.calm_ends, 18 * S)
    ]
    chosen = names(few(fit, random))
    return given_later(
        run, lambda row: message(row) in chosen, lambda row: int(row["received_ns"]) + wait_ns
    )


def _reorder_across(run: Run, random: Random) -> Run | None:
    """Messages that the first consumer should have got come to the next one, after later ones."""
    consumers = sorted({row["consumer"] for row in run.of_load()})
    queues = {row["queue"] for row in run.of_load()}
    if len(consumers) < 2 or len(queues) > 1 or not _ordered(run):
        return None
    first, second = consumers
    ended = max(it["received_ns"] for it in run.of_load() if it["consumer"] == first)
    begins = min(it["received_ns"] for it in run.of_load() if it["consumer"] == second)
    fit = (
        row
        for row in run.of_load()
        if row["consumer"] == first and ended - 4 * S < row["received_ns"] < ended - S
    )
    chosen = names(few(fit, random))
    return _given_later_to(run, chosen, second, begins - 50 * MS, random)


def _given_later_to(
    run: Run, chosen: Collection[Message], consumer: int, from_ns: int, random: Random
) -> Run:
    def given(row: Row) -> Row:
        if message(row) not in chosen:
            return row
        at_ns = from_ns + random.randint(0, 2_000) * MS + row["sequence"]
        return moved(row, at_ns, consumer=consumer)

    return run.having(deliveries=changed(run.table("deliveries"), given))


def _drain_out_of_order(run: Run, random: Random) -> Run | None:
    """Messages that others passed are left to the drain."""
    if not _ordered(run):
        return None
    fit = (row for row in run.of_load() if row["received_ns"] < run.facts.load_ended_ns - 5 * S)
    chosen = names(few(fit, random))

    def given(row: Row) -> Row:
        return drained(run, row) if message(row) in chosen else row

    return run.having(deliveries=changed(run.table("deliveries"), given))


def _confirm_before_sending(run: Run, random: Random) -> Run | None:
    sent = {(*message(row), row["attempt"]): row["sent_ns"] for row in run.table("attempts")}
    chosen = names(few(run.table("settlements"), random))

    def foreseen(row: Row) -> Row:
        if message(row) not in chosen:
            return row
        before = sent[(*message(row), row["attempt"])] - random.randint(1, 500) * MS
        return {**row, "settled_ns": before}

    return run.having(settlements=changed(run.table("settlements"), foreseen))


def _deliver_before_sending(run: Run, random: Random) -> Run | None:
    sent = {(*message(row), row["attempt"]): row["sent_ns"] for row in run.table("attempts")}
    fit = [row for row in run.of_load() if row["received_ns"] > S]
    chosen = names(few(fit, random))
    return given_later(
        run,
        lambda row: message(row) in chosen,
        lambda row: sent[(*message(row), row["attempt"])] - random.randint(1, 500) * MS,
    )


DEFECTS = (
    Defect(
        "reorder",
        "delivers messages 0.3 to 1 s late, after later ones",
        ORDER,
        _reorder,
    ),
    Defect(
        "reorder across consumers",
        "gives the next consumer messages that were overtaken before",
        ORDER,
        _reorder_across,
    ),
    Defect(
        "reorder into the drain",
        "leaves messages that were overtaken to the drain",
        ORDER,
        _drain_out_of_order,
    ),
    Defect(
        "confirm before sending",
        "settles attempts 1 to 500 ms before they are sent",
        (),
        _confirm_before_sending,
        reasons=_IMPOSSIBLE,
    ),
    Defect(
        "deliver before sending",
        "delivers messages 1 to 500 ms before they are sent",
        (),
        _deliver_before_sending,
        reasons=_IMPOSSIBLE,
    ),
)
