"""The Python package rocketmq-client-python 2.0.0, unmodified, from a folder of its own.

1. It and `rocketmq` 0.4.4 are both importable as `rocketmq` and overwrite each other, so it lies
   in no site-packages folder. Only a worker of this client puts its folder on sys.path, first.
2. `MQPROOF_CLIENT_PYTHON` names the folder; else it is in the user's cache. The command
   `python -m harness.systems.rocketmq.client_python` makes it, and workers' images have one.
3. The package brings no library. The folder has one that exports all that it binds: 0.4.4's own
   and a shim of four functions (compose/worker-rocketmq/client-python/shim.c).
4. `python -m harness.workers.clients.rocketmq.client_python` reports as JSON, like native_found.
"""

import json
import os
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from harness.outside.homes import CACHE, user_folder
from harness.workers.clients.rocketmq.native import NativeClient
from harness.workers.clients.rocketmq.native_found import NativeLibrary, load
from harness.workers.protocol import WorkerConfig

FOLDER = "MQPROOF_CLIENT_PYTHON"
PACKAGE = "rocketmq-client-python 2.0.0"
HOW_TO_GET = "run `python -m harness.systems.rocketmq.client_python` (x86_64, gcc)"
# What the folder must hold, beside the reason for it.
_PARTS = (
    ("rocketmq/ffi.py", "the package"),
    ("rocketmq/librocketmq.so", "the shim"),
    ("library/rocketmq/librocketmq.so", "the C++ library"),
)


def folder() -> Path:
    if chosen := os.environ.get(FOLDER):
        return Path(chosen)
    return user_folder(CACHE) / "mqproof" / "rocketmq-client-python-2.0.0"


def lacking(place: Path) -> str:
    """Return what the folder lacks and how to get it; empty where it is whole."""
    missing = [f"{what} ({part})" for part, what in _PARTS if not (place / part).is_file()]
    return f"{place} lacks {', '.join(missing)}; {HOW_TO_GET}" if missing else ""


def look(place: Path | None = None) -> NativeLibrary:
    """Load the folder's package and library, and return what they can do."""
    place = place or folder()
    if reason := lacking(place):
        return NativeLibrary(refused=f"{PACKAGE} is not here: {reason}")
    sys.path.insert(0, str(place))
    return load(PACKAGE, lambda error: f"{PACKAGE} cannot be loaded: {error}", HOW_TO_GET)


class PythonClient:
    """The driver of C++ clients (native.py) over this package. Making it raises NoNative."""

    answers_every_send = True

    def __init__(self, config: WorkerConfig) -> None:
        # The driver gives the library another HOME, where no cache is.
        self._driver = NativeClient(config, partial(look, folder()))
        self.terms = self._driver.terms
        self.library = self._driver.library
        self.window = self._driver.window
        self.publisher = self._driver.publisher
        self.consumer = self._driver.consumer


if __name__ == "__main__":
    print(json.dumps(asdict(look())))
