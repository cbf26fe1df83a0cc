"""Which harness is at work in an experiment's folder: nobody may seal what it still records.

1. The mark lies there from before the first run until after the last. It names a process so that
   nobody else is taken for it (deploy/owner.py): of one that died, or of another boot or machine,
   it means nothing.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.deploy.owner import alive, owner
from harness.plan.problems import Problem

MARK = "harness"


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
