"""The user's cache folder for files that one start of Spark keeps for the next."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def cache(environment: Mapping[str, str], name: str) -> Path | None:
    """A folder of this user's only, which can be written: what others may write is not run. None
    where there is no place for one."""
    home = environment.get("HOME")
    base = environment.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else "")
    if not base:
        return None
    folder = Path(base).absolute() / "mqproof" / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder if folder.stat().st_uid == os.getuid() else None
    except OSError:
        return None
