"""Planned windows that never began, as a run's journal proves.

1. The journal has a fault before its action is issued. So a window without a line there never
   began: it is no fault of the run.
2. Without a readable journal nothing is proved, and the window stays a fault that may have been
   active.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.run_folder.journal import ARMED, JOURNAL, JournalError, read
from spark_analysis.schema.facts import Window


def never_begun(windows: Sequence[Window], folder: Path) -> frozenset[int]:
    """Return the numbers of the windows of the run in `folder` that are proved never to have
    begun."""
    unseen = [window for window in windows if not (window.verified or window.gone)]
    unseen = [window for window in unseen if window.ended_ns is None]
    if not unseen:
        return frozenset()
    try:
        entries = read(folder / JOURNAL)
    except (OSError, ValueError, JournalError):
        return frozenset()
    # Operations have numbers of their own.
    armed = {(one.armed.window, one.armed.kind) for one in entries if one.event == ARMED}
    return frozenset(one.number for one in unseen if (one.number, one.kind) not in armed)


def parted(
    windows: Iterable[Window], numbers: Collection[int]
) -> tuple[list[Window], list[Window]]:
    """Return the windows without those of these numbers, and those."""
    parts: tuple[list[Window], list[Window]] = [], []
    for window in windows:
        parts[window.number in numbers].append(window)
    return parts


def parted_facts(facts: Mapping[str, Any], numbers: Collection[int]) -> dict[str, Any]:
    """Return the facts of an older run with these windows apart from its faults."""
    windows, not_begun = parted(map(Window.from_json, facts["windows"]), numbers)
    apart = {"windows": windows, "not_begun": not_begun}
    return {**facts, **{name: list(map(asdict, part)) for name, part in apart.items()}}
