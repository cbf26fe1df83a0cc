"""What a dead keeper of clusters by hand left: the data of nodes, and its folder.

1. Its clusters are found like those of runs, by labels and environments.
2. Its folder goes last, if nothing before it failed: it has the journals of faults.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from harness.cleanup import local_leftovers
from harness.cleanup.heal import EVERYBODY, Chosen, HealResult
from harness.deploy.by_hand_files import folders, is_held

_WHAT = "remove the files of clusters by hand"


def clear(chosen: Chosen, dry: bool, all_ok: bool) -> Iterator[HealResult]:
    """Yield the rows of every such folder. `all_ok`: whether nothing before it failed."""
    for folder in folders():
        if _means(chosen, folder) and not is_held(folder):
            rows = list(local_leftovers.clear(Chosen(results=folder), dry))
            yield from rows
            if all_ok and all(row.ok for row in rows):
                yield _removed(folder, dry)


def _means(chosen: Chosen, folder: Path) -> bool:
    if chosen == EVERYBODY:
        return True
    return not chosen.experiment and chosen.results is not None and chosen.means(folder.resolve())


def _removed(folder: Path, dry: bool) -> HealResult:
    if dry:
        return HealResult(folder.name, f"would {_WHAT}")
    try:
        shutil.rmtree(folder)
    except OSError as failure:
        return HealResult(folder.name, _WHAT, ok=False, doubt=str(failure))
    return HealResult(folder.name, _WHAT)
