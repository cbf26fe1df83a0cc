"""Where the jars of clients in Java, and of servers, lie on this machine.

1. MQPROOF_JARS names the folder with one folder a set; else it is in the user's cache.
2. A set is whole or not there: harness.deploy.jars puts it in place by one rename.
"""

import os
from pathlib import Path

from harness.outside.homes import CACHE, user_folder

JARS = "MQPROOF_JARS"
BRIDGE = "bridge"  # our own classes, compiled against the set


def jars_folder() -> Path:
    if chosen := os.environ.get(JARS):
        return Path(chosen)
    return user_folder(CACHE) / "mqproof" / "jars"


def class_path(name: str) -> list[str]:
    """Of a client's set; empty where it has not been fetched."""
    folder = jars_folder() / name
    if not (folder / BRIDGE).is_dir():
        return []
    return [str(folder / BRIDGE), *map(str, sorted(folder.glob("*.jar")))]
