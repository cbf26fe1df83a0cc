"""The entries of one queue on disk: a file a segment (mirrored.store).

1. A file ends at its last whole entry: kill -9 or a full disk may cut one in two. The rest of
   that goes before anything is written behind it, which would be read as its other half.
2. A file goes when nothing that is put in it is held any more and a later one is there; the last
   one restarts then, when it has grown. A file's entries are counted at the first request.
3. A message is read when it is asked for, by any thread: files only grow, and one that is gone is
   there for readers that have it open.
4. Few files are open at a time. One that is closed was flushed before.
"""

import os
import struct
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from reference_impl.mirrored.store import SEGMENT, Emptied, Entry, Put, Removed
from reference_impl.shell.writing import sync

OPEN_MAX = 8
BEGINS_ANEW_OCTETS = 1 << 20
_HEAD = struct.Struct(">cQI")  # its kind, its number, and the octets that follow
_PUT, _REMOVED = b"p", b"r"
_put: msgspec.msgpack.Decoder[Put] = msgspec.msgpack.Decoder(Put)
_encoder = msgspec.msgpack.Encoder()


class SegmentContent(Mapping[int, Put]):
    """The content of a segment, by number."""

    def __init__(self, file: int, places: Mapping[int, tuple[int, int]]) -> None:
        self._file = file
        self._places = places
        weakref.finalize(self, os.close, file)

    def __getitem__(self, number: int) -> Put:
        at, octets = self._places[number]
        return _put.decode(os.pread(self._file, octets, at))

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Segments:
    """One thread writes; `folder` is made when something is written."""

    def __init__(self, folder: Path, segment: int = SEGMENT) -> None:
        self._folder = folder
        self._segment = segment
        self._files: dict[int, int] = {}  # open for writing, by segment; the latest last
        self._unflushed: set[int] = set()  # segments
        self._held: dict[int, int] = {}  # messages put and not removed, of those counted
        self._there = {int(file.stem) for file in folder.glob("*.log")}
        self._is_new = False  # the folder has names that are not flushed

    def stored(self) -> tuple[int, ...]:
        return tuple(sorted(self._there))

    def found(self, segment: int) -> Mapping[int, Put]:
        if segment not in self._there:
            return {}
        file = os.open(self._path(segment), os.O_RDONLY)
        return SegmentContent(file, _places(file)[0])

    def append(self, entries: list[Entry]) -> None:
        waiting: dict[int, list[bytes]] = {}
        for entry in entries:
            match entry:
                case Put(number=number):
                    self._count(number // self._segment, 1)
                    self._wait(waiting, number, _PUT, _encoder.encode(entry))
                case Removed(numbers=numbers):
                    for number in numbers:
                        self._count(number // self._segment, -1)
                        self._wait(waiting, number, _REMOVED, b"")
                case Emptied(kept=kept):
                    self._write(waiting)
                    self._empty(kept)
        self._write(waiting)

    def flush(self) -> None:
        for segment in self._unflushed:
            os.fdatasync(self._files[segment])
        self._unflushed.clear()
        if self._is_new:
            self._is_new = False
            sync(self._folder)

    def wipe(self) -> None:
        for segment in list(self._there):
            self._drop(segment)

    def close(self) -> None:
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        self._unflushed.clear()

    # --- writing

    def _wait(
        self, waiting: dict[int, list[bytes]], number: int, kind: bytes, octets: bytes
    ) -> None:
        framed = waiting.setdefault(number // self._segment, [])
        framed += (_HEAD.pack(kind, number, len(octets)), octets)

    def _write(self, waiting: dict[int, list[bytes]]) -> None:
        for segment, framed in waiting.items():
            _write_all(self._file(segment), b"".join(framed))
            self._unflushed.add(segment)
        for segment in waiting:
            self._let_go(segment)
        waiting.clear()

    def _file(self, segment: int) -> int:
        file = self._files.pop(segment, None)
        if file is None:
            file = self._opened(segment)
        self._files[segment] = file
        return file

    def _opened(self, segment: int) -> int:
        while len(self._files) >= OPEN_MAX:
            self._close(next(iter(self._files)))
        if segment not in self._there:
            self._folder.mkdir(exist_ok=True)
            self._there.add(segment)
            self._is_new = True
        return os.open(self._path(segment), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def _close(self, segment: int) -> None:
        file = self._files.pop(segment)
        if segment in self._unflushed:
            self._unflushed.discard(segment)
            os.fdatasync(file)
        os.close(file)

    # --- going

    def _count(self, segment: int, more: int) -> None:
        if segment not in self._held:
            self._held[segment] = self._begun(segment)
        self._held[segment] += more

    def _begun(self, segment: int) -> int:
        """Return how many it holds, before anything is written to it; from then on it is whole."""
        if segment not in self._there:
            return 0
        file = os.open(self._path(segment), os.O_RDWR)
        try:
            places, end = _places(file)
            if end < os.fstat(file).st_size:
                os.ftruncate(file, end)
        finally:
            os.close(file)
        return len(places)

    def _let_go(self, segment: int) -> None:
        """If nothing in it is held any more."""
        if self._held.get(segment, 1) > 0:
            return
        if segment < max(self._there):
            self._drop(segment)
        elif os.fstat(self._files[segment]).st_size > BEGINS_ANEW_OCTETS:
            os.ftruncate(self._files[segment], 0)

    def _empty(self, kept: tuple[int, ...]) -> None:
        left = frozenset(kept)
        stays = {number // self._segment for number in kept}
        for segment in list(self._there):
            if segment not in stays:
                self._drop(segment)
        removed = [
            number for segment in stays for number in self.found(segment) if number not in left
        ]
        if removed:
            self.append([Removed(tuple(removed))])

    def _drop(self, segment: int) -> None:
        file = self._files.pop(segment, None)
        if file is not None:
            os.close(file)
        self._unflushed.discard(segment)
        self._held.pop(segment, None)
        self._there.discard(segment)
        self._path(segment).unlink()

    def _path(self, segment: int) -> Path:
        return self._folder / f"{segment:010}.log"


def _places(file: int) -> tuple[dict[int, tuple[int, int]], int]:
    """Of what is held: where it begins, and its octets; by number. And where whole entries end."""
    places: dict[int, tuple[int, int]] = {}
    at, end = 0, os.fstat(file).st_size
    while at + _HEAD.size <= end:
        kind, number, octets = _HEAD.unpack(os.pread(file, _HEAD.size, at))
        begins = at + _HEAD.size
        if kind not in (_PUT, _REMOVED) or begins + octets > end:
            break
        at = begins + octets
        if kind == _PUT:
            places[number] = (begins, octets)
        else:
            places.pop(number, None)
    return dict(sorted(places.items())), at


def _write_all(file: int, octets: bytes) -> None:
    left = memoryview(octets)
    while left:
        left = left[os.write(file, left) :]
