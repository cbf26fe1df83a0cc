"""From recorded runs to their findings: seal, judge all in one Spark session, read the marts.

1. One session for all runs of an experiment, started after the last of them closed.
2. A run that cannot be sealed is named with its reason; the others are judged all the same.
3. Only marts come back to this process; a history never does.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from harness.run_folder.manifest import NAME, SEALED, Manifest
from harness.run_folder.seal import seal
from spark_analysis.engine.pipeline import analyse
from spark_analysis.engine.session import session
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.log import LogDamaged

RUNS = "runs"
FOLDER = "marts"


@dataclass(frozen=True, slots=True)
class Judged:
    """One run with what the analysis found; `doubt` says why it could not be read at all."""

    folder: Path
    manifest: Manifest
    facts: Facts
    findings: Findings


@dataclass(frozen=True, slots=True)
class Marts:
    """An experiment's runs, in the order of their names, and the comparison over systems."""

    runs: tuple[Judged, ...]
    comparison: tuple[Comparison, ...]
    unreadable: tuple[str, ...]


class NothingRecorded(Exception):
    """The folder holds no run that could be judged: the folder, and why."""


def judge_all(experiment: Path, step: Callable[[str], None]) -> Marts:
    """Seals what is not sealed, judges every run, and reads the marts.

    Raises NothingRecorded; NoJava where Spark cannot start.
    """
    step("seal the logs")
    sealed, unreadable = _seal_all(experiment)
    if not sealed:
        reasons = "; ".join(unreadable) or f"it has no {RUNS}/*/{NAME}"
        raise NothingRecorded(f"{experiment}: nothing to judge: {reasons}")
    step("start Spark")
    marts = experiment / FOLDER
    with session() as spark:
        step("judge the runs")
        analyse(spark, [str(folder) for folder, _ in sealed], str(marts))
    rows = {name: _read(marts / name, row) for name, row in MARTS.items()}
    judged = [_judged(folder, manifest, rows) for folder, manifest in sealed]
    return Marts(tuple(judged), _read(marts / "comparison", Comparison), tuple(unreadable))


def _seal_all(experiment: Path) -> tuple[list[tuple[Path, Manifest]], list[str]]:
    sealed, unreadable = [], []
    for folder in sorted(path.parent for path in (experiment / RUNS).glob(f"*/{NAME}")):
        try:
            manifest = Manifest.load(folder)
            if manifest.phase != SEALED or manifest.facts is None:
                manifest = seal(folder)
            sealed.append((folder, manifest))
        except (ValueError, TypeError, KeyError, LogDamaged, OSError) as failure:
            unreadable.append(f"{folder.name}: {failure}")
    return sealed, unreadable


def _read(folder: Path, row: type[Any]) -> tuple[Any, ...]:
    if not folder.exists():
        return ()
    names = [item.name for item in fields(row)]
    table = ds.dataset(folder, format="parquet", exclude_invalid_files=True).to_table()
    return tuple(row(**{name: record[name] for name in names}) for record in table.to_pylist())


def _judged(folder: Path, manifest: Manifest, rows: dict[str, tuple[Any, ...]]) -> Judged:
    assert manifest.facts is not None, "sealing writes the facts"
    own: dict[str, Any] = {
        name: tuple(row for row in mart if row.run == manifest.run) for name, mart in rows.items()
    }
    return Judged(folder, manifest, Facts.from_json(manifest.facts), Findings(**own))
