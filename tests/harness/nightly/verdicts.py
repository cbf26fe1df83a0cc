"""Experiments as nightly finds them: a folder with a verdict.json of what is reported here."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.plan.model import Cell

CELL: Cell = ("master-crash", "reference-mirrored", "all-automatic@T=10", "pika")
PROMISE = "confirmed-is-delivered"


def run_of(
    cell: Cell = CELL, out_s: float | None = 3.0, lost: int = 0, outcome: str = "PASS"
) -> dict[str, Any]:
    """`out_s` below zero: it was not back. `outcome` "": it was not judged."""
    place = dict(zip(("scenario", "system", "layout", "client"), cell, strict=True))
    claims = [{"claim": PROMISE, "outcome": outcome, "meaning": "It comes."}] if outcome else []
    summary: dict[str, Any] = {
        "lost": lost,
        "stranded": 0,
        "confirmed": 1000,
        "loss_decided_runs": 1 if outcome else 0,
    }
    if out_s is not None:
        summary["total_downtime"] = {"maximum_s": abs(out_s), "bound": out_s < 0}
    return {
        "name": "r-1",
        "cell": place,
        "repeat": 1,
        "claims": claims,
        "summary": summary if outcome else None,
    }


def experiment(
    folder: Path,
    name: str,
    runs: Sequence[dict[str, Any]],
    version: str = "3.10.8",
    replay: str = "",
    pieces: Sequence[str] = (),
) -> Path:
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    document = {
        "format": "mqproof verdict",
        "version": 2,
        "experiment": name,
        "seed": 7,
        "versions": {"rabbitmq": version},
        "replay": replay,
        "runs": list(runs),
        "pieces": [
            {"experiment": f"{name}-{number}", "seed": 7, "replay": words, "folder": "results/e"}
            for number, words in enumerate(pieces)
        ],
    }
    (path / "verdict.json").write_text(json.dumps(document), "utf-8")
    (path / "report.html").write_text("<p>the run's own report</p>", "utf-8")
    (path / "runs").mkdir(exist_ok=True)
    return path
