"""Packed runs of published results as histories: real brokers, and the reference.

Their raw packs lie in the history of git; results/published/evidence.toml lists them.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.campaigns import evidence
from harness.campaigns.evidence import Evidence, fetched
from harness.outside.archives import unpack
from harness.plan.problems import PlanError
from harness.run_folder.manifest import NAME, Manifest
from harness.run_folder.rows import batches
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.tables import TABLES
from tests.rigs.defects.measure import Base, held
from tests.rigs.defects.runs import Row, Run, of_rows

PUBLISHED = Path(__file__).parents[3] / "results" / "published"
REVISION = "75323c4"  # the last one that has every pack
BYTES_MAX = 700_000  # of a pack: smaller ones hold short runs


def packs() -> list[Evidence]:
    """Return the packs of short runs, the smallest first."""
    listed = evidence.listed(PUBLISHED).values()
    short = sorted((one.size, one.file, one) for one in listed if one.size < BYTES_MAX)
    return [Evidence(PUBLISHED, file, one) for _, file, one in short]


@contextmanager
def brought(one: Evidence) -> Iterator[Path]:
    """Bring a pack from git's history; skip the test if this clone has none."""
    with ExitStack() as stack:
        try:
            pack = stack.enter_context(fetched(one, REVISION))
        except PlanError as none:
            pytest.skip(f"{none}; run `git fetch --unshallow`")
        yield pack


def runs(pack: Path, into: Path) -> Iterator[Base]:
    """Unpack a pack and yield each of its runs that says nothing against its broker.

    If a run breaks a promise by itself, the effect of a defect is unknown.
    """
    unpack(pack, into)
    for path in sorted(into.glob(f"*/runs/*/{NAME}")):
        base = held(_run(path.parent))
        if base is not None and base.promises:
            yield base


def _run(folder: Path) -> Run:
    manifest = Manifest.load(folder)
    assert manifest.facts is not None, folder
    state: dict[str, Any] = dict(manifest.state)
    windows = {int(number): it for number, it in state.pop("windows", {}).items()}
    rows = {name: _rows(folder, name) for name in TABLES}
    return of_rows(manifest.run, Facts.from_json(manifest.facts), state, windows, rows)


def _rows(folder: Path, table: str) -> list[Row]:
    """Return the rows of a table, without those of the harness's canaries."""
    columns = list(TABLES[table].names)
    found = (row for batch in batches(folder, table, columns) for row in batch.to_pylist())
    return [row for row in found if row.get("producer", 0) >= 0]
