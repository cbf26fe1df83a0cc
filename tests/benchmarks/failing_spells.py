"""When sends failed, spell by spell, of every publisher of an experiment that was unpacked.

    tar xf PACK.tar.xz && python -m tests.benchmarks.failing_spells EXPERIMENT [--apart 20]

1. Seconds from the first fault on, by when a send failed: it has a settlement, and none that
   confirms. A spell ends where no send failed for so long.
2. The mart `sends` tells the last failure of all, after whatever pause.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from harness.run_folder.manifest import Manifest
from spark_analysis.schema.words import Outcome

NS = 1e9
_KEY = ("producer", "sequence", "attempt")


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("experiment", type=Path)
    words.add_argument("--apart", type=float, default=20.0, metavar="SECONDS")
    options = words.parse_args()
    for folder in sorted((options.experiment / "runs").iterdir()):
        manifest = Manifest.load(folder)
        names = {worker.number: worker.name for worker in manifest.workers}
        origin_ns = manifest.windows[0].origin_ns
        for producer, failed_s in _failed(folder, origin_ns):
            lengths = ", ".join(
                f"{first:.1f} to {last:.1f} s ({count:,})"
                for first, last, count in spells(failed_s, options.apart)
            )
            print(f"{folder.name} {names[producer]}: {lengths}")


def spells(failed_s: Any, apart_s: float) -> Iterator[tuple[float, float, int]]:
    """First and last failure of each, and how many there were; `failed_s`: sorted."""
    for spell in np.split(failed_s, np.flatnonzero(np.diff(failed_s) > apart_s) + 1):
        if len(spell):
            yield float(spell[0]), float(spell[-1]), len(spell)


def _failed(folder: Path, origin_ns: int) -> Iterator[tuple[int, Any]]:
    """Of each publisher, when its sends of the fault's time failed, in order."""
    sent = {
        tuple(row[name] for name in _KEY)
        for row in _rows(folder, "attempts", "sent_ns")
        if row["sent_ns"] is not None and row["sent_ns"] >= origin_ns
    }
    first: dict[tuple[int, ...], int] = {}
    confirmed = set()
    for row in _rows(folder, "settlements", "settled_ns", "outcome"):
        key = tuple(row[name] for name in _KEY)
        first[key] = min(row["settled_ns"], first.get(key, row["settled_ns"]))
        if row["outcome"] == Outcome.CONFIRMED:
            confirmed.add(key)
    failed = [(key[0], at) for key, at in first.items() if key in sent and key not in confirmed]
    for producer in sorted({producer for producer, _ in failed}):
        times = sorted(at for each, at in failed if each == producer)
        yield producer, (np.array(times) - origin_ns) / NS


def _rows(folder: Path, table: str, *columns: str) -> list[dict[str, Any]]:
    names = [*_KEY, *columns]
    rows: list[dict[str, Any]] = pq.read_table(
        folder / "raw" / f"{table}.parquet", columns=names
    ).to_pylist()
    return rows


if __name__ == "__main__":
    main()
