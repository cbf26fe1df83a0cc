"""The gate's answer over the nights on record, and the exit code of tonight.

1. A baseline is a folder of experiments that a person declared good by putting them there.
2. Alarms fail the night. Without one it is undecided where something that was planned was not
   judged, is not decided any more, has no baseline, or where its experiments are gone.
"""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from harness.compare.gate import Gate, gate
from harness.compare.versus import Side
from harness.judging import recalled, verdict_file
from harness.judging.exits import Exit
from harness.nightly import playing, record
from harness.nightly.message import alarm_text
from harness.nightly.record import Alarmed, Night


def baseline_of(folder: Path) -> Side:
    """All runs of the experiments in a folder; none where it is not there. Raises PlanError."""
    return recalled.joined(str(folder), sorted(folder.glob(f"*/{verdict_file.NAME}")))


def judged(folder: Path, night: Night) -> Night:
    """The night with what its experiments showed. Raises PlanError."""
    names = dict.fromkeys(one.experiment for one in night.played if one.experiment)
    paths = [folder / name / verdict_file.NAME for name in names]
    there = [path for path in paths if path.exists()]
    side = recalled.joined(night.name, there)
    return replace(night, cells=record.cells(side), versions=recalled.versions(there))


def answered(baseline: Side, before: Iterable[Night], night: Night) -> tuple[Night, Gate]:
    """The night as it is over, and the gate's answer."""
    every = [*before, night]
    result = gate(baseline, [record.side(one) for one in every])
    changed = dict(zip((one.name for one in every), record.changes(every), strict=True))
    texts = [(one, alarm_text(one, changed.get(one.since, ()))) for one in result.alarms]
    alarms = tuple(Alarmed(one.cell, one.what, text) for one, text in texts)
    return replace(night, alarms=alarms, exit_code=_exit(result, night)), result


def _exit(result: Gate, night: Night) -> Exit:
    if result.alarms:
        return Exit.FAILED
    there = {one.cell for one in night.cells}
    gone = not there or any(one.judged and one.cell not in there for one in night.played)
    open_ends = result.unjudged or result.undecided or result.new or any(playing.left(night))
    return Exit.NOT_DECIDED if gone or open_ends else Exit.PASSED
