"""Long runs whose service comes and goes: bad spells between good ones, by queue and publisher.

1. Drawn with a die of their own, into runs that ask for it; every other one is what it was.
2. A spell begins and ends as a window does, or at an operation, or all but; so outages come one
   after another, before a fault, under it, after its undo, and never end.
3. Most runs are tidy: one fault after another, each with one plan, and nothing else bad in them;
   in the others everything may come together.
4. What is not in a spell is confirmed at once, or now and then just before its deadline.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

from harness.plan.fault_properties import properties_of
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.words import NEVER_SENT, Outcome, Strength
from tests.rigs.generated.facts import CONSUMERS, MS, PUBLISHERS, QUEUES, SECOND
from tests.rigs.generated.notes import note
from tests.rigs.generated.plans import LATE, LOST, Times, plan

Row = dict[str, int | str | None]
Rows = dict[str, list[Row]]
Message = tuple[int | str | None, int | str | None]  # producer and sequence

DEADLINES = (500 * MS, 500 * MS, 2 * SECOND, 2 * SECOND, 333_333_335)
BROKEN = (Outcome.UNKNOWN, Outcome.UNKNOWN, Outcome.REFUSED, Outcome.RETURNED, None, None)


@dataclass(frozen=True, slots=True)
class Spell:
    """What happens to every `of`th operation of a queue and publisher ("" and 0: of all)."""

    from_ns: int
    until_ns: int
    sort: str
    of: int = 1
    queue: str = ""
    producer: int = 0


def with_spells(facts: Facts, rows: Rows, seed: int, tags: set[str]) -> Facts:
    """Settles the operations of `rows` again; the facts that go with them."""
    die = Random(f"spells of {seed}")
    tries = [row for row in rows.get("attempts", ()) if row["attempt"] == 1]
    if not tries:
        return facts
    tries.sort(key=_intended_ns)
    facts = replace(facts, deadline_ns=die.choice(DEADLINES))
    times = _Drawn(facts, [_intended_ns(row) for row in tries], die, tags, die.random() < 0.75)
    if times.tidy:
        tags.add("tidy")
        facts = replace(facts, absences=())
    windows, undos = times.windows()
    later = enumerate(facts.not_begun, len(windows) + 1)
    not_begun = tuple(replace(window, number=number) for number, window in later)
    facts = replace(facts, windows=windows, not_begun=not_begun)
    spells = [each for window in windows for each in times.about(window, undos)]
    spells += [times.anywhere() for _ in range(0 if times.tidy else die.choice([0, 1, 2]))]
    spells += _at_last(facts, seed) if times.tidy else []
    tags.update(f"spell: {each.sort}" for each in spells)
    tags.add(f"spells: {min(len(spells), 4)}")
    _settle(rows, tries, _Settled(facts, spells, die))
    _stop_consumers(facts, rows, die, tags)
    note(facts, rows, undos, die)
    return facts


def _at_last(facts: Facts, seed: int) -> list[Spell]:
    """Often some are lost shortly before the load ends, which hides how that ends."""
    die = Random(f"last spell of {seed}")
    if die.random() >= 0.6:
        return []
    last_ns = facts.load_ended_ns
    return [
        Spell(
            last_ns - 4 * SECOND, last_ns - die.choice([1, 2]) * SECOND, LOST, die.choice([2, 3])
        )
    ]


@dataclass
class _Drawn:
    """When windows and spells begin and end."""

    facts: Facts
    intended_ns: list[int]
    die: Random
    tags: set[str]
    tidy: bool

    def windows(self) -> tuple[tuple[Window, ...], dict[int, int]]:
        """With the time of each one's undo, where it came."""
        number = self.die.choice([1, 1, 1, 1, 2] if self.tidy else [0, 1, 1, 2, 2, 3, 4])
        origins = sorted(self._origin_ns() for _ in range(number))
        if self.tidy:
            after_ns = (self.facts.load_ended_ns - self.facts.load_started_ns) // number
            origins = [origins[0] + n * after_ns for n in range(number)]
        elif number > 1 and self.die.random() < 0.4:
            self.tags.add("windows begin at once")
            origins[1] = origins[0]
        undos: dict[int, int] = {}
        ends = [*origins[1:], self.facts.load_ended_ns]
        windows = tuple(
            self._window(n, origin, end, undos)
            for n, (origin, end) in enumerate(zip(origins, ends, strict=False), 1)
        )
        for one, other in pairwise(windows):
            if one.ended_ns is None or one.ended_ns > other.origin_ns:
                self.tags.add("windows overlap")
        return windows, undos

    def _origin_ns(self) -> int:
        start_ns, end_ns = self.facts.load_started_ns, self.facts.load_ended_ns
        if self.tidy:
            return self._at_one(start_ns + 5 * SECOND, start_ns + 6 * SECOND)
        if self.die.random() < 0.2:
            self.tags.add("origin after the load")
            return end_ns + self.die.choice([0, SECOND])
        latest_ns = start_ns + (end_ns - start_ns) * self.die.choice([1, 1, 2]) // 3
        return self._at_one(start_ns + self.die.choice([0, 5 * SECOND]), latest_ns)

    def _at_one(self, low_ns: int, high_ns: int) -> int:
        """Exactly when an operation is intended, or all but, or some time."""
        near = [at for at in self.die.choices(self.intended_ns, k=9) if low_ns <= at <= high_ns]
        if not near or self.die.random() < 0.2:
            return self.die.randint(low_ns, max(low_ns, high_ns))
        return max(0, near[0] + self.die.choice([-1, 0, 0, 0, 1]))

    def _lasts_ns(self, room_ns: int) -> int:
        """A tidy fault leaves time for a good stretch after it, mostly."""
        if not self.tidy:
            return self.die.choice([1, 3, 5, 6, 8, 12, 18, 30]) * SECOND
        long_ns = room_ns - self.die.choice([6, 7, 9]) * SECOND
        return max(SECOND, self.die.choice([3 * SECOND, 6 * SECOND, long_ns, long_ns, room_ns]))

    def _window(self, number: int, origin_ns: int, next_ns: int, undos: dict[int, int]) -> Window:
        returned_ns = origin_ns + self.die.choice([0, 0, MS, 300 * MS, SECOND])
        undo_ns = origin_ns + self._lasts_ns(next_ns - origin_ns)
        undo_ns = self._at_one(undo_ns, undo_ns + SECOND)
        ended_ns: int | None = max(returned_ns, undo_ns) + self.die.choice([0, MS, 300 * MS])
        if self.die.random() < 0.15:
            self.tags.add("window never ends")
            ended_ns = None
        if self.die.random() < (0.85 if ended_ns is not None else 0.05):
            undos[number] = undo_ns
        elif ended_ns is not None:
            self.tags.add("no undo on record")
        over_ns = (ended_ns or undo_ns) + self.die.choice([0, MS, SECOND])
        given = self.die.random() < (0.85 if ended_ns is not None else 0.3)
        return Window(
            number=number,
            kind="kill",
            origin_ns=origin_ns,
            returned_ns=returned_ns,
            ended_ns=ended_ns,
            verified=self.die.random() < 0.95,
            gone=ended_ns is not None and self.die.random() < 0.9,
            unverified_reason="",
            over_ns=over_ns if given else None,
            properties=properties_of("kill"),
        )

    def about(self, window: Window, undos: dict[int, int]) -> list[Spell]:
        """What the fault does, if it does anything."""
        origin_ns, facts = window.origin_ns, self.facts
        undo_ns = undos.get(window.number, window.ended_ns or facts.load_ended_ns)
        healed_ns = undo_ns + facts.deadline_ns + facts.reconnect_ns
        times = Times(origin_ns, undo_ns, healed_ns, facts.load_ended_ns, facts.deadline_ns)
        name, bad = plan(times, self.die)
        self.tags.add(f"fault: {name}")
        of = self.die.choice([1, 1, 1, 1, 1, 2] if self.tidy else [1, 1, 2, 20])
        if name == "one in a hundred":
            of = self.die.choice([33, 50, 99, 100, 101])
        first = self._spell(origin_ns, origin_ns, LOST, of)
        # Mostly it is one queue or publisher, or all, that suffers in every spell of a fault.
        return [
            self._spell(*each, of)
            if not self.tidy and self.die.random() < 0.2
            else replace(first, from_ns=each[0], until_ns=each[1], sort=each[2])
            for each in bad
        ]

    def _spell(self, from_ns: int, until_ns: int, sort: str, of: int) -> Spell:
        whose = self.die.choice(["all"] * 4 + ["queue", "publisher"])
        self.tags.add(f"spell of {whose}")
        queue = self.die.choice(QUEUES) if whose == "queue" else ""
        producer = self.die.choice(PUBLISHERS) if whose == "publisher" else 0
        return Spell(from_ns, until_ns, sort, of, queue, producer)

    def anywhere(self) -> Spell:
        """A bad time that no fault explains."""
        from_ns = self._at_one(self.facts.load_started_ns, self.facts.load_ended_ns)
        lasts_ns = self.die.choice([1, MS, 100 * MS, SECOND, 3 * SECOND, 60 * SECOND])
        of = self.die.choice([1, 1, 1, 2, 20, 50, 100])
        return self._spell(from_ns, from_ns + lasts_ns, self.die.choice([LOST, LATE]), of)


