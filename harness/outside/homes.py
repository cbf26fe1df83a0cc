"""The user's own folders for state and caches, as XDG names them."""

import os
from pathlib import Path

STATE, CACHE = "XDG_STATE_HOME", "XDG_CACHE_HOME"
_IN_HOME = {STATE: ".local/state", CACHE: ".cache"}


class NoHome(Exception):
    """There is no home to keep files in: what to set."""


def user_folder(variable: str) -> Path:
    """The folder that the variable names, else the one in the user's home. Raises NoHome."""
    try:
        if base := os.environ.get(variable):
            return Path(base).expanduser()
        return Path.home() / _IN_HOME[variable]
    except RuntimeError:  # no HOME, and no such user
        raise NoHome(f"this user has no home folder; set HOME or {variable}") from None
