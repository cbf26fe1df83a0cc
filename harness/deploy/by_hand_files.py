"""The files of clusters by hand (`mqproof up`): a folder for each `up`, below the user's state.

1. A keeper process runs the clusters. It holds a lock on the folder while it lives, however it
   ends, so a folder without a holder is what a dead keeper left. If locks cannot be read there,
   the folder counts as held.
2. One document in the folder describes the clusters. It replaces the one before as a whole.
3. `mqproof up` holds a lock on the folder of all these folders until its keeper has written the
   document: until then, a folder without a document is young, and not what a dead keeper left.
4. Only this user may read the folder: it has the tokens of proxies.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.outside.homes import STATE, user_folder
from harness.outside.locks import LockAnswer, lock
from spark_analysis.files.regular import json_of
from spark_analysis.files.writing import write_whole

DOCUMENT, SOCKET, LOG = "clusters.json", "keeper.sock", "keeper.log"
FORMAT = 2
_BYTES_MAX = 1 << 22
_STATE = Path("mqproof") / "by-hand"


class DamagedDocument(Exception):
    """A document that no keeper wrote, or that cannot be read: where, and why."""


@dataclass(frozen=True, slots=True)
class ReachablePort:
    """A port on this machine that leads to a host. `process`: of those that have several."""

    host: str
    process: str
    clients: bool  # or else browsers and HTTP clients
    address: str
    port: int

    @property
    def place(self) -> str:
        return f"{self.host}/{self.process}" if self.process else self.host


@dataclass(frozen=True, slots=True)
class ByHandCluster:
    """A cluster and how to reach it. `proxy`: of its Toxiproxy's API; `token`: for that.

    `hosts_file`: of those whose clients dial brokers by name; "" for others. `layout_word`: by
    which its layout is read again.
    """

    system: str
    layout: str
    title: str
    cluster: str
    proxy: str
    ports: tuple[ReachablePort, ...]
    hosts_file: str = ""
    layout_word: str = ""
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ByHandClusters:
    """The clusters of one `up`. `owner`: the keeper (deploy/owner.py). `running`: all are up."""

    owner: str
    deployment: str
    running: bool
    clusters: tuple[ByHandCluster, ...] = ()

    @property
    def pid(self) -> int:
        return int(self.owner.partition(" ")[0])


def state() -> Path:
    """Return the folder of all these folders. Raises NoHome."""
    return user_folder(STATE) / _STATE


def folders() -> tuple[Path, ...]:
    """Return those of every `up` that was not taken down."""
    return tuple(sorted(one for one in state().glob("*") if one.is_dir()))


def is_held(folder: Path) -> bool:
    """Return whether a keeper holds the folder, or is about to, or may hold it: without locks that
    is unknown."""
    if is_young(folder):
        return True
    with ExitStack() as held:
        return lock(folder, held, wait=False) is not LockAnswer.TAKEN


def is_young(folder: Path) -> bool:
    """Return whether its `mqproof up` has only begun. The keeper's own lock is left to
    the keeper."""
    if (folder / DOCUMENT).exists():
        return False
    with ExitStack() as held:
        return lock(state(), held, wait=False) is LockAnswer.HELD


def save(folder: Path, clusters: ByHandClusters) -> None:
    """Raises OSError."""
    document = {"format": FORMAT, **asdict(clusters)}
    write_whole(folder / DOCUMENT, json.dumps(document, indent=1), durable=True)


def load(folder: Path) -> ByHandClusters:
    """Raises DamagedDocument."""
    path = folder / DOCUMENT
    try:
        document = json_of(path, _BYTES_MAX)
        if document.pop("format") != FORMAT:
            raise ValueError("it has another format")
        clusters = tuple(map(_cluster, document.pop("clusters")))
        loaded = ByHandClusters(**document, clusters=clusters)
        loaded.pid  # noqa: B018  (it raises where the owner is none)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else repr(error)
        raise DamagedDocument(f"{path} cannot be read: {reason}") from error
    return loaded


def _cluster(parts: Mapping[str, Any]) -> ByHandCluster:
    ports = tuple(ReachablePort(**port) for port in parts["ports"])
    return ByHandCluster(**{**parts, "ports": ports})
