"""Rows as a file of OpenChaos: what harness/histories/openchaos.py reads."""

from collections.abc import Sequence

from harness.histories.openchaos import RESULTS
from harness.histories.rows import FAULT, INVOKE, MS, Row


def lines_of(rows: Sequence[Row]) -> str:
    """Return the text of the file."""
    return "".join(f"{line}\n" for line in map(_line, rows))


def _line(row: Row) -> str:
    at_ms = row.at_ns // MS
    value, key = str(row.value).replace("None", "null"), row.key or "null"
    if row.f == FAULT:
        return "\t".join((FAULT, str(row.value), row.ev, str(at_ms)))
    if row.ev == INVOKE:
        return "\t".join((row.client, row.f, "REQUEST", value, key, str(at_ms), "null"))
    result = next(word for word, ev in RESULTS.items() if ev == row.ev)
    latency = str((row.latency_ns or 0) // MS)
    columns = (row.client, row.f, "RESPONSE", result, value, key, str(at_ms), latency, "null", "0")
    return "\t".join(columns)
