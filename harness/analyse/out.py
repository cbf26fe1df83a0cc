"""How long a run was out in all, and which of its queues or publishers was out for longest.

1. Every outage counts, whatever window it lies in, and where it lies in none.
2. One that was not seen to end makes the sum a lower bound. Where nothing was due at a certain
   time, or nobody asked for confirms, there is no history, and nothing is said.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import NEVER, PUBLISHER, QUEUE, RUN, UNKNOWN, Outage

NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Out:
    """A scope's outages together. `of`: so many queues, or publishers, there are."""

    scope: str
    name: str
    of: int
    seconds: float
    whole: bool  # each was seen to end
    back: bool  # it served when the load ended


def of_run(facts: Facts, outages: Sequence[Outage]) -> Out | None:
    """None: there is no history."""
    if not (facts.paced and facts.confirms):
        return None
    return _out(RUN, "", 1, [row for row in outages if row.scope == RUN])


def worst_of_many(facts: Facts, outages: Sequence[Outage]) -> Out | None:
    """The queue or publisher that was out for longest, where there are several of its kind."""
    publishers = sum(worker.role == "publisher" for worker in facts.workers)
    of = {QUEUE: len(facts.queues), PUBLISHER: publishers}
    by_scope = defaultdict[tuple[str, str], list[Outage]](list)
    for row in outages:
        if of.get(row.scope, 0) > 1:
            by_scope[row.scope, row.name].append(row)
    found = [_out(*scope, of[scope[0]], rows) for scope, rows in sorted(by_scope.items())]
    return max(found, key=lambda one: one.seconds, default=None)


def _out(scope: str, name: str, of: int, rows: Sequence[Outage]) -> Out:
    return Out(
        scope=scope,
        name=name,
        of=of,
        seconds=sum(row.until_ns - row.from_ns for row in rows) / NS,
        whole=all(row.ended not in (NEVER, UNKNOWN) for row in rows),
        back=all(row.ended != NEVER for row in rows),
    )
