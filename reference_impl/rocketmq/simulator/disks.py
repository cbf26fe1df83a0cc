"""A simulated disk: store.disk.Disk in memory.

1. After the crash of a process all that was written is there.
2. After the loss of power only what was flushed is: the rest is zero, as on a file whose length
   was kept and whose pages were not.
3. Documents are whole or not there; they are flushed when they are kept.
"""


class MemorySeries:
    """store.disk.Series."""

    def __init__(self, file_octets: int) -> None:
        self.file_octets = file_octets
        self._files: dict[int, bytearray] = {}
        self._flushed: dict[int, bytearray] = {}

    @property
    def first(self) -> int:
        return min(self._files, default=0)

    @property
    def allocated(self) -> int:
        return max(self._files, default=-self.file_octets) + self.file_octets

    def write(self, at: int, octets: bytes) -> None:
        start = self._start(at)
        assert at + len(octets) <= start + self.file_octets, "no write lies in two files"
        file = self._files.get(start)
        if file is None:
            file = self._files[start] = bytearray(self.file_octets)
        file[at - start : at - start + len(octets)] = octets

    def read(self, at: int, count: int) -> bytes:
        start = self._start(at)
        file = self._files.get(start)
        return b"" if file is None else bytes(file[at - start : at - start + count])

    def flush(self, start: int, end: int) -> None:
        for at, file in self._files.items():
            low, high = max(start, at) - at, min(end, at + self.file_octets) - at
            if low < high:
                if at not in self._flushed:
                    self._flushed[at] = bytearray(self.file_octets)
                kept = self._flushed[at]
                kept[low:high] = file[low:high]

    def truncate(self, at: int) -> None:
        for files in (self._files, self._flushed):
            for start in [start for start in files if start >= at]:
                del files[start]
            file = files.get(self._start(at))
            if file is not None:
                cut = at - self._start(at)
                file[cut:] = bytes(self.file_octets - cut)

    def lose_power(self) -> None:
        self._files = {at: bytearray(file) for at, file in self._flushed.items()}

    def _start(self, at: int) -> int:
        return at // self.file_octets * self.file_octets


class MemoryDisk:
    """store.disk.Disk."""

    def __init__(self) -> None:
        self._series: dict[str, MemorySeries] = {}
        self._documents: dict[str, bytes] = {}

    def series(self, folder: str, file_octets: int) -> MemorySeries:
        return self._series.setdefault(folder, MemorySeries(file_octets))

    def folders(self, folder: str) -> list[str]:
        prefix = f"{folder}/"
        below = (name.removeprefix(prefix) for name in self._series if name.startswith(prefix))
        return sorted({name.partition("/")[0] for name in below})

    def drop(self, folder: str) -> None:
        for name in [name for name in self._series if name.startswith(f"{folder}/")]:
            del self._series[name]

    def document(self, name: str) -> bytes | None:
        return self._documents.get(name)

    def keep(self, name: str, document: bytes, flushed: bool = False) -> None:  # noqa: ARG002
        self._documents[name] = document

    def forget(self, name: str) -> None:
        self._documents.pop(name, None)

    def lose_power(self) -> None:
        for series in self._series.values():
            series.lose_power()
