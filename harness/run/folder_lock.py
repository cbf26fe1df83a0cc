"""Who is at work in an experiment's folder: nobody may seal what is still recorded, and two that
judge it would write over each other.

1. The mark lies there from before the first run until after the last. It names a process so that
   nobody else is taken for it (deploy/owner.py): of one that died, or of another boot or machine,
   it means nothing.
2. Who judges holds a lock on the folder itself.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.deploy.owner import alive, owner
from harness.outside.locks import lock
from harness.plan.problems import PlanError, Problem

MARK = "harness"
LOCKS = Path("/proc/locks")


@contextmanager
def at_work(folder: Path) -> Iterator[None]:
    """Raises OSError where the folder cannot be written."""
    mark = folder / MARK
    mark.write_text(owner(), encoding="utf-8")
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def problems(folders: Iterable[Path]) -> Iterator[Problem]:
    """The experiments that still go on."""
    for folder in folders:
        try:
            mark = (folder / MARK).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if alive(mark):
            pid = mark.partition(" ")[0]
            text = f"its runs still go on (process {pid}): wait for them, or end them by Ctrl-C"
            yield Problem(str(folder), text)


@contextmanager
def alone(folders: Iterable[Path], *, wait: bool = False) -> Iterator[None]:
    """Nobody else judges these folders meanwhile. Raises PlanError where somebody does; `wait`: it
    waits for him instead."""
    with ExitStack() as held:
        distinct = {folder.resolve(): folder for folder in folders}
        problems = [
            Problem(str(folder), f"another mqproof{_by(folder)} judges it now: wait for it")
            for folder in distinct.values()
            if not lock(folder, held, wait=wait)
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
