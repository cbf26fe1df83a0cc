"""Experiments' folders as they are left behind, written by hand."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.plan.model import Cell, Skipped
from tests.rigs.runs.reports import CELL


def stored(
    folder: Path,
    runs: Iterable[tuple[str, Cell]] = (("master-crash-1-beef", CELL),),
    *,
    name: str = "",
    seed: int = 7,
    skipped: Iterable[Skipped] = (),
) -> Path:
    """experiment.json alone; the runs' own folders are the test's affair."""
    folder.mkdir(parents=True)
    record = document(name or folder.name, runs, seed=seed, skipped=skipped)
    (folder / "experiment.json").write_text(json.dumps(record))
    return folder


def document(
    name: str,
    runs: Iterable[tuple[str, Cell]] = (("master-crash-1-beef", CELL),),
    *,
    seed: int = 7,
    skipped: Iterable[Skipped] = (),
) -> dict[str, Any]:
    return {
        "name": name,
        "seed": seed,
        "replay": f"mqproof run master-crash --seed {seed}",
        "runs": [
            {"name": run, "cell": cell, "repeat": 1, "seed": seed + number}
            for number, (run, cell) in enumerate(runs)
        ],
        "skipped": [{"cell": one.cell, "reason": one.reason} for one in skipped],
        "titles": [{"cell": CELL, "scenario": "a", "system": "b", "layout": "c"}],
    }
