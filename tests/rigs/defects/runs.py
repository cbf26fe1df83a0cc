"""One history that a defect can rewrite.

1. Rows are never changed in place: a defect returns new rows, so that all cases share a base.
2. A delivery carries the time of its acknowledgement (`acked_ns`, None without one). Tags and
   acknowledgements are made from the times at the end, so that a moved delivery stays plausible.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.histories.history import FactValue, History
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NO_OFFSET, Outcome, Via

S = 1_000_000_000
MS = 1_000_000
Row = Mapping[str, Any]
Rows = Mapping[str, list[Row]]
Message = tuple[int, int]
_LOST = ("lost", "closed")


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded history, and what was declared of its broker."""

    name: str
    facts: Facts
    declared: Mapping[str, FactValue]
    recorded: Mapping[int, Mapping[str, FactValue]]
    rows: Rows

    def table(self, name: str) -> list[Row]:
        return self.rows.get(name, [])

    def having(self, **tables: Iterable[Row]) -> "Run":
        """Return the run with these tables in place of its own."""
        return replace(self, rows={**self.rows, **{name: [*it] for name, it in tables.items()}})

    @property
    def calm_ends(self) -> int:
        """Time of the first fault, or the end of load."""
        return min((it.origin_ns for it in self.facts.windows), default=self.facts.load_ended_ns)

    @property
    def is_log(self) -> bool:
        return any(row["offset"] != NO_OFFSET for row in self.table("deliveries"))

    @property
    def undone(self) -> int:
        """Time at which the undo of the first fault was issued."""
        (window, *_) = self.facts.windows
        undo = (it["at_ns"] for it in self.table("faults") if it["event"] == "undo_issued")
        return int(min(undo, default=window.ended_ns or self.facts.load_ended_ns))

    def of_load(self) -> Iterator[Row]:
        """Yield the deliveries that consumers of the load got."""
        return (row for row in self.table("deliveries") if row["via"] == Via.LOAD)

    def confirmed(self) -> dict[Message, int]:
        """Return when each message was first confirmed."""
        found: dict[Message, int] = {}
        for row in self.table("settlements"):
            if row["outcome"] == Outcome.CONFIRMED:
                name = message(row)
                found[name] = min(found.get(name, row["settled_ns"]), row["settled_ns"])
        return found

    def special(self) -> set[Message]:
        """Return the messages that are delayed or in a transaction."""
        return {message(row) for row in self.table("terms")}

    def lost_after(self, consumer: int, connection: int) -> int:
        """Return when this connection ended; the end of load if it did not."""
        ends = (
            row["at_ns"]
            for row in self.table("client_events")
            if row["kind"] in _LOST
            and (row["worker"], row["connection"]) == (consumer, connection)
        )
        return int(min(ends, default=self.facts.load_ended_ns))


Change = Callable[[Row], Row | None]


def message(row: Row) -> Message:
    return row["producer"], row["sequence"]


def changed(rows: Iterable[Row], change: Change) -> list[Row]:
    """Return the rows after a change of each; the change drops a row by None."""
    return [new for row in rows if (new := change(row)) is not None]


def _times(run: Run) -> dict[Message, int]:
    """Return when each message was first intended or sent."""
    found: dict[Message, int] = {}
    for row in run.table("attempts"):
        found.setdefault(message(row), max(row["intended_ns"], row["sent_ns"], 0))
    return found


def sent_within(run: Run, from_ns: float, until_ns: float) -> list[Message]:
    """Return the messages that were intended, or first sent, in this time."""
    return [name for name, at_ns in _times(run).items() if from_ns <= at_ns < until_ns]


def moved(row: Row, received_ns: int, **values: Any) -> Row:
    """Return the delivery at another time; its acknowledgement moves with it."""
    acked_ns = row["acked_ns"]
    if acked_ns is not None:
        acked_ns += received_ns - row["received_ns"]
    return {**row, "received_ns": received_ns, "acked_ns": acked_ns, **values}


def of_rows(
    name: str,
    facts: Facts,
    declared: Mapping[str, FactValue],
    recorded: Mapping[int, Mapping[str, FactValue]],
    rows: Rows,
) -> Run:
    """Return a run of recorded rows."""
    acked: dict[tuple[Any, Any, int], int] = {}
    for row in rows.get("acknowledgements", []):
        for tag in range(row["first_tag"], row["last_tag"] + 1):
            acked.setdefault((row["consumer"], row["connection"], tag), row["written_ns"])
    deliveries: list[Row] = [
        {**row, "acked_ns": acked.get((row["consumer"], row["connection"], row["tag"]))}
        for row in rows.get("deliveries", [])
    ]
    kept = {table: it for table, it in rows.items() if table != "acknowledgements"}
    return Run(name, facts, declared, recorded, {**kept, "deliveries": deliveries})


def history(run: Run) -> History:
    """Return the run in the form that `mqproof judge` reads."""
    deliveries = _tagged(run.table("deliveries"))
    acknowledgements = [
        {
            "consumer": row["consumer"],
            "connection": row["connection"],
            "first_tag": row["tag"],
            "last_tag": row["tag"],
            "written_ns": row["acked_ns"],
        }
        for row in deliveries
        if row["acked_ns"] is not None
    ]
    rows: Rows = {**run.rows, "deliveries": deliveries, "acknowledgements": acknowledgements}
    tables = {
        name: {column: [row[column] for row in listed] for column in listed[0]}
        for name, listed in rows.items()
        if listed
    }
    tables.get("deliveries", {}).pop("acked_ns", None)
    return History(run.facts, run.declared, run.recorded, tables)


def _tagged(deliveries: list[Row]) -> list[Row]:
    """Number the deliveries of each connection by time, and leave the order of rows alone."""
    latest: dict[tuple[Any, Any], int] = {}
    tags = [0] * len(deliveries)
    by_time = sorted(
        range(len(deliveries)),
        key=lambda it: (deliveries[it]["received_ns"], deliveries[it]["tag"]),
    )
    for index in by_time:
        row = deliveries[index]
        connection = row["consumer"], row["connection"]
        tags[index] = latest[connection] = latest.get(connection, 0) + 1
    return [{**row, "tag": tag} for row, tag in zip(deliveries, tags, strict=True)]
