"""The way from recorded runs to their findings: seal, judge all in one Spark session, read the
marts.

1. One session serves all runs of a report; it starts when the last load is over (sessions.py).
2. A run that cannot be sealed, or differs from its seal, is named with its reason. The others are
   judged all the same. If none remains, Spark is not started.
3. Only small marts come back to this process. `affected`, with a row per message, stays on disk,
   and its readers iterate over it.
4. If runs of several experiments share a name, their experiments' names distinguish them.
"""

import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import SparkSession

from harness.analyse.judged_run import JudgedRun
from harness.analyse.questions import question
from harness.claims.state import KnownFacts, check
from harness.plan.fault_properties import with_fault_properties
from harness.run_folder.experiments import RUNS
from harness.run_folder.manifest import NAME, Manifest
from harness.run_folder.whole import NotWhole, whole
from spark_analysis.engine.failing import MartsUnwritten
from spark_analysis.engine.judge import FAILED, LISTED, WRITTEN_MARTS, judge_folder
from spark_analysis.engine.pipeline import analyse
from spark_analysis.engine.session import session, stopped
from spark_analysis.files.failed import Failed, failed
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.costs import COSTS, Costs
from spark_analysis.schema.declared import Listing
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.messages import Affected
from spark_analysis.schema.question import Question
from spark_analysis.schema.sends import SENDS, Sends
from spark_analysis.schema.views import VIEWS, Views

FOLDER = "marts"
_PROBLEMS_MAX = 20
Step = Callable[[str], None]
Start = Callable[[], SparkSession]  # raises SparkFailed
Rows = dict[str, Any]  # by mart: rows


