"""The story of one message, or of one window, for a FAIL: the place to begin the search.

1. The story is that of the earliest message that shows the violation, so the same run gives the
   same one.
2. A story names what replays it: producer and sequence stand in every raw table of the run.
"""

import math

from harness.claims.doubts import worker_name
from harness.claims.evidence import Evidence
from harness.claims.recovery import NEEDS_CONSUMERS, is_without_backlog, stages_of
from harness.claims.times import stage_text
from harness.claims.values import Interval, from_to
from harness.outside.text import brief
from harness.plan.vocabulary import COUNTS
from spark_analysis.schema import measures
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.digest import SUSTAINED
from spark_analysis.schema.measures import BY_NAME, STAGE_TITLES
from spark_analysis.schema.messages import Affected
from spark_analysis.schema.words import Strength, level_text

NO_BACKLOG = "no backlog"
_DIGITS_MAX = 20  # of a value that needs no quotation marks


def story(fact: str, window: int, evidence: Evidence) -> str:
    """Return what happened to the first message (or in the window) of a fact."""
    measure, _, detail = fact.partition(".")
    if measure in COUNTS:
        return _message_story(measure, detail, evidence)
    return _window_story(window, evidence) if window else ""


def _message_story(measure: str, detail: str, evidence: Evidence) -> str:
    rows = [
        row
        for row in evidence.findings.examples
        if row.measure == measure and detail in ("", row.detail)
    ]
    if not rows or not BY_NAME[measure].story:
        return ""
    row = min(rows, key=lambda one: (one.at_ns, one.producer, one.sequence, one.attempt))
    at = f"+{row.at_ns / 1e9:.3f} s"
    known = measures.detail(measure, row.detail)
    detail = known.title if known is not None else _level(row.detail)
    text = BY_NAME[measure].story.format(at=at, detail=detail, attempt=row.attempt)
    return f"{_message(row, evidence)} {text}"


def _level(label: str) -> str:
    return "level not recorded" if label == Strength.NONE.label else level_text(label)


def _message(row: Affected, evidence: Evidence) -> str:
    if row.producer < 0:
        return f"a message that cannot be identified, in {row.queue},"
    who = worker_name(row.producer, evidence.facts)
    value = evidence.values_sent.get((row.producer, row.sequence))
    if value is not None:  # such a history numbers no messages and names no queue
        plain = value.isdecimal() and len(value) < _DIGITS_MAX
        return f"value {value if plain else brief(value)} of the history (from {who})"
    raw = f"producer {row.producer} in the raw tables"
    return f"{message_name(row.sequence)} of {who} ({raw}) in {row.queue}"


def message_name(sequence: int) -> str:
    """Return `message 7`; of the first one `message 0 (the first)`: raw tables count from 0."""
    return f"message {sequence}{'' if sequence else ' (the first)'}"


def _window_story(number: int, evidence: Evidence) -> str:
    window = evidence.facts.window(number)
    unneeded = {SUSTAINED} if evidence.never_late(number) else set()
    if evidence.state.lacks("consumers") is True:
        unneeded |= NEEDS_CONSUMERS
    stages = sorted(
        (row for row in stages_of(evidence.findings, window) if row.stage not in unneeded),
        key=lambda row: (not row.reached, row.after_ns, row.stage),
    )
    text = ", ".join(_stage_story(row, evidence) for row in stages)
    at = f"+{window.origin_ns / 1e9:.3f} s since the recording began"
    return f"fault {number} ({window.kind} at {at}): {text or 'no time was judged'}"


def had_no_backlog(evidence: Evidence, window: int) -> bool:
    """Return whether it is certain that no message waited too long for consumers after a fault."""
    first = evidence.value("consumers_resumed_s", window)
    return is_without_backlog(evidence.value("backlog_drained_s", window), first)


def _stage_story(row: Stage, evidence: Evidence) -> str:
    """Return `first confirm of a new message after 0.200 s`; `after 10.5 to 10.8 s` if a stall
    made it uncertain; `no backlog`."""
    if row.stage == "backlog_drained" and had_no_backlog(evidence, row.window):
        return NO_BACKLOG
    value = evidence.value(f"{row.stage}_s", row.window)
    text = stage_text(row)
    if row.reached and isinstance(value, Interval) and value.low < value.high < math.inf:
        text = f"after {from_to(value.low, value.high)}"
    return f"{STAGE_TITLES[row.stage]} {text}"
