"""How long a run was out in all, and which of its queues or publishers was out for longest.

1. Every outage counts, whatever window it lies in, and where it lies in none.
2. One that the system did not end by itself makes the sum a lower bound: the fault's end did, or
   nothing that was seen. If no publish had an intended time, or publishers used no confirms, there
   is no history, and nothing is shown.
3. A scope keeps the SPELLS_MAX longest outages for the chart, and the number of all.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import NEVER, PUBLISHER, QUEUE, RUN, SYSTEM, Outage

NS = 1_000_000_000
SPELLS_MAX = 60


@dataclass(frozen=True, slots=True)
class Out:
    """A scope's outages together. `of`: so many queues, or publishers, there are."""

    scope: str
    name: str
    of: int
    seconds: float
    whole: bool  # the system ended each by itself
    back: bool  # it served when the load ended
    times: int  # how often it was out
    spells: tuple[Outage, ...]  # in the order of time


def outs(facts: Facts, outages: Sequence[Outage]) -> tuple[Out, ...]:
    """The run first, then its worst queue and its worst publisher, where there are several of
    them and one was out; nothing where there is no history."""
    if not (facts.paced and facts.confirms):
        return ()
    run = _out(RUN, "", 1, [row for row in outages if row.scope == RUN])
    publishers = sum(worker.role == "publisher" for worker in facts.workers)
    many = {QUEUE: len(facts.queues), PUBLISHER: publishers}
    narrow = (_worst(scope, of, outages) for scope, of in many.items() if of > 1)
    return (run, *filter(None, narrow))


def _worst(scope: str, of: int, outages: Sequence[Outage]) -> Out | None:
    by_name = defaultdict[str, list[Outage]](list)
    for row in outages:
        if row.scope == scope:
            by_name[row.name].append(row)
    found = [_out(scope, name, of, rows) for name, rows in sorted(by_name.items())]
    return max(found, key=lambda one: one.seconds, default=None)


def _out(scope: str, name: str, of: int, rows: Sequence[Outage]) -> Out:
    longest = sorted(rows, key=lambda row: row.from_ns - row.until_ns)[:SPELLS_MAX]
    return Out(
        scope=scope,
        name=name,
        of=of,
        seconds=sum(row.until_ns - row.from_ns for row in rows) / NS,
        whole=all(row.ended == SYSTEM for row in rows),
        back=all(row.ended != NEVER for row in rows),
        times=len(rows),
        spells=tuple(sorted(longest, key=lambda row: row.from_ns)),
    )
