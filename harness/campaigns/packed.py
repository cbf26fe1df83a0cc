"""Packed experiments judged again: every run that was asked for, with its verdicts.

1. Runs are judged as `mqproof analyse` judges them, by the same kernels and claims, without Spark.
2. A run that cannot be judged is there, with its reason: it is a number of the cell.
3. Nothing is written beside a pack; what is unpacked is gone again.
4. A page's experiment is judged from its marts if they are there (run_marts.py), else from its
   pack. Both ways give the same report, since both go through the marts.
5. To compare or write marts, one pack at a time is brought, judged and removed, so disk and memory
   hold one. A file of what is done makes it possible to go on after an interrupt: a pack on it is
   skipped.
"""

import lzma
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.analyse.marts import judge_one
from harness.campaigns import evidence, run_marts
from harness.campaigns.evidence import Evidence, fetched
from harness.campaigns.run_marts import PackMarts, RunMarts, unusable
from harness.claims.claims import Claim, shipped
from harness.claims.judge import judge
from harness.judging.assemble import evidence_of, run_report
from harness.judging.result import RunReport
from harness.outside.archives import unpack
from harness.outside.files import TOML_BYTES_MAX, Unreadable, is_file, text_of
from harness.plan.problems import PlanError, Problem
from harness.run_folder.experiments import NoExperiment, Stored, StoredRun, recall
from spark_analysis.files.failed import Failed
from spark_analysis.files.regular import check_regular
from spark_analysis.files.writing import FULL, naming

_BAD = (OSError, EOFError, ValueError, tarfile.TarError, lzma.LZMAError, NoExperiment)


@dataclass(frozen=True, slots=True)
class Packed:
    """One experiment, judged again. `servers`: what stood under test, with its version."""

    file: str
    replay: str
    servers: tuple[str, ...]
    runs: tuple[RunReport, ...]


def judged(pack: Path) -> Packed:
    """Once a file, as it is now. Raises PlanError."""
    try:
        looks = pack.stat()
    except (OSError, ValueError) as failure:
        raise _unreadable(pack, _reason(failure)) from failure
    return _once(marts_of, pack, looks.st_mtime_ns, looks.st_size)


def of_page(one: Evidence) -> Packed:
    """Judge an experiment of a page, from its marts or from its pack. Raises PlanError."""
    if not is_file(one.marts):
        return judged(one.pack)
    looks = one.marts.stat()
    return _once(run_marts.read, one.marts, looks.st_mtime_ns, looks.st_size)


@cache
def _once(read: Callable[[Path], PackMarts], path: Path, _changed_ns: int, _bytes: int) -> Packed:
    marts = read(path)
    try:
        found = [_report(one, path) for one in marts.runs]
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise unusable(path, failure) from failure
    servers = tuple(dict.fromkeys(server for _, server in found if server))
    return Packed(marts.file, marts.replay, servers, tuple(one for one, _ in found))


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


def _reason(failure: Exception) -> str:
    if isinstance(failure, tarfile.ReadError):  # it tells of every kind of archive that it is not
        return "it is no whole tar file"
    if isinstance(failure, OSError) and failure.strerror:
        return failure.strerror
    return str(failure)


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
    run, folder, failure, body = judge_one(stored.folder), stored.folder, "", None
    if not isinstance(run, Failed):
        body = run_marts.body_of(run)
    elif folder.is_dir():
        failure = run.reason.replace(str(folder), folder.name)
    else:
        failure = "it was not begun"
    return RunMarts(stored.name, stored.cell, stored.repeat, stored.seed, failure, body)


def _report(one: RunMarts, place: Path) -> tuple[RunReport, str]:
    """And the server that it ran against, `rabbitmq 3.10.8`: the broker's image has its name and
    version; processes have none."""
    if one.body is None:
        return RunReport(one.name, one.cell, one.repeat, one.seed, failure=one.failure), ""
    run, raw = run_marts.judged_from(one.body, place)
    evidence = evidence_of(run, raw)
    verdicts = (judge(claim, evidence) for claim in _claims())
    image = run.manifest.versions.get("broker image", "").partition(" ")[0]
    name, _, tag = image.partition(":")
    server = f"{name.rpartition('/')[2]} {tag.partition('-')[0]}".strip()
    return run_report(run, raw, evidence, verdicts), server


@cache
def _claims() -> tuple[Claim, ...]:
    return shipped()


KEPT = "until removed"
Log = Callable[[str], None]


def judge_again(
    packs: Iterable[Evidence], source: str, log: Log, *, writes: bool, resume: Path | None = None
) -> int:
    """Judge each pack once; return how many had other marts. `writes`: marts that differ.
    `resume`: a file with a line for each pack that was done before an interrupt.

    Raises PlanError at the end, with every pack that could not be judged.
    """
    wanted = {one.pack: one for one in packs}
    done, differing = _done(resume), 0
    problems: list[Problem] = []
    for number, one in enumerate(wanted.values(), start=1):
        if one.file in done:
            continue
        try:
            same = _same(one, source, writes)
        except PlanError as error:
            problems += error.problems
            continue
        differing += not same
        other = "are rewritten, as its pack says" if writes else "are NOT what its pack says"
        text = "are what its pack says" if same else other
        log(f"{one.file}: marts {text} ({number} of {len(wanted)})")
        if same or writes:
            _note(resume, one.file)
    if problems:
        raise PlanError(problems)
    return differing


def _same(one: Evidence, source: str, writes: bool) -> bool:
    with fetched(one, source) as pack:
        found = marts_of(pack)
    with suppress(PlanError):  # marts of another version differ from those of today
        if is_file(one.marts) and run_marts.same(run_marts.read(one.marts), found):
            return True
    if writes:
        one.marts.parent.mkdir(parents=True, exist_ok=True)
        run_marts.write(found, one.marts)
    return False


def list_packs(folder: Path, packs: Iterable[Path]) -> None:
    """Write marts and an entry of evidence.toml for packs that were added. Raises PlanError."""
    known = evidence.listed(folder)
    for pack in packs:
        file = pack.relative_to(folder).as_posix()
        one = Evidence(folder, file, evidence.measured(pack, file, KEPT))
        run_marts.write(marts_of(pack), one.marts)
        known[file] = one.listed or known[file]
    evidence.write(folder, known.values())


def _done(path: Path | None) -> frozenset[str]:
    if path is None or not is_file(path):
        return frozenset()
    try:
        return frozenset(text_of(path, TOML_BYTES_MAX).splitlines())
    except Unreadable as failure:
        raise PlanError([Problem("--resume", f"{path} cannot be read: {failure}")]) from None


def _note(path: Path | None, file: str) -> None:
    if path is not None:
        with naming(path), path.open("a", encoding="utf-8") as stream:
            stream.write(f"{file}\n")
