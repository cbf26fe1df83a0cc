"""Terms for generated runs: delays, transactions, halves, clocks, and when queues were quiet.

1. Thrown with a die of their own: the runs that have none are what they were without this module.
2. Times that decide lie at the edge often: a delivery just as early as the doubt, a queue that is
   quiet just when a wait is over.
"""

from dataclasses import replace
from random import Random

from spark_analysis.schema.facts import Clock, Facts
from spark_analysis.schema.words import NEVER_SENT, NO_DUE, Fate, Outcome
from tests.rigs.generated.facts import CONSUMERS, MS, PUBLISHERS, SECOND
from tests.rigs.histories.ways import Via

Row = dict[str, int | str | None]
Rows = dict[str, list[Row]]
Try = tuple[int, int, int]  # producer, sequence, attempt

SORTS = (None, None, None, None, "delays", "transactions", "transactions", "both")
FATES = (Fate.COMMIT,) * 5 + (Fate.COMMIT_WHEN_CHECKED, Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED)


def with_terms(facts: Facts, rows: Rows, seed: int) -> Facts:
    """Adds terms to `rows`, or nothing; the facts that go with them."""
    die = Random(f"terms of {seed}")
    sort = die.choice(SORTS)
    if sort is None:
        return facts
    workers = (*PUBLISHERS, *CONSUMERS, 99)
    clocks = tuple(
        Clock(worker, die.choice([1, MS, 400 * MS, 3 * SECOND]))
        for worker in workers
        if die.random() < 0.2
    )
    bounds_ns = {clock.worker: clock.bound_ns for clock in clocks}
    _Terms(rows, die, bounds_ns).add(delays=sort != "transactions", fates=sort != "delays")
    if sort != "delays":
        _find_halves(rows, die)
    queues = tuple(replace(end, quiet_ns=_quiet_ns(facts, rows, die)) for end in facts.queues)
    facts = replace(facts, clocks=clocks, queues=queues)
    return facts if sort == "delays" else _asking(facts, rows, seed)


def _asking(facts: Facts, rows: Rows, seed: int) -> Facts:
    """Brokers ask within some time, or the time is unknown: with a die of its own. Often a
    transaction falls due just as its queue is quiet, its producer goes, or unrest is over."""
    die = Random(f"questions of {seed}")
    confirmed_ns = [
        _int(row, "settled_ns")
        for row in rows.get("settlements", ())
        if row["outcome"] == Outcome.CONFIRMED
    ]
    edges_ns = [at_ns for end in facts.queues if (at_ns := end.quiet_ns) is not None]
    edges_ns += [each.origin_ns for each in facts.unsettled]
    edges_ns += [absence.from_ns for absence in facts.absences]
    edges_ns += [_int(row, "at_ns") for row in rows.get("client_events", ())]
    within_ns = die.choice([None, 0, MS, 100 * MS, SECOND])
    if within_ns is not None and confirmed_ns and edges_ns and die.random() < 0.5:
        late_ns = die.choice(edges_ns) + die.choice([-1, 0, 1]) - die.choice(confirmed_ns)
        within_ns = max(0, late_ns)
    return replace(facts, checks_within_ns=within_ns)


class _Terms:
    """The table in the making."""

    def __init__(self, rows: Rows, die: Random, bounds_ns: dict[int, int]) -> None:
        self._rows = rows
        self._die = die
        self._bounds_ns = bounds_ns
        self._received: dict[Try, list[Row]] = {}
        for row in rows.get("deliveries", ()):
            self._received.setdefault(_try(row), []).append(row)

    def add(self, *, delays: bool, fates: bool) -> None:
        drawn: dict[tuple[int, int], Fate] = {}
        for row in self._rows.get("attempts", ()):
            name = _try(row)
            fate = drawn.setdefault(name[:2], self._die.choice(FATES) if fates else Fate.NONE)
            due_ns = self._due_ns(row) if delays and self._die.random() < 0.8 else NO_DUE
            if name[0] < 0 or self._die.random() < 0.15 or (due_ns == NO_DUE and not fate):
                continue
            producer, sequence, attempt = name
            self._rows.setdefault("terms", []).append(
                {
                    "producer": producer,
                    "sequence": sequence,
                    "attempt": attempt,
                    "due_ns": due_ns,
                    "fate": int(fate),
                }
            )

    def _due_ns(self, row: Row) -> int:
        sent_ns = _int(row, "sent_ns")
        received = self._received.get(_try(row), [])
        if sent_ns == NEVER_SENT or not received or self._die.random() < 0.3:
            return max(sent_ns, 0) + self._die.choice([0, MS, SECOND, 5 * SECOND, 60 * SECOND])
        delivery = self._die.choice(received)
        at_ns = _int(delivery, "received_ns")
        doubt_ns = max(0, at_ns - sent_ns) // 1_000 + MS
        for worker in (row["producer"], delivery["consumer"]):
            doubt_ns += self._bounds_ns.get(worker, 0) if isinstance(worker, int) else 0
        early_ns = self._die.choice([-SECOND, 0, 1, doubt_ns, doubt_ns + 1, 2 * doubt_ns])
        return max(0, at_ns + early_ns + self._die.choice([0, 0, -1, 1]))


def _find_halves(rows: Rows, die: Random) -> None:
    """Most finds are halves, and of some messages nothing else ever came."""
    halved: dict[tuple[int, int], bool] = {}
    for row in rows.get("deliveries", ()):
        only = halved.setdefault(_try(row)[:2], die.random() < 0.25)
        if only or (row["via"] == Via.AUDIT and die.random() < 0.7):
            row["via"] = int(Via.HALF)


def _quiet_ns(facts: Facts, rows: Rows, die: Random) -> int | None:
    """Some time after the load, or just as a wait is over."""
    if die.random() < 0.15:
        return None
    due_ns = {_try(row): _int(row, "due_ns") for row in rows.get("terms", ())}
    sent_ns = {_try(row): _int(row, "sent_ns") for row in rows.get("attempts", ())}
    over_ns = [
        _int(row, "settled_ns")
        + (wait_ns := max(0, due_ns[_try(row)] - sent_ns[_try(row)]))
        + wait_ns // 1_000
        + MS
        for row in rows.get("settlements", ())
        if row["outcome"] == Outcome.CONFIRMED and due_ns.get(_try(row), NO_DUE) != NO_DUE
    ]
    if over_ns and die.random() < 0.5:
        return die.choice(over_ns) + die.choice([-1, 0, 0, 1])
    return facts.load_ended_ns + die.choice([0, 5 * SECOND, 100 * SECOND])


def _try(row: Row) -> Try:
    return _int(row, "producer"), _int(row, "sequence"), _int(row, "attempt")


def _int(row: Row, column: str) -> int:
    value = row[column]
    assert isinstance(value, int)
    return value
