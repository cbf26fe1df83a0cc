"""What of old nights is kept: every verdict, every report, and the recordings of what did harm.

1. Recordings (an experiment's runs and marts) go once they are so many nights old, where each run
   was judged, did no harm and was no alarm's. What was kept for a reason is kept for good.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.nightly.record import Night, Played

RECORDINGS = "runs", "marts"


def done_with(nights: Sequence[Night], keep_passed: int) -> Iterator[str]:
    """The experiments whose recordings may go. `nights`: the oldest first."""
    for night in nights[: max(0, len(nights) - keep_passed)]:
        for one in night.played:
            if one.experiment and not _is_evidence(night, one):
                yield one.experiment


def tidy(folder: Path, nights: Sequence[Night], keep_passed: int) -> int:
    """Of how many experiments recordings were removed. Raises OSError."""
    removed = 0
    for name in done_with(nights, keep_passed):
        there = [folder / name / part for part in RECORDINGS if (folder / name / part).is_dir()]
        for path in there:
            shutil.rmtree(path)
        removed += bool(there)
    return removed


def _is_evidence(night: Night, one: Played) -> bool:
    if not one.judged or any(alarm.cell == one.cell for alarm in night.alarms):
        return True
    same_cell = [cell for cell in night.cells if cell.cell == one.cell]
    return not same_cell or any(
        claim.violated or claim.not_judged for cell in same_cell for claim in cell.claims.values()
    )
