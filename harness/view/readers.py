"""Who read a message, in a history's words, and what a reader's acknowledgement proves.

1. A reader has one name: `consumer 1`, `the drain`. Other workers, such as those of the audit,
   have the name of their log.
2. A client acknowledges a message of a log to its own library. The broker learns of it only when
   the library commits the offset (docs/verdicts.md 5.1).
"""

from collections.abc import Iterable, Iterator, Mapping

from harness.claims.doubts import worker_name
from harness.run_folder import rows
from harness.view.trace_steps import TraceStep
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.messages import Affected

THE_DRAIN = "the drain"
_NOT_COMMITTED = (
    " to its client library; it is not certain that its offset was committed to the broker before "
    "the message was delivered again"
)


def reader(row: rows.Delivery, facts: Facts, names: Mapping[int, str]) -> str:
    """Return who got a delivery. `names`: of all workers, by number."""
    ways = facts.way_numbers
    if row.via in ways.drain:
        return THE_DRAIN
    if row.via in ways.load:
        return worker_name(row.consumer, facts)
    return names.get(row.consumer, f"worker {row.consumer}")


def acknowledgements(
    row: rows.Delivery,
    case: Affected,
    written: Iterable[rows.Acknowledgement],
    facts: Facts,
    names: Mapping[int, str],
) -> Iterator[TraceStep]:
    """Yield the acknowledgements of one delivery. `case`: for which the history is shown."""
    for ack in written:
        same = (ack.consumer, ack.connection) == (row.consumer, row.connection)
        if same and ack.first_tag <= row.tag <= ack.last_tag:
            where = _NOT_COMMITTED if _came_again(row, case, ack) else ""
            tag = f", delivery tag {row.tag}" if row.offset < 0 else ""  # logs have offsets
            of = f"attempt {row.attempt}{tag}"
            text = f"acknowledged by {reader(row, facts, names)} ({of}){where}"
            yield TraceStep(ack.written_ns, "acknowledged", text)


def _came_again(row: rows.Delivery, case: Affected, ack: rows.Acknowledgement) -> bool:
    """Return whether a log delivered again what had been acknowledged, and that breaks nothing."""
    harmless = (case.measure, case.detail) == ("duplicated", "redelivery")
    earlier = row.attempt == case.attempt and ack.written_ns < case.at_ns
    return harmless and earlier and row.offset >= 0 and bool(row.broker)
