"""Facts of a run from clients' raw rows: its end, and the time while an operator was at work.

1. A queue stands still if for half of an operation's time at least none of its messages is
   confirmed or delivered, though some are due. Half, because the end of an operation is noticed
   late.
2. Silence proves nothing if the operation failed, was over in a moment, met a fault, or the
   instrument itself stood still. Service that went on all the same still counts.
"""

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import pairwise
from operator import or_
from pathlib import Path

import pyarrow as pa

from harness.run_folder import rows
from harness.run_folder.client_events import moved_in_windows, reached_another
from harness.run_folder.manifest import Manifest
from harness.run_folder.operations import OperationRecord
from spark_analysis.files.sealed import RAW
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures_of_runs import CONSUMER_STALLS, LONG_STALLS
from spark_analysis.schema.service import JUDGED_MIN
from spark_analysis.schema.tables import CLIENT_EVENTS
from spark_analysis.schema.words import Outcome

SYNCHRONISE = "synchronise"
LEAST_NS = 1_000_000_000
STILL, LEFT = "stood_still_synchronising", "left_to_drain"
MOVED = "clients_reached_another"
ROWS_MAX = 2_000_000  # of a table: more would be no moment in which an operator waits
_NONE = {"not_applicable": "no queue was synchronised by an operator"}
_MOMENT = {"not_applicable": "what was synchronised took no second"}
_STALLS = (*LONG_STALLS, "stalls", CONSUMER_STALLS, "publisher_log")

ClientValue = bool | int | Mapping[str, object] | None


def client_state(
    folder: Path, manifest: Manifest, facts: Facts, findings: Findings
) -> dict[str, ClientValue]:
    """Words of plan/vocabulary (OPERATED, SEEN), of the run in `folder`, and of its `windows`
    (RECORDED); None is unknown."""
    events = folder / RAW / f"{CLIENT_EVENTS.name}.parquet"
    try:
        moved = reached_another(manifest, events)
        still = _still(folder, manifest, facts, findings)
        own = {LEFT: _left(folder, facts), STILL: still, MOVED: moved}
        return {**own, "windows": moved_in_windows(manifest, events)}
    except (rows.Unreadable, OSError, pa.ArrowException):
        return {LEFT: None, STILL: None, MOVED: None}


def _left(folder: Path, facts: Facts) -> int:
    """Return the number of deliveries that only the drain received."""
    by_drain = reduce(or_, (rows.field("via") == way for way in facts.way_numbers.drain))
    return sum(len(batch) for batch in rows.batches(folder, "deliveries", ["via"], by_drain))


def _still(folder: Path, manifest: Manifest, facts: Facts, findings: Findings) -> ClientValue:
    done = [one for one in manifest.operations if one.kind == SYNCHRONISE]
    if not done:
        return _NONE
    answers = [_stood_still(folder, one, facts, findings) for one in done]
    judged = [one for one in answers if not isinstance(one, dict)]
    if not judged:
        return _MOMENT
    if False in judged:
        return False
    return None if None in judged else True


def _stood_still(
    folder: Path, operation: OperationRecord, facts: Facts, findings: Findings
) -> ClientValue:
    began_ns, until_ns = operation.began_ns, operation.returned_ns
    if began_ns is None or until_ns is None or not operation.ok or not facts.confirms:
        return None
    if until_ns - began_ns < LEAST_NS:
        return _MOMENT
    due, names = _of_queue(folder, operation.target, began_ns, until_ns)
    if due < JUDGED_MIN:
        return None
    seen = sorted(_seen(folder, operation.target, names, began_ns, until_ns))
    longest_ns = max(b - a for a, b in pairwise([began_ns, *seen, until_ns]))
    if longest_ns * 2 < until_ns - began_ns:
        return False
    return None if _doubtful(began_ns, until_ns, facts, findings) else True


def _of_queue(
    folder: Path, queue: str, began_ns: int, until_ns: int
) -> tuple[int, set[tuple[int, int]]]:
    """Return how many of its messages were due in that time, and the names of all that were sent
    by its end."""
    where = (rows.field("queue") == queue) & (rows.field("sent_ns") <= until_ns)
    where |= (rows.field("queue") == queue) & (rows.field("intended_ns") <= until_ns)
    sent = rows.read(folder, rows.Attempt, ROWS_MAX, where)
    ours = [one for one in sent if one.producer >= 0]
    due = sum(one.attempt == 1 and began_ns <= one.intended_ns < until_ns for one in ours)
    return due, {(one.producer, one.sequence) for one in ours}


def _seen(
    folder: Path, queue: str, names: set[tuple[int, int]], began_ns: int, until_ns: int
) -> Iterator[int]:
    """Yield when any of them was confirmed in that time, or anything delivered from the queue."""
    at = rows.field("settled_ns")
    for said in rows.read(folder, rows.Settlement, ROWS_MAX, (at >= began_ns) & (at <= until_ns)):
        if said.outcome == Outcome.CONFIRMED and (said.producer, said.sequence) in names:
            yield said.settled_ns
    at = rows.field("received_ns")
    for one in rows.read(folder, rows.Delivery, ROWS_MAX, (at >= began_ns) & (at <= until_ns)):
        if one.queue == queue:
            yield one.received_ns


def _doubtful(began_ns: int, until_ns: int, facts: Facts, findings: Findings) -> bool:
    """Return whether a fault, or the instrument, may be the cause of the standstill."""
    faulty = any(
        window.origin_ns < until_ns and (window.ended_ns is None or window.ended_ns > began_ns)
        for window in facts.windows
    )
    stalled = any(
        one.reason in _STALLS
        and (one.reason not in LONG_STALLS or one.at_ns - one.late_ns < until_ns)
        and (one.reason not in LONG_STALLS or one.at_ns > began_ns)
        for one in findings.doubts
        if one.scope == "availability"
    )
    return faulty or stalled
