"""Disk space that is kept back, so that a run on a full disk can still save its manifest.

1. It is a file of real bytes in the run's folder, for as long as the run lasts; no code reads it.
2. The first manifest that the disk refuses takes its space. The caller gets the refusal all the
   same, because the run must not go on as if nothing had been.
"""

import contextlib
import os
from pathlib import Path

from harness.run_folder.manifest import Manifest
from spark_analysis.files.failed import os_reason

NAME = "reserve"
RESERVE_BYTES = 1 << 19  # several times what the largest manifest of ours has


class Reserve:
    """The reserve of one run's folder; `save` its manifest through it, and `end` it at last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / NAME
        # A disk that is full by now says so soon.
        with contextlib.suppress(OSError), self._path.open("wb") as file:
            file.write(bytes(RESERVE_BYTES))
            file.flush()
            os.fsync(file.fileno())

    def save(self, manifest: Manifest) -> None:
        """Raises OSError, though the manifest may be saved by then, with the reason in it."""
        try:
            manifest.save(self._folder)
        except OSError as refused:
            manifest.failure = manifest.failure or os_reason(refused, self._folder)
            self.end()
            with contextlib.suppress(OSError):
                manifest.save(self._folder)
            raise

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
