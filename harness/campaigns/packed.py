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
from harness.plan.problems import PlanError, Problem
from harness.run_folder.experiments import NoExperiment, Stored, StoredRun, recall
from spark_analysis.schema.failed import Failed

_BAD = (OSError, EOFError, ValueError, tarfile.TarError, lzma.LZMAError, NoExperiment)


@dataclass(frozen=True, slots=True)
class Packed:
    """One experiment, judged again. `servers`: what stood under test, with its version."""

    file: str
    seed: int
    replay: str
    servers: tuple[str, ...]
    runs: tuple[RunReport, ...]


def judged(pack: Path) -> Packed:
    """Once a file, as it is now. Raises PlanError."""
    try:
        looks = pack.stat()
    except (OSError, ValueError) as failure:
        raise _unreadable(pack, _reason(failure)) from failure
    return _unpacked(pack, looks.st_mtime_ns, looks.st_size)


@cache
def _unpacked(pack: Path, _changed_ns: int, _bytes: int) -> Packed:
    with tempfile.TemporaryDirectory() as into:
        try:
            with tarfile.open(pack) as tar:
                guarded(tar).extractall(into)
            stored = _only(Path(into))
        except _BAD as failure:
            raise _unreadable(pack, _reason(failure).replace(f"{into}/", "")) from failure
        assert stored.seed is not None, "a pack holds one experiment"
        found = [_judged(asked) for asked in stored.runs]
    return Packed(
        pack.name,
        stored.seed,
        stored.replay,
        tuple(dict.fromkeys(server for _, server in found if server)),
        tuple(report for report, _ in found),
    )


def _reason(failure: Exception) -> str:
    if isinstance(failure, tarfile.ReadError):  # it tells of every kind of archive that it is not
        return "it is no whole tar file"
    return (isinstance(failure, OSError) and failure.strerror) or str(failure)


def _unreadable(pack: Path, reason: str) -> PlanError:
    return PlanError([Problem(str(pack), f"holds no experiment of ours: {reason}")])


def _only(folder: Path) -> Stored:
    """The experiment of a pack. Raises NoExperiment."""
    held = sorted(folder.iterdir())
    if len(held) != 1:
        raise NoExperiment(f"it is to hold one experiment's folder, and holds {len(held)} files")
    stored = recall(held[0])
    if stored.pieces:
        raise NoExperiment("it holds a report over several experiments, and no runs")
    return stored


def _judged(asked: StoredRun) -> tuple[RunReport, str]:
    """And the server that it ran against."""
    run = judge_one(asked.folder)
    if isinstance(run, Failed):
        failure = _why_not(asked.folder, run)
        return RunReport(asked.name, asked.cell, asked.repeat, asked.seed, failure=failure), ""
    told = run.manifest, run.facts, run.findings, _claims(), run.costs, run.views, run.sends
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
