"""Operations on the disk of a node that is down (docs/behaviour/rabbitmq.md items 52 to
54).

1. A node that runs holds its data: nothing is done then (InUse). One that was killed holds none.
2. node.offline decides what is written then.
3. A disk that is wiped is a new one, except the number of boots: of an earlier life of the node
   others may remember processes, and no other process may have the name of one.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reference_impl.node.config import Config
from reference_impl.node.offline import forced, forgetting
from reference_impl.shell.disk import BOOT, read_saved, write_saved

_LOCK = "lock"


class InUse(OSError):
    """The node runs."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the data for this process alone. Raises InUse."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"a node runs on {folder}: this is for one that is down") from None
        yield
    finally:
        os.close(lock)


def forget(config: Config, node: str) -> None:
    """Raises InUse, Undone."""
    folder = Path(config.data)
    with held(folder):
        write_saved(folder, forgetting(read_saved(folder), config.name, node))


def force_boot(config: Config) -> None:
    """Raises InUse, Undone."""
    folder = Path(config.data)
    with held(folder):
        write_saved(folder, forced(read_saved(folder), config.name))


def wipe(config: Config) -> None:
    """Raises InUse, OSError."""
    folder = Path(config.data)
    with held(folder):
        empty(folder)


def empty(folder: Path) -> None:
    """Empty a folder, for the process that holds it."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (BOOT, _LOCK):
            path.unlink()
