"""The way in: one run's facts and rows, judged by the rules of schema/findings.py.

1. This is what every verdict means. The engine is written from the same text and not from this
   code; where they differ, one of them is wrong.
2. Clarity goes before speed, but every step costs n log n at most.
"""

from collections.abc import Iterable, Mapping

from spark_analysis.definition import (
    availability,
    cases,
    delays,
    doubts,
    duplicates,
    events,
    loss,
    messages,
    operations,
    order,
    outcomes,
    owed,
    seconds,
    stages,
    strays,
    transactions,
    views,
)
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings


def judge(facts: Facts, rows: Mapping[str, Iterable[Mapping[str, int | str | None]]]) -> Findings:
    """The six marts of one run; `rows` maps raw tables to rows by column, missing ones empty."""
    seen = events.read(rows)
    by_name = messages.fold(seen)
    every = tuple(by_name.values())
    intended = operations.intended(facts, every)
    sustained = stages.outages(facts, intended.judged)
    undone = owed.undos(rows.get("faults", ()))
    missing = tuple(loss.cases(facts, every))
    found = (
        *outcomes.cases(every),
        *missing,
        *delays.cases(facts, every),
        *transactions.cases(facts, every, missing),
        *strays.cases(facts, by_name, seen.deliveries),
        *duplicates.cases(facts, every, seen),
        *order.cases(facts, every),
        *operations.cases(intended),
    )
    return Findings(
        counts=cases.count(facts.run, found),
        affected=cases.affected(facts.run, found),
        seconds=seconds.rows(facts.run, every, intended.judged),
        availability=availability.rows(facts, every, intended.judged, sustained),
        stages=(
            *stages.rows(facts, every, intended.judged, sustained, undone),
            *views.stages(facts, rows),
        ),
        doubts=doubts.rows(facts, every, seen.stalls, missing),
    )
