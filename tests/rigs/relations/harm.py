"""One more loss, copy, outage, or wait: the claim that it breaks does not pass.

1. A message is struck only if nothing else befell it: one attempt, one confirm, and one delivery.
2. Where a fault, an operation or the end of a process may excuse a harm, it is done elsewhere.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from spark_analysis.schema.facts import QueueEnd
from spark_analysis.schema.words import Outcome, Via
from tests.rigs.defects.runs import MS, Message, Row, Run, S, changed, message, moved
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    CORRUPT,
    DELIVERED,
    HELD,
    MISROUTED,
    ONE_COPY,
    REFUSED,
    STEADY,
    UNEXPECTED,
)
from tests.rigs.relations.relation import Relation, not_passed, with_facts

_WHOLE = ("header_ok", "payload_ok", "run_ok")


@dataclass(frozen=True, slots=True)
class _Victim:
    """A message of which the records say all, and nothing is wrong with it."""

    name: Message
    sent: Row
    came: Row


def _clean(run: Run) -> list[_Victim]:
    tables = ("attempts", "settlements", "deliveries")
    rows: dict[str, dict[Message, list[Row]]] = {name: defaultdict(list) for name in tables}
    for name in tables:
        for row in run.table(name):
            rows[name][message(row)].append(row)
    levels = {it["strength"] for it in run.table("settlements")} - {0}
    found = []
    for name in sorted(rows["attempts"].keys() - run.special()):
        each = [rows[table][name] for table in tables]
        if any(len(it) != 1 for it in each):
            continue
        (sent,), (settled,), (came,) = each
        confirmed = settled["outcome"] == Outcome.CONFIRMED
        in_turn = 0 <= sent["sent_ns"] < min(settled["settled_ns"], came["received_ns"])
        whole = came["via"] == Via.LOAD and all(came[it] for it in _WHOLE)
        if confirmed and in_turn and whole and settled["strength"] == max(levels):
            found.append(_Victim(name, sent, came))
    return found


def _victim(run: Run, random: Random) -> _Victim | None:
    found = _clean(run)
    return random.choice(found) if found else None


def _acknowledged(run: Run, random: Random, until_ns: int) -> _Victim | None:
    """Return an acknowledged message of a queue that nothing excuses for so long from then on."""
    found = [
        it
        for it in _clean(run)
        if it.came["acked_ns"] is not None
        and it.came["acked_ns"] >= it.came["received_ns"]
        and not _excused(run, it.came["received_ns"] - 2 * S, it.came["received_ns"] + until_ns)
    ]
    return random.choice(found) if found and not run.is_log else None


def _excused(run: Run, from_ns: int, until_ns: int) -> bool:
    facts = run.facts
    ends = {it["at_ns"] for it in run.table("client_events") if it["kind"] in ("lost", "closed")}
    times: list[tuple[int, int | None]] = [
        *((it.origin_ns, it.over_ns) for it in (*facts.unsettled, *facts.operations)),
        *((it.from_ns, it.until_ns) for it in facts.competing_leaders),
        *((it.from_ns, it.until_ns) for it in facts.absences),
        *((at_ns, at_ns) for at_ns in ends),
    ]
    return any(since <= until_ns and (to is None or to >= from_ns) for since, to in times)


def _with(run: Run, name: Message, change: Callable[[Row], list[Row]]) -> Run:
    rows = run.table("deliveries")
    return run.having(
        deliveries=[new for it in rows for new in (change(it) if message(it) == name else [it])]
    )


def lose_one(run: Run, random: Random) -> Run | None:
    one = _victim(run, random)
    return one and _with(run, one.name, lambda _: [])


def corrupt_one(run: Run, random: Random) -> Run | None:
    one = _victim(run, random)
    return one and _with(run, one.name, lambda it: [{**it, "payload_ok": 0}])


def invent_one(run: Run, random: Random) -> Run | None:
    one = _victim(run, random)
    if one is None:
        return None
    of_nobody = {"sequence": one.name[1] + 10**6, "received_ns": one.came["received_ns"] + MS}
    return _with(run, one.name, lambda it: [it, {**it, **of_nobody}])


def refuse_one(run: Run, random: Random) -> Run | None:
    one = _victim(run, random)
    if one is None:
        return None
    refused = {"outcome": int(Outcome.REFUSED), "strength": 0}
    rows = run.table("settlements")
    return run.having(
        settlements=[{**it, **refused} if message(it) == one.name else it for it in rows]
    )


def misroute_one(run: Run, random: Random) -> Run | None:
    one = _victim(run, random)
    if one is None or run.facts.consumer_groups:
        return None
    new = with_facts(run, queues=(*run.facts.queues, QueueEnd("elsewhere", False, True, "", ())))
    return _with(new, one.name, lambda it: [{**it, "queue": "elsewhere"}])


def store_one_twice(run: Run, random: Random) -> Run | None:
    one = _victim(run, random)
    if one is None or run.is_log:
        return None
    return _with(run, one.name, lambda it: [it, moved(it, it["received_ns"] + 3 * MS)])


def redeliver_an_acknowledged_one(run: Run, random: Random) -> Run | None:
    one = _acknowledged(run, random, 4 * S)
    if one is None:
        return None
    again_ns = one.came["acked_ns"] + 1_500 * MS
    return _with(run, one.name, lambda it: [it, moved(it, again_ns, redelivered=1)])


def redeliver_a_held_one(run: Run, random: Random) -> Run | None:
    one = _acknowledged(run, random, 2 * S)
    if one is None:
        return None
    again_ns = one.came["received_ns"] + 500 * MS
    held: dict[str, Any] = {"acked_ns": None}
    return _with(run, one.name, lambda it: [{**it, **held}, moved(it, again_ns, redelivered=1)])


def serve_nothing_before_a_fault(run: Run, random: Random) -> Run | None:
    facts, until_ns = run.facts, run.calm_ends - 7 * S
    from_ns = facts.load_started_ns + 10 * S
    if until_ns <= from_ns or not facts.paced or not facts.confirms:
        return None
    at_ns = random.randint(from_ns, until_ns)
    return _silent(run, at_ns, at_ns + 6 * S)


def serve_nothing_at_last(run: Run, _: Random) -> Run | None:
    until_ns = run.facts.load_ended_ns
    if _served_again_ns(run) > until_ns - 9 * S or not run.facts.paced:
        return None
    return _silent(run, until_ns - 7 * S, until_ns)


def _served_again_ns(run: Run) -> float:
    """Return since when clients have to be served again; infinite without a fault, or if a fault
    never ended."""
    facts = run.facts
    ends = [it.ended_ns for it in facts.windows]
    if not ends or None in ends:
        return float("inf")
    gone = (it["at_ns"] for it in run.table("faults"))
    known = max(*(it for it in ends if it is not None), *gone, 0)
    return int(known) + 5 * S + facts.deadline_ns + facts.reconnect_ns


def _silent(run: Run, from_ns: int, until_ns: int) -> Run:
    sent = (it for it in run.table("attempts"))
    names = {
        message(it) for it in sent if from_ns <= max(it["sent_ns"], it["intended_ns"]) < until_ns
    }

    def unanswered(row: Row) -> Row:
        unknown = {"outcome": int(Outcome.UNKNOWN), "strength": 0}
        return {**row, **unknown} if message(row) in names else row

    kept = [it for it in run.table("deliveries") if message(it) not in names]
    rows = changed(run.table("settlements"), unanswered)
    return run.having(settlements=rows, deliveries=kept)


def give_nothing_before_a_fault(run: Run, random: Random) -> Run | None:
    times = [*_busy(run, run.facts.load_started_ns + 2 * S, run.calm_ends - 2 * S)]
    return _held(run, random.choice(times)) if times else None


def give_nothing_after_the_faults(run: Run, random: Random) -> Run | None:
    times = [*_busy(run, _served_again_ns(run), run.facts.load_ended_ns - 2 * S)]
    return _held(run, random.choice(times)) if times else None


def _busy(run: Run, from_ns: float, until_ns: int) -> Iterator[int]:
    """Yield the times since when, for 8 s, a consumer got something every half a second that had
    been confirmed just before."""
    came = sorted(
        it.came["received_ns"]
        for it in _clean(run)
        if it.came["received_ns"] < it.sent["sent_ns"] + S and from_ns <= it.came["received_ns"]
    )
    since: float = float("inf")
    for earlier, later in pairwise(came):
        since = min(since, earlier) if later - earlier < S // 2 else float("inf")
        if since + 8 * S <= later <= until_ns:
            yield int(since)
            since = float("inf")


def _held(run: Run, at_ns: int) -> Run:
    """What would come in those 8 s comes after them."""
    until_ns = at_ns + 8 * S

    def late(row: Row) -> Row:
        early = not at_ns <= row["received_ns"] < until_ns or row["via"] != Via.LOAD
        return row if early else moved(row, until_ns + (row["received_ns"] - at_ns) // 1_000)

    return run.having(deliveries=changed(run.table("deliveries"), late))


_BREAKS = {
    DELIVERED: lose_one,
    CORRUPT: corrupt_one,
    UNEXPECTED: invent_one,
    REFUSED: refuse_one,
    MISROUTED: misroute_one,
    ONE_COPY: store_one_twice,
    ACKED: redeliver_an_acknowledged_one,
    HELD: redeliver_a_held_one,
    STEADY: serve_nothing_before_a_fault,
    AFTER: serve_nothing_at_last,
    CONSUMED: give_nothing_before_a_fault,
    CONSUMED_AFTER: give_nothing_after_the_faults,
}
HARM = tuple(Relation(change, not_passed, (claim,)) for claim, change in _BREAKS.items())
