"""Packed experiments judged again: every run that was asked for, with its verdicts.

1. Runs are judged as `mqproof analyse` judges them, by the same kernels and claims, without Spark.
2. A run that cannot be judged is there, with its reason: it is a number of the cell.
3. Nothing is written beside a pack; what is unpacked is gone again.
"""

import lzma
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.analyse.marts import judge_one
from harness.claims.claims import Claim, shipped
from harness.judging.assemble import run_report
from harness.judging.result import RunReport
from harness.outside.files import guarded
from harness.run_folder.experiments import NoExperiment, StoredRun, recall
from spark_analysis.schema.failed import Failed

_BAD = (OSError, EOFError, ValueError, tarfile.TarError, lzma.LZMAError, NoExperiment)


class Unreadable(Exception):
    """A pack that holds no experiment of ours: which, and why."""


@dataclass(frozen=True, slots=True)
class Packed:
    """One experiment, judged again. `servers`: what stood under test, with its version."""

    file: str
    seed: int | None
    replay: str
    servers: tuple[str, ...]
    runs: tuple[RunReport, ...]


def judged(pack: Path) -> Packed:
    """Once a file, as it is now. Raises Unreadable."""
    looks = pack.stat()
    return _unpacked(pack, looks.st_mtime_ns, looks.st_size)


@cache
def _unpacked(pack: Path, _changed_ns: int, _bytes: int) -> Packed:
    with tempfile.TemporaryDirectory() as into:
        try:
            with tarfile.open(pack) as tar:
                guarded(tar).extractall(into)
            (folder,) = Path(into).iterdir()
            stored = recall(folder)
        except _BAD as failure:
            raise Unreadable(f"{pack}: {failure}") from failure
        found = [_judged(asked) for asked in stored.runs]
    return Packed(
        pack.name,
        stored.seed,
        stored.replay,
        tuple(dict.fromkeys(server for _, server in found if server)),
        tuple(report for report, _ in found),
    )


def _judged(asked: StoredRun) -> tuple[RunReport, str]:
    """And the server that it ran against."""
    run = judge_one(asked.folder)
    if isinstance(run, Failed):
        failure = _why_not(asked.folder, run)
        return RunReport(asked.name, asked.cell, asked.repeat, asked.seed, failure=failure), ""
    told = run.manifest, run.facts, run.findings, _claims(), run.costs, run.views
    return run_report(run.folder, *told), _server(run.manifest.versions)


def _server(versions: Mapping[str, str]) -> str:
    """`rabbitmq 3.10.8`: the broker's image has its name and version; processes have none."""
    name, _, tag = versions.get("broker image", "").partition(" ")[0].partition(":")
    return f"{name.rpartition('/')[2]} {tag.partition('-')[0]}".strip()


def _why_not(folder: Path, why: Failed) -> str:
    return why.reason.replace(str(folder), folder.name) if folder.is_dir() else "it was not begun"


@cache
def _claims() -> tuple[Claim, ...]:
    return shipped()
