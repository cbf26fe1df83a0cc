"""Data that nodes of a dead local cluster left, if none of its processes runs any more.

1. If harness and guardian die together, nodes end with their parent and their data stay. They are
   found by the cluster plans in the folders of experiments.
2. A cluster is not touched if a part of it runs, if its owner lives, or if it is to be kept and
   its experiment is not chosen by name.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from faults.executors import local_processes as processes
from harness.cleanup.heal import EVERYBODY, Chosen, HealResult
from harness.deploy.by_hand_files import folders, is_held
from harness.deploy.local.site import FILES, PLAN, Site, data_of, load
from harness.deploy.owner import alive
from harness.outside.files import is_folder

RESULTS = Path("results")  # the default folder of experiments


def clear(chosen: Chosen, dry: bool) -> Iterator[HealResult]:
    """Yield one row a cluster. `dry`: only report what would be done."""
    for folder in _clusters(chosen):
        site = _left(folder)
        if site is None or (site.keep and not chosen.experiment):
            continue
        what = "remove what its nodes had stored"
        if dry:
            yield HealResult(site.cluster, f"would {what}")
            continue
        try:
            shutil.rmtree(data_of(folder))
            yield HealResult(site.cluster, what)
        except OSError as failure:
            yield HealResult(site.cluster, what, ok=False, doubt=str(failure))


def _clusters(chosen: Chosen) -> Iterator[Path]:
    results = chosen.results or RESULTS
    places = [results, *sorted(results.glob("*"))] if is_folder(results) else []
    if chosen.experiment and is_folder(own := Path(chosen.experiment)):
        places.append(own)
    meant = (place.resolve() for place in places if chosen.means(place.resolve()))
    for experiment in dict.fromkeys(meant):
        yield from sorted(plan.parent for plan in experiment.glob(f"{FILES}/*/{PLAN}"))


def _left(folder: Path) -> Site | None:
    """The cluster whose nodes' data lie there, and nothing else of it."""
    if not is_folder(data_of(folder)):
        return None
    try:
        site = load(folder)
    except OSError:
        return None
    if site.folder != folder or processes.of(site.cluster) or alive(site.owner):
        return None
    return site


# --- What a dead keeper of clusters by hand left: the data of nodes, and its folder --------------
# 1. Its clusters are found like those of runs, by labels and environments.
# 2. Its folder goes last, if nothing before it failed: it has the journals of faults.


_WHAT = "remove the files of clusters by hand"


def clean_dead_keepers(chosen: Chosen, dry: bool, all_ok: bool) -> Iterator[HealResult]:
    """Yield the rows of every such folder. `all_ok`: whether nothing before it failed."""
    for folder in folders():
        if _means(chosen, folder) and not is_held(folder):
            rows = list(clear(Chosen(results=folder), dry))
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
