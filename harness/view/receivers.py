"""Who first got the messages that came out of order: consumers of the load, or the drain.

A message that only the drain got out of order reached no consumer of the load. The verdict is the
same; the reader learns where to look. If a row is missing, nothing is reported.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.run_folder import rows
from harness.view.observations import Observation
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.messages import Affected

OUT_OF_ORDER = "reordered"
_COLUMNS = ["producer", "sequence", "received_ns", "via"]


def receivers(folder: Path, findings: Findings, facts: Facts) -> tuple[Observation, ...]:
    """Return one line for a run with messages out of order: how many each of the two got."""
    if not any(one.measure == OUT_OF_ORDER and one.count for one in findings.counts):
        return ()
    try:
        late = [one for one in findings.affected if one.measure == OUT_OF_ORDER]
        ways = _ways(folder, late)
    except (rows.Unreadable, OSError):
        return ()  # the page says which table, and why
    found = [ways.get((one.producer, one.sequence, one.at_ns)) for one in late]
    numbers = facts.way_numbers
    by_load = sum(way in numbers.load for way in found)
    by_drain = sum(way in numbers.drain for way in found)
    if not found or by_load + by_drain < len(found):
        return ()
    text = f"{by_load:,} at consumers, {by_drain:,} at the drain"
    return (Observation(OUT_OF_ORDER, 0, True, text),)


def _ways(folder: Path, late: Sequence[Affected]) -> dict[tuple[int, int, int], int]:
    """Return the way of each delivery at the time of a case, by message and time."""
    times = rows.field("received_ns").isin(sorted({one.at_ns for one in late}))
    return {
        (row["producer"], row["sequence"], row["received_ns"]): row["via"]
        for batch in rows.batches(folder, "deliveries", _COLUMNS, times)
        for row in batch.to_pylist()
    }


def at_their_number(
    lines: Iterable[Observation], found: Iterable[Observation]
) -> tuple[Observation, ...]:
    """Return the lines; that of messages out of order ends with who got them."""
    tail = "".join(f"; {one.text}" for one in found)
    return tuple(
        replace(one, text=f"{one.text}{tail}") if one.name == OUT_OF_ORDER else one
        for one in lines
    )
