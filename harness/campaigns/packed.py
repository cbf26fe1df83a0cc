"""Packed experiments judged again: every run that was asked for, with its verdicts.

1. Runs are judged as `mqproof analyse` judges them, by the same kernels and claims, without Spark.
2. A run that cannot be judged is there, with its reason: it is a number of the cell.
3. Nothing is written beside a pack; what is unpacked is gone again.
4. A page's experiment is judged from its marts if they are there (run_marts.py), else from its
   pack. Both ways give the same report, since both go through the marts.
"""

import lzma
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.analyse.marts import judge_one
from harness.campaigns import run_marts
from harness.campaigns.evidence import Evidence
from harness.campaigns.run_marts import PackMarts, RunMarts, unusable
from harness.claims.claims import Claim, shipped
from harness.claims.judge import judge
from harness.judging.assemble import evidence_of, run_report
from harness.judging.result import RunReport
from harness.outside.archives import unpack
from harness.outside.files import is_file
from harness.plan.problems import PlanError, Problem
from harness.run_folder.experiments import NoExperiment, Stored, StoredRun, recall
from spark_analysis.schema.failed import Failed
from spark_analysis.schema.regular import check_regular
from spark_analysis.schema.writing import FULL

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
    return _from_pack(pack, looks.st_mtime_ns, looks.st_size)


def of_page(one: Evidence) -> Packed:
    """Judge an experiment of a page, from its marts or from its pack. Raises PlanError."""
    if not is_file(one.marts):
        return judged(one.pack)
    looks = one.marts.stat()
    return _from_marts(one.marts, looks.st_mtime_ns, looks.st_size)


@cache
def _from_pack(pack: Path, _changed_ns: int, _bytes: int) -> Packed:
    return _packed(marts_of(pack), pack)


@cache
def _from_marts(path: Path, _changed_ns: int, _bytes: int) -> Packed:
    return _packed(run_marts.read(path), path)


def marts_of(pack: Path) -> PackMarts:
    """Judge the raw tables of a pack again. Raises PlanError."""
    with tempfile.TemporaryDirectory() as into:
        try:
            check_regular(pack)
            unpack(pack, Path(into))
            stored = _only(Path(into))
        except _BAD as failure:
            if isinstance(failure, OSError) and failure.errno in FULL:
                raise OSError(failure.errno, failure.strerror, into) from failure
            raise _unreadable(pack, _reason(failure).replace(f"{into}/", "")) from failure
        assert stored.seed is not None, "a pack holds one experiment"
        runs = tuple(_judged(run) for run in stored.runs)
    return PackMarts(pack.name, stored.seed, stored.replay, runs)


def _packed(marts: PackMarts, place: Path) -> Packed:
    try:
        found = [_report(one, place) for one in marts.runs]
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise unusable(place, failure) from failure
    return Packed(
        marts.file,
        marts.seed,
        marts.replay,
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


def _judged(stored: StoredRun) -> RunMarts:
    run = judge_one(stored.folder)
    failure = _why_not(stored.folder, run) if isinstance(run, Failed) else ""
    body = None if isinstance(run, Failed) else run_marts.body_of(run)
    return RunMarts(stored.name, stored.cell, stored.repeat, stored.seed, failure, body)


def _report(one: RunMarts, place: Path) -> tuple[RunReport, str]:
    """And the server that it ran against."""
    if one.body is None:
        return RunReport(one.name, one.cell, one.repeat, one.seed, failure=one.failure), ""
    run, raw = run_marts.judged_from(one.body, place)
    evidence = evidence_of(run, raw)
    verdicts = (judge(claim, evidence) for claim in _claims())
    return run_report(run, raw, evidence, verdicts), _server(run.manifest.versions)


def _server(versions: Mapping[str, str]) -> str:
    """`rabbitmq 3.10.8`: the broker's image has its name and version; processes have none."""
    name, _, tag = versions.get("broker image", "").partition(" ")[0].partition(":")
    return f"{name.rpartition('/')[2]} {tag.partition('-')[0]}".strip()


def _why_not(folder: Path, why: Failed) -> str:
    return why.reason.replace(str(folder), folder.name) if folder.is_dir() else "it was not begun"


@cache
def _claims() -> tuple[Claim, ...]:
    return shipped()