class _Settled:
    """When each operation is confirmed, if at all."""

    def __init__(self, facts: Facts, spells: list[Spell], die: Random) -> None:
        self._deadline_ns = facts.deadline_ns
        self._spells = spells
        self._slow = die.choice([0] * 5 + [1, 7, 50])  # one of so many good ones
        self._slow_ns = die.choice([self._deadline_ns, self._deadline_ns // 2]) - die.choice(
            [0, 1]
        )
        self._at_undo_ns = die.choice([0, 0, 0, 1, MS])

    def confirmed_ns(self, place: int, row: Row) -> int | None:
        intended_ns = _intended_ns(row)
        at_ns = intended_ns + (self._slow_ns if self._slow and place % self._slow == 0 else MS)
        for spell in self._spells:
            if not _covers(spell, place, row, intended_ns):
                continue
            if spell.sort == LOST:
                return None
            late_ns = intended_ns + self._deadline_ns + 1
            # Held: all of the last deadline is in time, confirmed right after it is let go.
            at_ns = max(
                at_ns, late_ns if spell.sort == LATE else spell.until_ns + self._at_undo_ns
            )
        return at_ns


def _covers(spell: Spell, place: int, row: Row, intended_ns: int) -> bool:
    return (
        spell.from_ns <= intended_ns < spell.until_ns
        and place % spell.of == 0
        and spell.queue in ("", row["queue"])
        and spell.producer in (0, row["producer"])
    )


def _settle(rows: Rows, tries: list[Row], settled: _Settled) -> None:
    """First attempts go out as intended, and have no settlements but these."""
    gone: set[Message] = set()
    listing: list[Row] = []
    for place, row in enumerate(tries):
        at_ns = settled.confirmed_ns(place, row)
        row["sent_ns"] = _intended_ns(row)
        outcome: Outcome | None = Outcome.CONFIRMED
        if at_ns is None:
            at_ns, outcome = _intended_ns(row) + 3 * SECOND, BROKEN[place % len(BROKEN)]
            if place % 3:
                gone.add(_message(row))
            if place % 11 == 0:
                row["sent_ns"], outcome = NEVER_SENT, None
        if outcome is not None:
            listing.append(_settlement(row, at_ns, outcome, place))
    whose = {_message(row) for row in tries}
    kept = [row for row in rows.get("settlements", ()) if _message(row) not in whose]
    rows["settlements"] = kept + listing
    rows["deliveries"] = [row for row in rows.get("deliveries", ()) if _message(row) not in gone]


def _settlement(row: Row, at_ns: int, outcome: Outcome, place: int) -> Row:
    strength = 1 + place % (len(Strength) - 1) if outcome is Outcome.CONFIRMED else 0
    of_attempt = {name: row[name] for name in ("producer", "sequence", "attempt", "connection")}
    said = {"outcome": int(outcome), "strength": strength, "raw": outcome.name}
    return {**of_attempt, **said, "settled_ns": at_ns}


def _stop_consumers(facts: Facts, rows: Rows, die: Random, tags: set[str]) -> None:
    """After a window's begin a consumer, or a queue's delivery, stops for good, at times."""
    if not facts.windows or die.random() < 0.5:
        return
    window = die.choice(facts.windows)
    column, name = die.choice([("consumer", die.choice(CONSUMERS)), ("queue", die.choice(QUEUES))])
    tags.add(f"a {column} stops")
    from_ns = die.choice([window.origin_ns, window.returned_ns])
    until_ns = die.choice([facts.load_ended_ns, facts.load_ended_ns + SECOND, 10**15])
    rows["deliveries"] = [
        row
        for row in rows["deliveries"]
        if row[column] != name or not from_ns <= _int(row, "received_ns") <= until_ns
    ]


def _message(row: Row) -> Message:
    return row["producer"], row["sequence"]


def _intended_ns(row: Row) -> int:
    return max(0, _int(row, "intended_ns"))


def _int(row: Row, column: str) -> int:
    value = row[column]
    assert isinstance(value, int)
    return value
