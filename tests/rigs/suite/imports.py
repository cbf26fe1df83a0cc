"""Share the first import of test modules among pytest-xdist's workers.

pytest rewrites the assertions of a module when it first imports it, and keeps the result on disk.
That is more than half the time of a first collection. Workers collect the same modules in the
same order, so each would rewrite all of them. Here each begins with a share of its own.
"""

import sys
from pathlib import Path

import pytest


def import_share(session: pytest.Session) -> None:
    """Import every nth test module, on the nth worker. Other processes import none."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    folders = [path for path in map(Path, session.config.args) if path.is_dir()]
    paths = sorted(path.resolve() for folder in folders for path in folder.rglob("test_*.py"))
    for path in paths[number::count]:
        _import(session, path)


def _import(session: pytest.Session, path: Path) -> None:
    try:
        _ = pytest.Module.from_parent(session, path=path).obj
    except (Exception, pytest.skip.Exception):
        # Collection imports it again, and reports why that failed.
        _forget(path)


def _forget(path: Path) -> None:
    names = [name for name, it in sys.modules.items() if getattr(it, "__file__", "") == str(path)]
    for name in names:
        del sys.modules[name]
