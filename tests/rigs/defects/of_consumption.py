"""Defects of service towards consumers: messages that wait without need."""

from random import Random

from tests.rigs.defects.chosen import drained, few, given_later, names
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.runs import MS, Row, Run, S, changed, message, moved, sent_within

CALM = ("consumed-in-steady-state",)
HEALED = ("consumed-after-fault",)


def _withhold(run: Run, random: Random) -> Run | None:
    """Some messages before the first fault wait 6 to 8 s longer, others pass them."""
    ends = run.calm_ends - 8 * S
    usual = run.special()
    fit = (row for row in run.of_load() if row["received_ns"] < ends and message(row) not in usual)
    chosen = names(few(fit, random))
    if not chosen:
        return None
    wait_ns = random.randint(6_000, 7_800) * MS
    return given_later(
        run, lambda row: message(row) in chosen, lambda row: int(row["received_ns"]) + wait_ns
    )


def _withhold_once_healed(run: Run, random: Random) -> Run | None:
    if not run.facts.windows or run.is_log:
        return None
    starts, ends = run.undone + 5 * S, run.facts.load_ended_ns - 8 * S
    chosen = names(few((it for it in run.of_load() if starts < it["received_ns"] < ends), random))
    wait_ns = random.randint(6_000, 7_800) * MS
    return given_later(
        run, lambda row: message(row) in chosen, lambda row: int(row["received_ns"]) + wait_ns
    )


def _trickle(run: Run, random: Random) -> Run | None:
    """From some time on the queue gives 5 to 15 % of what it gave; the drain gets the rest."""
    if run.facts.windows or not any(run.of_load()):
        return None
    from_ns, share = (
        run.facts.load_started_ns + random.uniform(3, 15) * S,
        random.uniform(0.05, 0.15),
    )
    last_ns = run.facts.load_ended_ns
    queue = random.choice(sorted({row["queue"] for row in run.of_load()}))

    def given(row: Row) -> Row:
        if row["received_ns"] < from_ns or row["queue"] != queue:
            return row
        at_ns = int(from_ns + (row["received_ns"] - from_ns) / share)
        return moved(row, at_ns) if at_ns < last_ns else drained(run, row)

    return run.having(deliveries=changed(run.table("deliveries"), given))


def _starve(run: Run, random: Random) -> Run | None:
    """Consumers get nothing for 6 to 8 s before the first fault."""
    length_ns = random.randint(6_000, 8_000) * MS
    starts, ends = run.facts.load_started_ns + S, run.calm_ends - length_ns - S
    if ends <= starts:
        return None
    from_ns = random.randint(starts, ends)
    until_ns = from_ns + length_ns
    return given_later(
        run,
        lambda row: from_ns <= row["received_ns"] < until_ns,
        lambda row: int(until_ns + (row["received_ns"] - from_ns) // 100),
    )


def _starve_once_healed(run: Run, random: Random) -> Run | None:
    if not run.facts.windows or run.is_log:
        return None
    from_ns = run.undone + random.randint(50, 3_000) * MS

    def given(row: Row) -> Row:
        return drained(run, row) if row["received_ns"] >= from_ns else row

    return run.having(deliveries=changed(run.table("deliveries"), given))


def _starve_place(run: Run, random: Random) -> Run | None:
    """One place of a log gives nothing to consumers, from the fault on and for good."""
    if not run.is_log or not run.facts.windows:
        return None
    place = random.choice(sorted({row["broker"] for row in run.of_load()}))

    def given(row: Row) -> Row:
        starved = row["broker"] == place and row["received_ns"] >= run.calm_ends
        return drained(run, row) if starved else row

    return run.having(deliveries=changed(run.table("deliveries"), given))


def _starve_place_when_calm(run: Run, random: Random) -> Run | None:
    if not run.is_log:
        return None
    place = random.choice(sorted({row["broker"] for row in run.of_load()}))
    starts, ends = run.facts.load_started_ns + S, run.calm_ends - 8 * S
    if ends <= starts:
        return None
    from_ns = random.randint(starts, ends)
    until_ns = from_ns + random.randint(6_000, 7_500) * MS
    return given_later(
        run,
        lambda row: row["broker"] == place and from_ns <= row["received_ns"] < until_ns,
        lambda row: int(until_ns + (row["received_ns"] - from_ns) // 100),
    )


def _stop_consumption(run: Run, random: Random) -> Run | None:
    """The new master takes messages, and gives none before the undo, or at most one in fifty."""
    if not run.facts.windows or run.is_log:
        return None
    undone = run.undone + 10 * MS
    lucky = random.choice((0.0, 0.02))
    chosen = {it for it in sent_within(run, run.calm_ends, run.undone) if random.random() >= lucky}
    return given_later(
        run,
        lambda row: message(row) in chosen and row["received_ns"] < undone,
        lambda row: undone + int(row["sequence"]) * 1_000,
    )


DEFECTS = (
    Defect("withhold messages", "withholds 1 to 20 messages for 6 to 8 s", CALM, _withhold),
    Defect(
        "withhold messages after the undo",
        "the same, after the fault is gone",
        HEALED,
        _withhold_once_healed,
    ),
    Defect("trickle", "gives consumers 5 to 15 % of the rate, for good", CALM, _trickle),
    Defect("starve consumers", "gives consumers nothing for 6 to 8 s", CALM, _starve),
    Defect(
        "starve consumers after the undo",
        "gives consumers nothing any more after the undo",
        HEALED,
        _starve_once_healed,
    ),
    Defect(
        "starve a place",
        "gives nothing from one place of a log for 6 to 7.5 s",
        CALM,
        _starve_place_when_calm,
    ),
    Defect(
        "starve a place after the undo",
        "gives nothing from one place of a log any more after the fault",
        HEALED,
        _starve_place,
    ),
    Defect(
        "stop consumption",
        "takes publishes under the fault and gives consumers none, or 2 %, of them",
        ("mirrored-queue-works-on",),
        _stop_consumption,
    ),
)