@dataclass(frozen=True, slots=True)
class Marts:
    """Runs in the order of their experiments and names, and the comparison over cells."""

    runs: tuple[JudgedRun, ...]
    comparison: tuple[Comparison, ...]
    failed: Mapping[Path, Failed]  # by the run's folder: why it could not be judged
    unwritten: str = ""  # why the marts were not kept, and where; "" where they were

    @property
    def by_folder(self) -> dict[Path, JudgedRun | Failed]:
        """Return each run, or why it could not be judged, by the run's folder."""
        return {**self.failed, **{run.folder: run for run in self.runs}}


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run that is whole, under the name that it has here."""

    folder: Path
    manifest: Manifest
    options: Question


class NothingRecorded(Exception):
    """The folder holds no run that could be judged: the folder, and why."""


def judge_all(
    folder: Path,
    step: Step,
    pieces: Mapping[str, Path] | None = None,
    resealed_at: str = "",
    start: Start = session,
) -> Marts:
    """Seal unsealed runs, judge every run, write the marts into `folder` and read them.

    `pieces`: the experiments that hold the runs, by name; `folder` alone by default.
    `resealed_at`: the time, if damaged runs are to be sealed again from their logs. `start`: of a
    session, which is stopped afterwards. Raises NothingRecorded if there is no run at all, or no
    place for marts anywhere; SparkFailed if Spark cannot start, or ends.
    """
    step("verify the sealed runs (checksums), and seal runs that are not sealed yet")
    held = pieces or {folder.name: folder}
    ready, failures = _ready(held, resealed_at)
    marts = folder / FOLDER
    if not ready:
        if not failures:
            raise NothingRecorded(f"{folder}: nothing to judge: it has no {RUNS}/*/{NAME}")
        shutil.rmtree(marts, ignore_errors=True)  # they tell of runs that are not judged now
        return Marts((), (), failures)
    try:
        return _analysed(ready, failures, marts, step, start)
    except MartsUnwritten as reason:
        shutil.rmtree(marts, ignore_errors=True)  # half of them would be none
        return _analysed_elsewhere(ready, failures, str(reason), step, start)


def _analysed_elsewhere(
    ready: list[_Ready], failures: Mapping[Path, Failed], unwritten: str, step: Step, start: Start
) -> Marts:
    """Analyse with marts in a temporary folder. A full or read-only folder still gets its
    verdicts."""
    try:
        with tempfile.TemporaryDirectory(prefix="mqproof-marts-") as place:
            found = _analysed(ready, failures, Path(place) / FOLDER, step, start)
    except (MartsUnwritten, OSError) as reason:
        raise NothingRecorded(f"{unwritten}; and elsewhere: {reason}") from reason
    return replace(found, unwritten=unwritten)


def _analysed(
    ready: list[_Ready], failures: Mapping[Path, Failed], marts: Path, step: Step, start: Start
) -> Marts:
    _make_place(marts)
    step("start Spark")
    with stopped(start()) as spark:
        step("judge the runs")
        folders = [str(one.folder) for one in ready]
        unjudged = analyse(spark, folders, str(marts), [one.options for one in ready])
    by_run: dict[str, Mapping[str, Any]] = {
        name: _by_run(_read(marts / name, row))
        for name, row in WRITTEN_MARTS.items()
        if name != LISTED
    }
    by_run[LISTED] = {
        one.manifest.run: StoredMarts(marts / LISTED, one.manifest.run) for one in ready
    }
    why, runs, missing = {one.run: one for one in unjudged}, [], dict(failures)
    for one in ready:
        if one.manifest.run in why:
            missing[one.folder] = why[one.manifest.run]
        else:
            runs.append(_judged(one, by_run))
    return Marts(tuple(runs), _read(marts / "comparison", Comparison), missing)


def _make_place(marts: Path) -> None:
    """Spark would need a page to say that it cannot write."""
    try:
        marts.mkdir(exist_ok=True)
        linked = next((path for path in (marts, *marts.iterdir()) if path.is_symlink()), None)
    except OSError as failure:
        raise MartsUnwritten(f"{marts}: {failure.strerror}") from failure
    if linked is not None:  # what is written there would lie in somebody else's folder
        raise MartsUnwritten(f"{linked} is a symlink; a folder was expected: remove the symlink")
    if not os.access(marts, os.W_OK):
        raise MartsUnwritten(f"{marts} cannot be written")


def judge_one(folder: Path) -> JudgedRun | Failed:
    """A run that others follow, judged at once and without Spark; or why it was not."""
    ready = _whole(folder)
    if isinstance(ready, Failed):
        return ready
    found = dict(judge_folder(folder, ready.options))
    if FAILED in found:
        return Failed(**found[FAILED].to_pylist()[0])
    rows = {name: _rows(found[name], row) for name, row in WRITTEN_MARTS.items()}
    return _judged(ready, {name: {ready.manifest.run: rows[name]} for name in WRITTEN_MARTS})


def restored(manifest: Manifest, found: Rows) -> JudgedRun:
    """Return a run from its marts alone: `found` holds its rows by mart. It has no folder."""
    options = question(KnownFacts.from_json(manifest.state), manifest.run)
    by_run = {name: {manifest.run: tuple(found.get(name, ()))} for name in WRITTEN_MARTS}
    return _judged(_Ready(Path(), manifest, options), by_run)


def _ready(held: Mapping[str, Path], resealed_at: str) -> tuple[list[_Ready], dict[Path, Failed]]:
    """Every run that can be judged, and why the others cannot."""
    there: list[tuple[str, _Ready]] = []
    failures = {}
    for experiment, place in held.items():
        for folder in sorted(path for path in (place / RUNS).glob("*") if path.is_dir()):
            found = _whole(folder, resealed_at)
            if isinstance(found, Failed):
                failures[folder] = found
            else:
                there.append((experiment, found))
    often = Counter(one.manifest.run for _, one in there)
    return [
        _renamed(one, experiment) if often[one.manifest.run] > 1 else one
        for experiment, one in there
    ], failures


def _whole(folder: Path, resealed_at: str = "") -> _Ready | Failed:
    try:
        manifest = whole(folder, resealed_at)
        found = Listing(_PROBLEMS_MAX)
        check(manifest.state, found)
        if found.count:
            raise NotWhole(f"{folder / NAME} is no manifest of ours: {found}")
        options = question(KnownFacts.from_json(manifest.state), manifest.run)
        # The engine reads the facts as they were sealed, and no journal.
        never = tuple(one.number for one in manifest.not_begun)
        options = replace(options, not_begun=never)
    except NotWhole as reason:
        return Failed(folder.name, str(reason), "")
    except Exception as error:  # unforeseen, but other runs can still be judged
        return failed(folder.name, folder, error)
    return _Ready(folder, manifest, options)


def _renamed(one: _Ready, experiment: str) -> _Ready:
    name = f"{experiment}/{one.manifest.run}"
    return _Ready(one.folder, replace(one.manifest, run=name), replace(one.options, run=name))


def _read(folder: Path, row: type[Any]) -> tuple[Any, ...]:
    if not folder.exists():
        return ()
    table = ds.dataset(folder, format="parquet", exclude_invalid_files=True).to_table()
    return _rows(table, row)


@dataclass(frozen=True, slots=True)
class StoredMarts:
    """The rows of `affected` of one run, where the marts are. Raises OSError if they are gone."""

    folder: Path
    run: str

    def __iter__(self) -> Iterator[Affected]:
        found = ds.dataset(self.folder, format="parquet", exclude_invalid_files=True)
        for batch in found.to_batches(filter=ds.field("run") == self.run):
            yield from _rows(batch, Affected)


def _rows(table: pa.Table | pa.RecordBatch, row: type[Any]) -> tuple[Any, ...]:
    names = [item.name for item in fields(row)]
    return tuple(row(**{name: record[name] for name in names}) for record in table.to_pylist())


def _by_run(mart: Iterable[Any]) -> dict[str, tuple[Any, ...]]:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in mart:
        found[row.run].append(row)
    return {run: tuple(rows) for run, rows in found.items()}


def _judged(ready: _Ready, by_run: Mapping[str, Mapping[str, Any]]) -> JudgedRun:
    manifest = ready.manifest
    assert manifest.facts is not None, "sealing writes the facts"
    own: Rows = {name: rows.get(manifest.run, ()) for name, rows in by_run.items()}
    return JudgedRun(
        ready.folder,
        manifest,
        ready.options.of(with_fault_properties(Facts.from_json(manifest.facts))),
        Findings(**{name: own[name] for name in MARTS}),
        Costs(**{name: own[name] for name in COSTS}),
        Views(**{name: own[name] for name in VIEWS}),
        Sends(**{name: own[name] for name in SENDS}),
    )
