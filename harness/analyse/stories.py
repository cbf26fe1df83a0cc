"""One message's story for a FAIL, or one window's: where to begin to look.

1. The earliest message that shows the violation is told, so that the same run tells the same one.
2. A story names what replays it: producer and sequence stand in every raw table of the run.
"""

from harness.analyse.doubts import worker_name
from harness.analyse.evidence import Evidence
from harness.analyse.times import stage_text
from harness.analyse.vocabulary import COUNTS
from spark_analysis.schema.findings import Affected

_TOLD = {
    "lost": "was first sent at {at} and confirmed ({detail}), never delivered, not found by the "
    "audit after a complete drain",
    "stranded": "was confirmed ({detail}) and never delivered; the audit found it at {at}",
    "refused_but_delivered": "was {detail}, and yet delivered at {at}",
    "unexpected": "was delivered at {at}, but names nothing that was sent ({detail})",
    "corrupt": "was delivered at {at} with a broken {detail}",
    "duplicated": "was delivered again at {at}, attempt {attempt} ({detail})",
    "reordered": "was first delivered at {at}, after a later message of its key",
    "early": "was delivered at {at}, attempt {attempt}, before it was due",
    "rolled_back_but_delivered": "was in a transaction that was rolled back, and yet delivered at "
    "{at}",
    "torn_transaction": "was committed ({detail}) and never delivered; the audit found its half, "
    "without the commit, at {at}",
    "lost_indeterminate": "had an unknown outcome, was first sent at {at} and never delivered",
    "revived": "had an unknown outcome and was delivered at {at}",
}


def story(fact: str, window: int, evidence: Evidence) -> str:
    """What happened to the first message (or in the window) that a fact speaks of."""
    measure, _, detail = fact.partition(".")
    if measure in COUNTS:
        return _message_story(measure, detail, evidence)
    return _window_story(window, evidence) if window else ""


def _message_story(measure: str, detail: str, evidence: Evidence) -> str:
    rows = [
        row
        for row in evidence.findings.affected
        if row.measure == measure and detail in ("", row.detail)
    ]
    if not rows or measure not in _TOLD:
        return ""
    row = min(rows, key=lambda one: (one.at_ns, one.producer, one.sequence, one.attempt))
    at = f"+{row.at_ns / 1e9:.3f} s"
    told = _TOLD[measure].format(at=at, detail=row.detail, attempt=row.attempt)
    return f"{_message(row, evidence)} {told}"


def _message(row: Affected, evidence: Evidence) -> str:
    if row.producer < 0:
        return f"a message that cannot be identified, in {row.queue},"
    who = worker_name(row.producer, evidence.facts)
    return f"message {row.sequence} of {who} (producer {row.producer}) in {row.queue}"


def _window_story(number: int, evidence: Evidence) -> str:
    window = evidence.window(number)
    stages = sorted(
        (row for row in evidence.findings.stages if row.window == number),
        key=lambda row: (not row.reached, row.after_ns, row.stage),
    )
    told = ", ".join(f"{row.stage} {stage_text(row)}" for row in stages)
    return f"the {window.kind} at +{window.origin_ns / 1e9:.3f} s: {told or 'no stage was judged'}"
