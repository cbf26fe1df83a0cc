"""What the auditor started, what the audit of logs read, how far consumers had come: in sentences.

1. A broker whose log was not read to its end is a place that could not be read; the facts of the
   run name it, and a verdict depends on that. Here it stands beside what was read.
2. A broker that did not recover by itself is named, and whether the audit started it, or why not:
   the auditor, not the broker, made its data readable.
3. Offsets prove no loss: they are shown for a person if they are not at the end.
"""

from collections.abc import Iterable
from pathlib import Path

import pyarrow.compute as pc

from harness.run_folder import rows
from harness.run_folder.manifest import AuditStart
from harness.run_folder.rows import Probe
from harness.view.observations import Observation

QUEUE_READ, LOG_READ, CONSUMER_OFFSET = "queue read", "log read", "consumer offset"
ROWS_MAX = 20_000
SHOWN_MAX = 4


def audit(folder: Path) -> tuple[Observation, ...]:
    """Of the run in `folder`; nothing where no log was read, or nothing can be read of it."""
    kinds = (QUEUE_READ, LOG_READ, CONSUMER_OFFSET)
    try:
        found = rows.read(folder, rows.Probe, ROWS_MAX, pc.field("kind").isin(kinds))
    except rows.Unreadable:
        return ()  # the page says which table, and why
    return describe(found)


def starts(records: Iterable[AuditStart]) -> tuple[Observation, ...]:
    """One sentence each."""
    return tuple(
        Observation("audit_start", 0, one.answered_ns is not None, describe_start(one))
        for one in records
    )


def describe_start(one: AuditStart) -> str:
    who = f"auditor: {one.place} had not come back by itself"
    if one.issued_ns is None:
        return f"{who} and was left so: {one.left}"
    act = f"{who}: {one.found}. It was started for the audit at +{one.issued_ns / 1e9:.1f} s"
    if one.answered_ns is None:
        return f"{act} and did not answer: {one.detail or 'the wait for it was ended'}"
    after_s = (one.answered_ns - one.issued_ns) / 1e9
    return f"{act}, answered after {after_s:.1f} s, and was then: {one.detail}"


def describe(probes: Iterable[Probe]) -> tuple[Observation, ...]:
    """At most one sentence of reading, one of offsets."""
    every = list(probes)
    reads = [one for one in every if one.kind in (QUEUE_READ, LOG_READ)]
    if not reads:
        return ()
    whole = all(one.ok for one in reads)
    brokers = sorted({one.target.partition(" ")[0] for one in reads})
    text = f"audit: the logs of {', '.join(brokers)} were read from their start"
    not_read = [one for one in reads if not one.ok]
    lines = [Observation("audit", 0, whole, text + _but(not_read, len(reads), "not read whole"))]
    offsets = [one for one in every if one.kind == CONSUMER_OFFSET]
    if offsets:
        away = [one for one in offsets if not one.ok]
        number = f"{len(offsets) - len(away)} of {len(offsets)}"
        text = f"consumers' offsets after the drain: {number} at the end of their queue"
        lines.append(Observation("consumer_offsets", 0, True, text + _but(away, len(offsets), "")))
    return tuple(lines)


def _but(probes: list[Probe], of: int, what: str) -> str:
    if not probes:
        return ""
    head = f", {len(probes)} of {of} {what}" if what else ""
    shown = "; ".join(f"{one.target}: {one.detail}" for one in probes[:SHOWN_MAX])
    more = f"; and {len(probes) - SHOWN_MAX} more" if len(probes) > SHOWN_MAX else ""
    return f"{head}; {shown}{more}"
