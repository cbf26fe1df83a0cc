"""The files of a broker of RocketMQ: rocketmq.store.disk.Disk on a folder.

1. Files have their full size from their first octet on, and are named by where they begin, as the
   real ones are; what was not written is a hole, which takes no room.
2. They are written and read by the kernel, and not mapped: on a full disk a write is an error that
   says so, and no signal that ends the process.
"""

import os
import shutil
from pathlib import Path

from reference_impl.shell.writing import replace

_DIGITS = 20
_MODE = 0o600


class FileSeries:
    """disk.Series."""

    def __init__(self, folder: Path, file_octets: int) -> None:
        self._folder = folder
        self.file_octets = file_octets
        self._files = {int(path.name): _open(path) for path in _named(folder)}

    @property
    def first(self) -> int:
        return min(self._files, default=0)

    @property
    def allocated(self) -> int:
        return max(self._files, default=-self.file_octets) + self.file_octets

    def write(self, at: int, octets: bytes) -> None:
        start = self._start(at)
        file = self._files.get(start)
        if file is None:
            file = self._make(start)
        while octets:  # a write may be short, where the disk has no room for all of it
            count = os.pwrite(file, octets, at - start)
            octets, at = octets[count:], at + count

    def read(self, at: int, count: int) -> bytes:
        start = self._start(at)
        file = self._files.get(start)
        room = start + self.file_octets - at
        return b"" if file is None else os.pread(file, min(count, room), at - start)

    def flush(self, start: int, end: int) -> None:
        first = self._start(start)
        for at in [at for at in self._files if first <= at < end]:
            os.fdatasync(self._files[at])

    def truncate(self, at: int) -> None:
        for start in [start for start in self._files if start >= at]:
            os.close(self._files.pop(start))
            self._path(start).unlink()
        file = self._files.get(self._start(at))
        if file is not None:
            os.ftruncate(file, at - self._start(at))
            os.ftruncate(file, self.file_octets)

    def close(self) -> None:
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    def _start(self, at: int) -> int:
        return at // self.file_octets * self.file_octets

    def _path(self, start: int) -> Path:
        return self._folder / f"{start:0{_DIGITS}}"

    def _make(self, start: int) -> int:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._files[start] = _open(self._path(start))
        os.ftruncate(file, self.file_octets)
        return file


class LogFolder:
    """disk.Disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._series: dict[str, FileSeries] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def series(self, folder: str, file_octets: int) -> FileSeries:
        series = self._series.get(folder)
        if series is None:
            series = self._series[folder] = FileSeries(self._folder / folder, file_octets)
        return series

    def folders(self, folder: str) -> list[str]:
        place = self._folder / folder
        return sorted(path.name for path in place.iterdir()) if place.is_dir() else []

    def drop(self, folder: str) -> None:
        for name in [name for name in self._series if name.startswith(f"{folder}/")]:
            self._series.pop(name).close()
        shutil.rmtree(self._folder / folder, ignore_errors=True)

    def document(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def keep(self, name: str, document: bytes, flushed: bool = False) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, document, flushed)

    def forget(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        for series in self._series.values():
            series.close()
        self._series.clear()


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)


def _named(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [
        path for path in folder.iterdir() if len(path.name) == _DIGITS and path.name.isdecimal()
    ]
