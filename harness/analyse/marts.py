"""From recorded runs to their findings: seal, judge all in one Spark session, read the marts.

1. One session for all runs of a report, started after the last of them closed.
2. A run that cannot be sealed, or is not what was sealed, is named with its reason; the others
   are judged all the same. Where none is left, Spark is not started.
3. Only marts come back to this process; a history never does.
4. Runs of several experiments may have one name; then each is called by its experiment's, too.
"""

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from harness.analyse.asked import question
from harness.analyse.experiments import RUNS
from harness.analyse.state import State
from harness.run_folder.manifest import NAME, Manifest
from harness.run_folder.whole import NotWhole, whole
from spark_analysis.engine.judge import judge_folder
from spark_analysis.engine.pipeline import analyse
from spark_analysis.engine.session import session
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.costs import COSTS, Costs
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.views import VIEWS, Views

FOLDER = "marts"
Rows = dict[str, tuple[Any, ...]]  # by mart


@dataclass(frozen=True, slots=True)
class Judged:
    """One run with what the analysis found of it."""

    folder: Path
    manifest: Manifest
    facts: Facts
    findings: Findings
    costs: Costs = field(default_factory=Costs)
    views: Views = field(default_factory=Views)


@dataclass(frozen=True, slots=True)
class Marts:
    """Runs in the order of their experiments and names, and the comparison over cells."""

    runs: tuple[Judged, ...]
    comparison: tuple[Comparison, ...]
    unreadable: Mapping[Path, str]  # by the run's folder: why it could not be judged


class NothingRecorded(Exception):
    """The folder holds no run that could be judged: the folder, and why."""


def judge_all(
    folder: Path,
    step: Callable[[str], None],
    pieces: Mapping[str, Path] | None = None,
    resealed_at: str = "",
) -> Marts:
    """Seals what is not sealed, judges every run, writes the marts into `folder` and reads them.

    `pieces`: the experiments that hold the runs, by name; `folder` alone where it is not said.
    `resealed_at`: the time, where damaged runs are to be sealed anew from their logs.
    Raises NothingRecorded where there is no run at all, or no place for the marts; NoJava where
    Spark cannot start.
    """
    step("seal the logs, and check what was sealed")
    held = pieces or {folder.name: folder}
    sealed, unreadable = _seal_all(held, resealed_at)
    marts = folder / FOLDER
    if not sealed:
        if not unreadable:
            raise NothingRecorded(f"{folder}: nothing to judge: it has no {RUNS}/*/{NAME}")
        shutil.rmtree(marts, ignore_errors=True)  # they tell of runs that are not judged now
        return Marts((), (), unreadable)
    _make_place(marts)
    step("start Spark")
    with session() as spark:
        step("judge the runs")
        asked = [question(State.from_json(each.state), each.run) for _, each in sealed]
        analyse(spark, [str(run) for run, _ in sealed], str(marts), asked)
    tables = {**MARTS, **COSTS, **VIEWS}
    by_run = {name: _by_run(_read(marts / name, row)) for name, row in tables.items()}
    judged = [_judged(run, manifest, by_run) for run, manifest in sealed]
    return Marts(tuple(judged), _read(marts / "comparison", Comparison), unreadable)


def _make_place(marts: Path) -> None:
    """Spark would need a page to say that it cannot write."""
    try:
        marts.mkdir(exist_ok=True)
    except OSError as failure:
        raise NothingRecorded(f"{marts}: {failure.strerror}") from failure
    if not os.access(marts, os.W_OK):
        raise NothingRecorded(f"{marts} cannot be written")


def judge_one(folder: Path) -> Judged | None:
    """A run that others follow, judged at once and without Spark; None where it cannot be."""
    try:
        manifest = whole(folder)
    except NotWhole:
        return None
    tables = {**MARTS, **COSTS, **VIEWS}
    asked = question(State.from_json(manifest.state), manifest.run)
    found = {name: table for name, table in judge_folder(folder, asked) if name in tables}
    rows = {name: _rows(table, tables[name]) for name, table in found.items()}
    return _judged(folder, manifest, {name: {manifest.run: rows.get(name, ())} for name in tables})


def _seal_all(
    held: Mapping[str, Path], resealed_at: str
) -> tuple[list[tuple[Path, Manifest]], dict[Path, str]]:
    """Every run that can be judged, under the name that it has here."""
    sealed: list[tuple[str, Path, Manifest]] = []
    unreadable = {}
    for experiment, place in held.items():
        for folder in sorted(path for path in (place / RUNS).glob("*") if path.is_dir()):
            try:
                sealed.append((experiment, folder, whole(folder, resealed_at)))
            except NotWhole as reason:
                unreadable[folder] = str(reason)
    often = Counter(manifest.run for _, _, manifest in sealed)
    named = [
        (folder, _renamed(manifest, experiment) if often[manifest.run] > 1 else manifest)
        for experiment, folder, manifest in sealed
    ]
    return named, unreadable


def _renamed(manifest: Manifest, experiment: str) -> Manifest:
    return replace(manifest, run=f"{experiment}/{manifest.run}")


def _read(folder: Path, row: type[Any]) -> tuple[Any, ...]:
    if not folder.exists():
        return ()
    table = ds.dataset(folder, format="parquet", exclude_invalid_files=True).to_table()
    return _rows(table, row)


def _rows(table: pa.Table, row: type[Any]) -> tuple[Any, ...]:
    names = [item.name for item in fields(row)]
    return tuple(row(**{name: record[name] for name in names}) for record in table.to_pylist())


def _by_run(mart: Iterable[Any]) -> dict[str, tuple[Any, ...]]:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in mart:
        found[row.run].append(row)
    return {run: tuple(rows) for run, rows in found.items()}


def _judged(
    folder: Path, manifest: Manifest, by_run: Mapping[str, Mapping[str, tuple[Any, ...]]]
) -> Judged:
    assert manifest.facts is not None, "sealing writes the facts"
    asked = question(State.from_json(manifest.state), manifest.run)
    facts = asked.of(Facts.from_json(manifest.facts))
    own: Rows = {name: rows.get(manifest.run, ()) for name, rows in by_run.items()}
    return Judged(
        folder,
        manifest,
        facts,
        Findings(**{name: own[name] for name in MARTS}),
        Costs(**{name: own[name] for name in COSTS}),
        Views(**{name: own[name] for name in VIEWS}),
    )
