"""A run of somebody else's, judged as one of ours: a history in, evidence out.

1. No Spark, no folder, no file: the kernels read the history's columns.
2. What the history does not tell is unknown; no default of our own runs stands in for it.
3. Records that contradict their schema are bad input.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from harness.analyse.attendance import attendance, held_back, not_waited
from harness.analyse.questions import question
from harness.claims.attendance import Attendance
from harness.claims.evidence import Evidence
from harness.claims.state import KnownFacts
from harness.histories import contradictions
from harness.histories.complaints import Complaints
from harness.histories.denominators import unshown
from harness.histories.history import Cell, History, Words
from harness.histories.pauses import pauses
from harness.histories.policies import POLICIES, excused
from harness.plan.facts import DECLARED, OPERATED
from harness.plan.layouts.guarantees import CLIENTS
from harness.plan.vocabulary import RECORDED
from spark_analysis.engine.judge import judge
from spark_analysis.engine.kernel.records import BadRecords, R, Text, without_canaries
from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.service import STRETCH_NS

WORDS = Words(
    declared={
        # A recorded fact may stand among those of the run: it is the first window's.
        **{name: fact.kind for name, fact in {**DECLARED, **OPERATED, **RECORDED}.items()},
        **dict.fromkeys(POLICIES, bool),
    },
    recorded={name: fact.kind for name, fact in RECORDED.items()},
)
_CONSUMING = "consuming"  # of client events
# `no_ack` follows from the others. An acknowledgement means that the broker keeps the consumer's
# progress; a history of consumers that keep their own offsets declares it.
# One without priorities, or of consumers that take no time, declares neither. Consumers that
# received something need no declaration.
_FOLLOWS = (
    *("consumers", "acknowledges", "no_ack", "progress_kept_by"),
    *("priorities", "processing_s"),
)


def evidence(history: History, file: str) -> Evidence:
    """Return the evidence of the history. Raise PlanError if its records contradict each other."""
    declared = state(history)
    facts = question(declared).of(history.facts)
    try:
        tables = judge(facts, _Columns(history))
    except BadRecords as reason:
        complaints = Complaints(file)
        contradictions.of_rows(history.tables, complaints)
        if not complaints.any:
            complaints.add("", f"the records contradict each other: {reason}")
        complaints.check()
        raise  # `check` has raised
    marts = {name: tuple(_rows(row, tables[name])) for name, row in MARTS.items()}
    found = Findings(**marts)
    # Where consumers got everything it does not matter when they were there.
    starved = any(row.longest_ns > STRETCH_NS for row in found.starvation)
    starved |= not all(row.resumed for row in found.consumption)
    named = history.tables.get("client_events", {}).get("queue", [])
    there = attendance(facts, _Columns(history), named) if starved else Attendance()
    return Evidence(
        found,
        facts,
        declared,
        hidden=_hidden(history, found),
        unshown=unshown(history),
        values_sent=history.values_sent,
        hides=history.hides,
        excused=excused(history, declared.value("progress_kept_by", 0) == CLIENTS),
        attended=_attended(history),
        attendance=replace(
            there,
            paused=pauses(history),
            # Where publishers were served it does not matter when they sent.
            held_back=held_back(facts, history.tables) if found.outages else (),
            not_waited=not_waited(facts, history.tables) if found.outages else (),
        ),
    )


def _hidden(history: History, found: Findings) -> dict[str, str]:
    """Return what the history's format has no field for. What is declared is known, and a
    violation that was found all the same stays one."""
    known = {*history.declared}
    if known & {"operations", *OPERATED}:  # of an operation that is declared all else is unknown
        known |= {*OPERATED}
    for row in found.counts:
        if row.count:
            known |= {row.measure, f"{row.measure}.{row.detail}"}
    return {name: why for name, why in history.hidden.items() if name not in known}


def _attended(history: History) -> bool:
    """Return whether consumers attended; without one a wait is no silence of the broker."""
    return _CONSUMING in history.tables.get("client_events", {}).get("kind", ())


def state(history: History) -> KnownFacts:
    """Return the facts for preconditions. Facts that older runs of ours always had stay unknown in
    other histories."""
    undeclared = dict.fromkeys(name for name in DECLARED if name not in _FOLLOWS)
    windows = {str(number): dict(values) for number, values in history.recorded.items()}
    consumers = sum(worker.role == "consumer" for worker in history.facts.workers)
    seen = {"consumers": consumers} if consumers else {}
    return KnownFacts.from_json({**undeclared, **seen, **history.declared, "windows": windows})


@dataclass(frozen=True, slots=True)
class _Columns:
    """Reads the columns of a history as kernels read those of a sealed run."""

    history: History

    def read(self, kind: type[R]) -> R:
        columns = self.history.tables.get(kind.TABLE.name, {})
        types = arrow_schema(kind.TABLE)
        rows = max(map(len, columns.values()), default=0)
        # Other tools record no answers of brokers: a text that their histories lack is empty.
        columns = {
            name: _column(columns.get(name) or [None] * rows, types.field(name).type)
            for name in (field.name for field in fields(kind))
        }
        return without_canaries(kind(**columns))


def _column(values: list[Cell], kind: pa.DataType) -> Any:
    if not pa.types.is_dictionary(kind):
        return np.array(values, kind.to_pandas_dtype())
    numbers: dict[Cell, int] = {}
    rows = [numbers.setdefault(value or "", len(numbers)) for value in values]
    numbers.setdefault("", len(numbers))
    return Text(tuple(str(word) for word in numbers), np.array(rows, np.int32))


def _rows(row: type, table: pa.Table) -> list[Any]:
    names = [field.name for field in fields(row)]
    return [row(**{name: record[name] for name in names}) for record in table.to_pylist()]
