"""What publishers were answered about the messages that were due in each outage of a run.

All attempts of such a message count, whenever their answers came: an outage is counted in due
times.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.run_folder import rows
from spark_analysis.schema.service import RUN, Outage
from spark_analysis.schema.words import Outcome, Strength, level_text

OUTAGES_MAX = 20
# Of what a client reports, what differs between attempts is left out.
_KIND = re.compile(r"connection lost|\w*(?:Exception|Error)\b|[\w ]+")


def answers_in(folder: Path, outages: Iterable[Outage]) -> dict[int, str]:
    """Return `283 confirmed by all required replicas, 111 confirmed: flush slave timeout`, by the
    begin of each outage of the whole run. Raise Unreadable."""
    spells = [one for one in outages if one.scope == RUN][:OUTAGES_MAX]
    due = {
        (row["producer"], row["sequence"]): number
        for number, one in enumerate(spells)
        for batch in rows.batches(folder, "attempts", ["producer", "sequence"], _due_in(one))
        for row in batch.to_pylist()
    }
    if not due:
        return {}
    found: Sequence[Counter[str]] = [Counter() for _ in spells]
    since = rows.field("settled_ns") >= min(one.from_ns for one in spells)
    columns = ["producer", "sequence", "outcome", "strength", "raw"]
    for batch in rows.batches(folder, "settlements", columns, since):
        for producer, sequence, *answer in zip(*batch.to_pydict().values(), strict=True):
            number = due.get((producer, sequence))
            if number is not None:
                found[number][_words(*answer)] += 1
    return {one.from_ns: _text(counts) for one, counts in zip(spells, found, strict=True)}


def _due_in(outage: Outage) -> object:
    due = rows.field("intended_ns")
    return (due >= outage.from_ns) & (due < outage.until_ns)


def _words(outcome: int, strength: int, raw: str | None) -> str:
    if outcome != Outcome.CONFIRMED:
        kind = _KIND.match(raw or "")
        return kind[0] if kind else "not confirmed"
    label = Strength(strength).label
    text = level_text(label)
    return f"confirmed: {label.replace('_', ' ')}" if text == label else f"confirmed {text}"


def _text(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{number:,} {answer}" for answer, number in ordered)
