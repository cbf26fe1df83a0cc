"""Locks of an experiment's folder: a run that is still recorded must not be sealed, and two
processes that judge it would overwrite each other's files.

1. The mark exists from before the first run until after the last. It identifies one process
   (deploy/owner.py). If that process died, or was of another boot or machine, the mark is void.
2. A process that judges holds a lock on the folder itself. If the file system knows no locks, it
   judges without one.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.deploy.owner import alive, owner
from harness.outside.locks import LockAnswer, lock
from harness.plan.problems import PlanError, Problem
from spark_analysis.files.regular import content_of
from spark_analysis.files.writing import naming

MARK = "harness"
LOCKS = Path("/proc/locks")
_MARK_BYTES_MAX = 1 << 10


@contextmanager
def at_work(folder: Path) -> Iterator[None]:
    """Raises OSError where the folder cannot be written."""
    mark = folder / MARK
    try:
        with naming(mark):
            mark.write_text(owner(), encoding="utf-8")
        yield
    finally:
        mark.unlink(missing_ok=True)


def problems(folders: Iterable[Path]) -> Iterator[Problem]:
    """The experiments that still go on."""
    for folder in folders:
        try:
            mark = content_of(folder / MARK, _MARK_BYTES_MAX).decode()
        except (OSError, UnicodeDecodeError):
            continue
        if alive(mark):
            pid = mark.partition(" ")[0]
            text = f"its runs still go on (process {pid}): wait for them, or end them by Ctrl-C"
            yield Problem(str(folder), text)


@contextmanager
def alone(folders: Iterable[Path], *, wait: bool = False) -> Iterator[None]:
    """Hold the lock to judge these folders. Raise PlanError if another process holds it.

    `wait`: wait for that process instead.
    """
    with ExitStack() as held:
        distinct = {folder.resolve(): folder for folder in folders}
        problems = [
            Problem(str(folder), f"another mqproof{_by(folder)} judges it now: wait for it")
            for folder in distinct.values()
            if lock(folder, held, wait=wait) is LockAnswer.HELD
        ]
        if problems:
            raise PlanError(problems)
        yield


def _by(folder: Path) -> str:
    """Which process has it, where the kernel tells."""
    try:
        inode, locks = folder.stat().st_ino, LOCKS.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
    for line in locks.splitlines():
        words = line.split()
        if "FLOCK" in words and any(word.endswith(f":{inode}") for word in words):
            return f" (process {words[words.index('WRITE') + 1]})"
    return ""
