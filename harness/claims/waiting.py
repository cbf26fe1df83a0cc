"""Messages that waited in queues when a fault came, and their fate."""

from harness.claims.counted import Counted
from harness.claims.doubts import LATER
from harness.claims.state import KnownFacts
from harness.claims.times import NS
from harness.claims.values import Interval, NotApplicable, Unknown, Value, Why, exactly
from spark_analysis.schema.facts import Window
from spark_analysis.schema.findings import Findings

_NONE = (
    "none that certainly waited: consumers had received more messages than publishers had "
    "confirms for"
)
_ONLY_LATE = "no redelivered message was certainly unacknowledged: the acknowledgement"


def waited(findings: Findings, window: Window) -> Interval:
    """Return the number of messages that waited, as a value for conditions. Deliveries of messages
    without a confirm can make it negative: then a reader sees words."""
    number = waiting(findings, window)
    return exactly(number, "" if number >= 0 else _NONE)


def waiting(findings: Findings, window: Window) -> int:
    """Return confirmed minus delivered, as of the last whole second before the fault."""
    second = window.origin_ns // int(NS)
    before = [row for row in findings.seconds if row.second < second]
    return sum(row.confirmed - row.delivered for row in before)


def kept(findings: Findings, state: KnownFacts, window: Window) -> Value:
    """Return whether the target still held it. Messages that arrived since its return may be among
    those that it holds, so a small number does not decide."""
    held, number = state.value("held_when_rejoined", window.number), waiting(findings, window)
    if not isinstance(held, Interval):
        return held
    if held.low >= number:
        return True
    if held.low * 10 <= number:
        return False
    origin = f"new ones, or some of the {number:,} that waited before the fault"
    advice = "let more messages wait before the fault (longer `baseline`)"
    return Unknown(f"the rejoined node held {held.low:,.0f} messages: {origin}", advice)


def requeued(counted: Counted, window: Window) -> Value:
    unacknowledged, late = counted.requeued(frozenset({window.number}))
    if unacknowledged:
        return True
    if counted.perhaps_requeued(frozenset({window.number})):
        return Unknown("what was redelivered may be due to another fault, or to none", LATER)
    if late:
        return NotApplicable(f"{_ONLY_LATE} of {late:,} perhaps came too late")
    if unrecorded := counted.total("unrecorded"):
        why = Why(" deliveries are of messages that no log of a publisher shows", unrecorded)
        return Unknown(why, "see how the publishers ended (manifest, workers), then run it again")
    none = "the broker redelivered nothing (retries of publishers do not count)"
    return NotApplicable(f"{none}, so perhaps nothing was unacknowledged")


def requeued_detail(counted: Counted, window: int) -> str:
    """Return which deliveries the broker repeated: `redelivered: 30 not acknowledged, 12 whose
    acknowledgement perhaps came too late`."""
    unacknowledged, late = counted.requeued(frozenset({window}))
    parts = [f"{unacknowledged:,} not acknowledged"] if unacknowledged else []
    parts += [f"{late:,} whose acknowledgement perhaps came too late"] if late else []
    return f"redelivered: {', '.join(parts)}" if parts else ""
