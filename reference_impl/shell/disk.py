"""The disk of one node: a folder a queue, and what the cluster core wants to find again.

1. One thread does everything, in the order in which it was asked for. What waits for it at a time
   is written together and costs one fsync a file.
2. A caller that gives it more than it can take waits: a flood would else pile up, where no alarm
   sees it in time.
3. Tables are replaced by renaming. They outlive kill -9; a power loss may take the last change.
4. A disk that fails is the node's end, on any request: nothing may be confirmed any more, and
   nothing half done goes on.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import msgspec

from reference_impl.mirrored.store import Entry, Put
from reference_impl.node.happenings import Saved
from reference_impl.pid import Pid
from reference_impl.shell.segments import Segments
from reference_impl.shell.writing import replace

BOOT, TABLES = "boot", "tables"  # files
_NAME_MAX = 200
WAITING_OCTETS = 16 << 20  # of bodies, that may wait for the thread
_encoder = msgspec.msgpack.Encoder()
_tables: msgspec.msgpack.Decoder[Saved] = msgspec.msgpack.Decoder(Saved)

T = TypeVar("T")
Flushed = Callable[[list[tuple[Pid, int]]], None]


@dataclass(slots=True)
class _Batch:
    """The work that waits for the disk: entries by queue (None: everything before is wiped), and
    marks."""

    entries: dict[str, list[Entry | None]] = field(default_factory=dict)
    marks: list[tuple[Pid, int]] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)  # queues whose files must be flushed


class FolderDisk:
    """node.outside.Disk. `flushed` is called from the disk's own thread."""

    def __init__(self, folder: Path, flushed: Flushed, truth: Path | None = None) -> None:
        self._folder = folder
        self._truth = truth
        self._flushed = flushed
        (folder / "queues").mkdir(parents=True, exist_ok=True)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="disk")
        self._lock = threading.Lock()
        self._batch = _Batch()
        self._due = False
        self._waiting_octets = 0  # of bodies, given since it was last waited for
        self._queues: dict[str, Segments] = {}  # the thread's

    def next_boot(self) -> int:
        """The number of this boot of the node; no other boot has it."""
        file = self._folder / BOOT
        boot = int(file.read_text()) + 1 if file.exists() else 1
        replace(file, str(boot).encode())
        return boot

    def saved(self) -> Saved | None:
        return read_saved(self._folder)

    # --- node.outside.Disk

    def stored(self, queue: str) -> tuple[int, ...]:
        return self._read_back(lambda: self._queue(queue).stored())

    def segment(self, queue: str, number: int) -> Mapping[int, Put]:
        return self._read_back(lambda: self._queue(queue).found(number))

    def write(self, queue: str, entries: tuple[Entry, ...]) -> None:
        with self._lock:
            self._batch.entries.setdefault(queue, []).extend(entries)
        self._due = True
        self._waiting_octets += sum(len(it.message.body) for it in entries if type(it) is Put)
        if self._waiting_octets > WAITING_OCTETS:
            self._waiting_octets = 0
            self._read_back(lambda: None)

    def flush(self, pid: Pid, queue: str, mark: int) -> None:
        with self._lock:
            self._batch.marks.append((pid, mark))
            self._batch.wanted.add(queue)
        self._due = True

    def wipe(self, queue: str) -> None:
        with self._lock:
            self._batch.entries[queue] = [None]
        self._due = True

    def admit(self, lines: bytes) -> None:
        """At once, in one write: it is in the page cache before anything else happens."""
        assert self._truth is not None, "an honest node admits nothing"
        with self._truth.open("ab", buffering=0) as truth:
            truth.write(lines)

    def save(self, saved: Saved) -> None:
        try:
            write_saved(self._folder, saved)
        except OSError as error:
            _end(error)

    # --- the shell's

    def submit_due(self) -> None:
        """Submit the requests of this turn to the disk's thread."""
        if self._due:
            self._due = False
            self._thread.submit(self._carry_out).add_done_callback(_raise)

    def close(self) -> None:
        """Returns when everything is on disk."""
        self.submit_due()
        self._thread.shutdown(wait=True)
        for queue in self._queues.values():
            queue.close()

    # --- the thread

    def _read_back(self, read: Callable[[], T]) -> T:
        """Read in the disk's thread: what is written by now is there."""
        self.submit_due()
        found: Future[T] = self._thread.submit(read)
        return found.result()

    def _carry_out(self) -> None:
        with self._lock:
            batch, self._batch = self._batch, _Batch()
        for queue, entries in batch.entries.items():
            self._write(self._queue(queue), entries)
        for queue in batch.wanted:
            self._queue(queue).flush()
        if batch.marks:
            self._flushed(batch.marks)

    def _write(self, queue: Segments, entries: list[Entry | None]) -> None:
        if None in entries:
            queue.wipe()
        queue.append([entry for entry in entries if entry is not None])

    def _queue(self, name: str) -> Segments:
        if name not in self._queues:
            self._queues[name] = Segments(self._folder / "queues" / _file_name(name))
        return self._queues[name]


def read_saved(folder: Path) -> Saved | None:
    file = folder / TABLES
    return _tables.decode(file.read_bytes()) if file.exists() else None


def write_saved(folder: Path, saved: Saved) -> None:
    replace(folder / TABLES, _encoder.encode(saved))


def _file_name(queue: str) -> str:
    """Readable where a file system takes it: names of queues may be longer, and hold anything."""
    name = quote(queue, safe="")
    if len(name) > _NAME_MAX:
        name = hashlib.sha256(queue.encode()).hexdigest()
    return f"{name}.queue"


def _raise(done: "Future[None]") -> None:
    error = done.exception()
    if error is not None:
        _end(error)


def _end(error: BaseException) -> None:
    print(f"the disk failed: {error}", file=sys.stderr, flush=True)
    os._exit(1)
