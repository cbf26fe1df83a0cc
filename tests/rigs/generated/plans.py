"""What a fault does to the service of a long run: plans of bad spells round its window.

1. Each plan aims at one way in which an outage begins, ends, or is no outage; its times are off by
   nothing, by a nanosecond, or by parts of a deadline.
"""

from dataclasses import dataclass
from random import Random

from spark_analysis.schema.service import STRETCH_NS
from tests.rigs.generated.facts import MS, SECOND

LOST, LATE, HELD = "lost", "late", "held"
Bad = tuple[int, int, str]  # from, until, and the sort of spell

OFTEN = (
    *("the system ends it", "the system ends it", "again and again", "again and again"),
    *("a later one that the system ends", "a last one before the undo", "until the undo"),
    *("a second one under the fault", "after it is healed", "after it is healed"),
)


@dataclass(frozen=True, slots=True)
class Times:
    """Of one window; `healed_ns`: when service has to be back."""

    origin_ns: int
    undo_ns: int
    healed_ns: int
    load_ended_ns: int
    deadline_ns: int


def plan(times: Times, die: Random) -> tuple[str, list[Bad]]:
    """The name of one plan, and its spells."""
    plans = {**_under(times, die), **_round(times, die)}
    name = die.choice([*plans, *OFTEN])
    return name, plans[name]


def _under(times: Times, die: Random) -> dict[str, list[Bad]]:
    """Plans of what is bad while the fault is in force."""
    origin_ns, undo_ns = times.origin_ns, times.undo_ns
    early_ns = origin_ns + die.choice([300 * MS, SECOND, SECOND, 2 * SECOND])
    later_ns = origin_ns + STRETCH_NS + _while(times, die)
    last_ns = undo_ns - STRETCH_NS - _while(times, die)
    lost = die.choice([LOST, LATE])
    return {
        "nothing": [],
        "until the undo": [(origin_ns, undo_ns, HELD)],
        "all but until the undo": [(origin_ns, undo_ns - _while(times, die), HELD)],
        "the system ends it": [(origin_ns, early_ns, die.choice([LOST, LATE, HELD]))],
        "a later one that the system ends": [(later_ns, later_ns + SECOND, lost)],
        "a last one before the undo": [(last_ns - SECOND, last_ns, lost)],
        "a second one under the fault": [
            (origin_ns, early_ns, lost),
            (early_ns + STRETCH_NS + _while(times, die), undo_ns, die.choice([HELD, LOST])),
        ],
        "one in a hundred": [(origin_ns, undo_ns, die.choice([HELD, LOST]))],
        "again and again": _train(origin_ns, die),
    }


def _round(times: Times, die: Random) -> dict[str, list[Bad]]:
    """Plans of what is bad before the fault, or after it."""
    origin_ns, undo_ns, end_ns = times.origin_ns, times.undo_ns, times.load_ended_ns
    let_go_ns = undo_ns + die.choice([0, MS, SECOND])
    early_ns = times.deadline_ns + _while(times, die)
    healed_ns = times.healed_ns + _while(times, die)
    # Little is left of the load by then: what is lost for a second may not be seen to come back.
    again_ns = healed_ns + die.choice([SECOND, 60 * SECOND])
    return {
        "lost until the undo": [(origin_ns, let_go_ns, LOST)],
        "sick before": [(origin_ns - early_ns, let_go_ns, LOST)],
        "just before": [(origin_ns - die.choice([1, times.deadline_ns]), undo_ns, HELD)],
        "never back": [(origin_ns + _while(times, die), end_ns + 1, LOST)],
        "after the undo": [(undo_ns + _while(times, die), undo_ns + 4 * SECOND, LOST)],
        "after it is healed": [(healed_ns, again_ns, LOST)],
    }


def _train(from_ns: int, die: Random) -> list[Bad]:
    """Bad spells, and just enough, or just not, between them."""
    found: list[Bad] = []
    for _ in range(die.choice([2, 2, 3, 4])):
        until_ns = from_ns + die.choice([200 * MS, SECOND, SECOND, 2 * SECOND])
        found.append((from_ns, until_ns, die.choice([LOST, LOST, LATE, HELD])))
        from_ns = until_ns + STRETCH_NS + die.choice([-1, 0, MS, 200 * MS, SECOND, SECOND])
    return found


def _while(times: Times, die: Random) -> int:
    deadline_ns = times.deadline_ns
    edges = [0, 1, deadline_ns // 4, deadline_ns // 2, deadline_ns, deadline_ns + 1]
    return die.choice([*edges, SECOND, 2 * SECOND])
