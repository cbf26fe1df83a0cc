"""Faults that hold operations back until they are undone, or nearly: whose was the success then?

1. Drawn with a die of their own, and only into long paced runs with a fault and confirms: others
   are what they were without this module.
2. What is not held is confirmed at once, or now and then in half of its deadline, so that success
   is sustained sooner or later; at times the next fault comes meanwhile and breaks everything.
"""

from dataclasses import replace
from random import Random

from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.words import Outcome, Strength
from tests.rigs.generated.facts import MS, SECOND

Row = dict[str, int | str | None]
Rows = dict[str, list[Row]]
Message = tuple[int | str | None, int | str | None]  # producer and sequence

ATTEMPTS_MIN = 200  # a period has as many operations


def with_holds(facts: Facts, rows: Rows, seed: int) -> Facts:
    """Settles the operations of `rows` again, or nothing; the facts that go with them."""
    die = Random(f"holds of {seed}")
    first_tries = [row for row in rows.get("attempts", ()) if row["attempt"] == 1]
    eligible = facts.paced and facts.confirms and facts.windows
    if not eligible or len(first_tries) < ATTEMPTS_MIN or die.random() < 0.1:
        return facts
    window = max(facts.windows, key=lambda window: window.number)
    after_ns = die.choice([SECOND, 2 * SECOND, 2 * SECOND, 6 * SECOND, 6 * SECOND])
    undo_ns = window.origin_ns + after_ns
    made_ns = die.choice([0] * 9 + [after_ns // 2])
    returned_ns = max(window.returned_ns, window.origin_ns + made_ns)
    ended_ns = max(returned_ns, undo_ns) + die.choice([0, MS, 300 * MS])
    deadline_ns = die.choice([500 * MS, 2 * SECOND]) if after_ns == 2 * SECOND else 500 * MS
    others = [one for one in facts.windows if one is not window]
    window = replace(window, returned_ns=returned_ns, ended_ns=ended_ns)
    settled = _settled(first_tries, window.origin_ns, undo_ns, deadline_ns, die)
    if die.random() < 0.12:
        others.append(_next(window, len(facts.planned_windows) + 1, undo_ns, die))
        broken_ns = others[-1].returned_ns
        settled |= {
            one: at_ns + 30 * SECOND for one, at_ns in settled.items() if at_ns > broken_ns
        }
    _note(rows, window.number, undo_ns, die)
    _settle(rows, settled, die)
    return replace(facts, windows=(window, *others), deadline_ns=deadline_ns)


def _next(window: Window, number: int, undo_ns: int, die: Random) -> Window:
    """A fault that is made soon afterwards, or just before, and never undone."""
    origin_ns = undo_ns + die.choice([-100 * MS, 0, 300 * MS, SECOND, 2 * SECOND])
    times = {"origin_ns": origin_ns, "returned_ns": origin_ns + MS, "ended_ns": None}
    return replace(window, number=number, **times)


def _note(rows: Rows, window: int, undo_ns: int, die: Random) -> None:
    """What the harness notes of a window; at times a second undo, or none."""
    issued = die.choice([(undo_ns,)] * 8 + [(undo_ns + SECOND, undo_ns), ()])
    said = [("issued", undo_ns - 9 * SECOND), *(("undo_issued", at_ns) for at_ns in issued)]
    for event, at_ns in said:
        row: Row = dict.fromkeys(("kind", "target", "resolved", "role", "mechanism", "detail"))
        row |= {"window": window, "event": event, "at_ns": at_ns, "ok": 1}
        rows.setdefault("faults", []).append(row)


def _settled(
    first_tries: list[Row], origin_ns: int, undo_ns: int, deadline_ns: int, die: Random
) -> dict[Message, int]:
    """When each is confirmed: at once, or, one of so many of those that are held, at the undo."""
    long = undo_ns > origin_ns + 2 * SECOND  # a whole period goes by
    of = 1_000 if long else die.choice([1, 1, 2, 2, 20])
    until_ns = undo_ns - die.choice([0, 0, 0, 200 * MS, SECOND])
    released_ns = undo_ns + die.choice([-1, 0, 0, MS, SECOND, SECOND])
    slow = die.choice([0] * 5 + [1, 50, 97])  # one of so many that are not held
    half_ns = deadline_ns // 2 + die.choice([-1, 0, 0, MS])
    settled: dict[Message, int] = {}
    for place, row in enumerate(first_tries):
        intended_ns = row["intended_ns"]
        assert isinstance(intended_ns, int)
        held = origin_ns <= intended_ns < until_ns and place % of == 0
        settled[row["producer"], row["sequence"]] = (
            max(released_ns, intended_ns)
            if held
            else intended_ns + (half_ns if slow and place % slow == 0 else MS)
        )
    return settled


def _settle(rows: Rows, settled: dict[Message, int], die: Random) -> None:
    """Each message's last settlement is a confirm, at that time, and its only one."""
    listing = rows.get("settlements", [])
    last = {(row["producer"], row["sequence"]): row for row in listing}
    for message, at_ns in settled.items():
        if message in last and die.random() < 0.998:
            row = last[message]
            strength = int(die.choice(list(Strength)[1:]))
            row |= {"settled_ns": at_ns, "outcome": int(Outcome.CONFIRMED), "strength": strength}
    rows["settlements"] = [
        row
        for row in listing
        if row is last[row["producer"], row["sequence"]] or row["outcome"] != Outcome.CONFIRMED
    ]
