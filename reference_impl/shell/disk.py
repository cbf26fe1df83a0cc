"""The disk of one node: a log a queue, and what the cluster core wants to find again.

1. One thread does everything, in the order in which it was asked for. What waits for it at a time
   is written together and costs one fsync a log.
2. A log ends at its last whole entry: kill -9 may cut one in two.
3. A log is written anew, without what was removed, when REWRITE_ENTRIES have come since.
4. Tables are replaced by renaming. They outlive kill -9; a power loss may take the last change.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import msgspec

from reference_impl.mirrored.store import Entry, Put, replayed
from reference_impl.node.happenings import Saved
from reference_impl.pid import Pid

REWRITE_ENTRIES = 50_000
BOOT, TABLES = "boot", "tables"  # files
_LENGTH_OCTETS = 4
_NAME_MAX = 200
_encoder = msgspec.msgpack.Encoder()
_entry: msgspec.msgpack.Decoder[Entry] = msgspec.msgpack.Decoder(Entry)
_tables: msgspec.msgpack.Decoder[Saved] = msgspec.msgpack.Decoder(Saved)

Flushed = Callable[[list[tuple[Pid, int]]], None]


@dataclass(slots=True)
class _Batch:
    """What waits for the disk: entries by queue (None: everything before is wiped), and marks."""

    entries: dict[str, list[Entry | None]] = field(default_factory=dict)
    marks: list[tuple[Pid, int]] = field(default_factory=list)
    wanted: set[str] = field(default_factory=set)  # queues whose log must be flushed


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
        self._logs: dict[str, _Log] = {}  # the thread's

    def next_boot(self) -> int:
        """The number of this boot of the node; no other boot has it."""
        file = self._folder / BOOT
        boot = int(file.read_text()) + 1 if file.exists() else 1
        _replace(file, str(boot).encode())
        return boot

    def saved(self) -> Saved | None:
        return read_saved(self._folder)

    # --- node.outside.Disk

    def stored(self, queue: str) -> tuple[Entry, ...]:
        self.hand_over()
        found: Future[tuple[Entry, ...]] = self._thread.submit(lambda: self._log(queue).read())
        return found.result()

    def write(self, queue: str, entries: tuple[Entry, ...]) -> None:
        with self._lock:
            self._batch.entries.setdefault(queue, []).extend(entries)
        self._due = True

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
        write_saved(self._folder, saved)

    # --- the shell's

    def hand_over(self) -> None:
        """What was asked for in this turn goes to the disk's thread."""
        if self._due:
            self._due = False
            self._thread.submit(self._carry_out).add_done_callback(_raise)

    def close(self) -> None:
        """Returns when everything is on disk."""
        self.hand_over()
        self._thread.shutdown(wait=True)
        for log in self._logs.values():
            log.close()

    # --- the thread

    def _carry_out(self) -> None:
        with self._lock:
            batch, self._batch = self._batch, _Batch()
        for queue, entries in batch.entries.items():
            self._log(queue).append(entries)
        for queue in batch.wanted:
            self._log(queue).flush()
        if batch.marks:
            self._flushed(batch.marks)

    def _log(self, queue: str) -> "_Log":
        if queue not in self._logs:
            self._logs[queue] = _Log(self._folder / "queues" / _file_name(queue))
        return self._logs[queue]


def read_saved(folder: Path) -> Saved | None:
    file = folder / TABLES
    return _tables.decode(file.read_bytes()) if file.exists() else None


def write_saved(folder: Path, saved: Saved) -> None:
    _replace(folder / TABLES, _encoder.encode(saved))


class _Log:
    """The log of one queue."""

    def __init__(self, file: Path) -> None:
        self._path = file
        self._file: BinaryIO = file.open("ab", buffering=0)
        self._since = 0  # entries since it was last written anew

    def read(self) -> tuple[Entry, ...]:
        octets = self._path.read_bytes()
        entries: list[Entry] = []
        at = 0
        while at + _LENGTH_OCTETS <= len(octets):
            begins = at + _LENGTH_OCTETS
            at = begins + int.from_bytes(octets[at:begins], "big")
            if at > len(octets):
                break  # cut in two by a kill
            entries.append(_entry.decode(octets[begins:at]))
        return tuple(entries)

    def append(self, entries: list[Entry | None]) -> None:
        if None in entries:
            wiped = len(entries) - entries[::-1].index(None)
            entries = entries[wiped:]
            self._file.truncate(0)
            self._since = 0
        kept = [entry for entry in entries if entry is not None]
        self._file.write(b"".join(map(_framed, kept)))
        self._since += len(kept)
        if self._since >= REWRITE_ENTRIES:
            self._rewrite()

    def flush(self) -> None:
        os.fdatasync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    def _rewrite(self) -> None:
        held = replayed(self.read())
        self._file.close()
        puts = [Put(number, message) for number, message in held.items()]
        _replace(self._path, b"".join(map(_framed, puts)))
        self._file = self._path.open("ab", buffering=0)
        self._since = 0


def _file_name(queue: str) -> str:
    """Readable where a file system takes it: names of queues may be longer, and hold anything."""
    name = quote(queue, safe="")
    if len(name) > _NAME_MAX:
        name = hashlib.sha256(queue.encode()).hexdigest()
    return f"{name}.log"


def _framed(entry: Entry) -> bytes:
    octets = _encoder.encode(entry)
    return len(octets).to_bytes(_LENGTH_OCTETS, "big") + octets


def _replace(file: Path, octets: bytes) -> None:
    partial = file.with_suffix(".partial")
    partial.write_bytes(octets)
    partial.rename(file)


def _raise(done: "Future[None]") -> None:
    """A disk that fails is the node's end: nothing may be confirmed any more."""
    error = done.exception()
    if error is not None:
        os._exit(1)
