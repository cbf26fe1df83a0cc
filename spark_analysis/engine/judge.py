"""One run judged: its facts and records in, the rows of its marts out.

1. Spark is not needed here: a task of its judges runs with this, and so does whoever has one
   history in hand.
2. A run that cannot be judged is one doubt, and says why beside it: whatever went wrong, it never
   costs whoever judges others his own.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pyarrow as pa

from spark_analysis.engine import rows, tables
from spark_analysis.engine.kernel import (
    arrivals,
    asking,
    attempts,
    availability,
    cases,
    charges,
    consumption,
    costs,
    delays,
    doubts,
    duplicates,
    forgotten,
    loss,
    messages,
    order,
    outages,
    publishes,
    sends,
    service,
    stages,
    starvation,
    stretches,
    transactions,
    views,
    windows,
)
from spark_analysis.engine.kernel.records import (
    Attempts,
    BadRecords,
    Deliveries,
    Faults,
    Lateness,
    Probes,
    R,
    Reader,
    Records,
    Resources,
    Settlements,
    Terms,
)
from spark_analysis.schema.comparison import Cell, Time
from spark_analysis.schema.costs import COSTS
from spark_analysis.schema.facts import Facts, Question
from spark_analysis.schema.failed import Failed, failed
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.sends import SENDS
from spark_analysis.schema.views import VIEWS

# Which cell of a comparison each run belongs to, which times it has its worst of, and why it was
# not judged: handed over like marts, not written.
CELLS, TIMES, FAILED = "cells", "times", "failed"
TOLD: dict[str, type] = {**MARTS, **COSTS, **SENDS, **VIEWS}  # what is written
JUDGED: dict[str, type] = {**TOLD, CELLS: Cell, TIMES: Time, FAILED: Failed}


def judge_folder(folder: Path, question: Question | None = None) -> Iterator[tuple[str, pa.Table]]:
    """The marts of one run folder: what pyarrow reads, whole columns at a time.

    `question`: what is asked beside what was recorded; None: what the facts themselves say.
    """
    run = question.run if question and question.run else folder.name
    try:
        facts = tables.read_facts(folder)
        facts = question.of(facts) if question else facts
        run = facts.run
        found = judge(facts, tables.RunFolder(folder))
    except BadRecords as reason:
        told = str(reason) if str(folder) in str(reason) else f"{folder}: {reason}"
        found = unjudged(Failed(run, told, ""))
    except Exception as error:  # nobody foresaw it: no reason that others are not judged
        found = unjudged(failed(run, folder, error))
    yield from found.items()


def unjudged(why: Failed) -> dict[str, pa.Table]:
    """All that is handed over of a run that cannot be judged."""
    found: dict[str, list[object]] = {"doubts": [doubts.unjudged(why.run)], FAILED: [why]}
    return {name: rows.table(JUDGED[name], listing) for name, listing in found.items()}


def judge(facts: Facts, reader: Reader) -> dict[str, pa.Table]:
    """Every mart of one run. Raises BadRecords where the records contradict their schema."""
    reader = Once(reader)
    known = messages.fold(reader.read(Attempts), reader.read(Settlements), reader.read(Terms))
    arrived = arrivals.arrivals(reader.read(Deliveries), known)
    intended = publishes.publishes(known, facts)
    forces = windows.forces(facts, reader.read(Faults))
    storms = windows.storms(facts, reader.read(Faults))
    courses = stretches.courses(intended, known, facts)
    of_run = courses[0] if courses else None
    given = consumption.given(known, arrived)
    reached = stages.stages(known, arrived, given, of_run, forces, facts)
    spells = [(course, outages.spells(course, forces, facts)) for course in courses]
    asked = views.ways(reader.read(Probes))
    settled = stages.settled(facts, reached)
    counted, listed = _verdicts(settled, reader, known, arrived, intended)
    listed += asking.asking(
        known, arrived, facts, reader
    )  # what never returns is never over there
    census = [*counted, *(each.census for each in listed)]
    found: dict[str, list[object]] = {
        "counts": [count for each in census for count in cases.counts(facts.run, each)],
        "charges": [*charges.charges(known, arrived, listed, facts)],
        "seconds": [*availability.seconds(known, arrived, intended, facts.run)],
        "availability": [*availability.availability(known, intended, reached, facts)],
        "stages": [*reached, *views.stages(asked, facts)],
        "outages": [spell.row for _, found in spells for spell in found],
        "service": [
            row
            for course, found in spells
            for row in service.service(course, found, forces, storms, facts)
        ],
        "exposure": [*service.exposure(of_run, known, forces, facts)],
        "consumption": [*consumption.consumption(known, given, facts)],
        "starvation": [*starvation.starvation(known, arrived, given, storms, facts)],
        "doubts": [*doubts.doubts(known, arrived, reader.read(Lateness), census, facts)],
        "calm": [*costs.calm(known, intended, facts)],
        "use": [*costs.use(reader.read(Resources), facts)],
        "sends": [*sends.sends(known, reader.read(Settlements), facts)],
        "asked": [*views.asked(asked, facts.run)],
        "changes": [*views.changes(asked, facts.run)],
        "silences": [*views.silences(asked, facts.run)],
        CELLS: [Cell.of(facts)],
        TIMES: [*Time.all_of(facts)],
    }
    marts = {name: rows.table(JUDGED[name], listing) for name, listing in found.items()}
    return {**marts, "affected": rows.affected(facts.run, listed)}


class Once:
    """Reads each table once, though several kernels may need it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read: dict[type[Records], Records] = {}

    def read(self, kind: type[R]) -> R:
        if kind not in self._read:
            self._read[kind] = self._reader.read(kind)
        return cast(R, self._read[kind])


def _verdicts(
    facts: Facts,
    reader: Reader,
    known: messages.Messages,
    arrived: arrivals.Arrivals,
    intended: publishes.Publishes,
) -> tuple[list[cases.Census], list[cases.Cases]]:
    """What is only counted, and what is listed too. `facts`: as they were settled."""
    judged, reordered = order.order(known, arrived, facts)
    delayed, early = delays.delays(known, arrived, facts)
    fated, broken = transactions.transactions(known, arrived, facts)
    denied, untrue = attempts.attempts(known, arrived, facts)
    all_publishes, missed = publishes.missed(intended, known)
    closed = all(worker.log_closed for worker in facts.workers if worker.role == "publisher")
    listed = [
        *loss.loss(known, arrived, facts),
        *untrue,
        *forgotten.forgotten(known, arrived, facts, reader),
        arrivals.misrouted(arrived, known),
        *arrivals.unexpected(arrived, known, closed),
        *arrivals.corrupt(arrived),
        *duplicates.duplicates(known, arrived, facts, reader),
        *reordered,
        *missed,
        *early,
        *broken,
    ]
    census = [*judged, *all_publishes, *delayed, *fated, *denied]
    return [known.states(), known.confirmed(), *census], listed
