"""What publishers were answered about the messages that were due in each outage of a run.

All attempts of such a message count, whenever their answers came: an outage is counted in due
times.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.run_folder import rows
from harness.view.naming import counted_text, detail_text, failed_as
from spark_analysis.schema.sends import answer_of
from spark_analysis.schema.service import RUN, Outage
from spark_analysis.schema.words import Outcome, Strength, level_text

OUTAGES_MAX = 20
DUE_MAX = 200_000  # messages, whose answers take about a second to count


def answers_in(
    folder: Path, outages: Iterable[Outage], meanings: Mapping[str, str]
) -> dict[int, str]:
    """Return `283 confirmed by all required replicas, 111 confirmed: flush slave timeout`, by the
    begin of each outage of the whole run. `meanings`: what the client reports of attempts that
    failed. Nothing is counted if more than DUE_MAX messages were due. Raise Unreadable."""
    spells = [one for one in outages if one.scope == RUN][:OUTAGES_MAX]
    if sum(one.due for one in spells) > DUE_MAX:
        return {}
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
                found[number][_words(meanings, *answer)] += 1
    return {one.from_ns: counted_text(counts) for one, counts in zip(spells, found, strict=True)}


def _due_in(outage: Outage) -> object:
    due = rows.field("intended_ns")
    return (due >= outage.from_ns) & (due < outage.until_ns)


def _words(meanings: Mapping[str, str], outcome: int, strength: int, raw: str | None) -> str:
    if outcome != Outcome.CONFIRMED:
        return failed_as(outcome, answer_of(raw or ""), meanings)
    level = Strength(strength).label
    return detail_text(level) if level_text(level) != level else f"confirmed: {detail_text(level)}"
