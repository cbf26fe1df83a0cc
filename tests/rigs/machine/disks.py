"""A disk of its own for a test: small, and to be filled or made read-only."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Disk:
    """A file system in memory, mounted at `path`."""

    def __init__(self, path: Path, size_kb: int) -> None:
        self.path = path
        self.full = False
        self._filling = path / "filling"
        self._mount("-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(path))

    def fill(self) -> None:
        """Not one page is left."""
        self.full = True
        with self._filling.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                return

    def free(self) -> None:
        self.full = False
        self._filling.unlink()

    def close_for_writing(self) -> None:
        self._mount("-o", "remount,ro", str(self.path))

    def _mount(self, *words: str) -> None:
        done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no disk of its own for this test: {done.stderr.strip()}")


@contextmanager
def disk(path: Path, size_kb: int) -> Iterator[Disk]:
    """Skips where this user may mount nothing."""
    if os.geteuid() != 0:
        pytest.skip("no disk of its own for this test: only root may mount one")
    path.mkdir(parents=True, exist_ok=True)
    made = Disk(path, size_kb)
    try:
        yield made
    finally:
        subprocess.run(["umount", "--lazy", str(path)], capture_output=True, check=False)
