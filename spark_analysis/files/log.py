"""A worker's log: append-only files that are readable up to their last whole record.

1. One folder a worker: `<table>.log` a raw table, `strings.log`, and `closed.json` at its end.
2. Records wait in memory until `flush()`; a string reaches its file before a record that names it.
3. Only `close()` syncs to the disk: kill -9 loses no page cache, and a sync a second would compete
   with the broker's own.
4. A reader drops what follows the last whole record. A log without `closed.json` was not closed.
   One with it says how many records it has, and with fewer, more or half ones it is damaged; so it
   is where a file's checksum is another, or it is the log of another run.
5. A write that fails (a full disk) is sticky: the log is cut back to whole records and stays shut,
   so its worker must stop; nothing may be sent that is not in a log.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeGuard

from spark_analysis.files.failed import os_reason
from spark_analysis.files.regular import check_regular, content_of, json_of
from spark_analysis.files.writing import write_whole
from spark_analysis.schema.tables import FORMAT_VERSION, TABLES, ColumnType, Table

_HEADER = struct.Struct("<4sHHI")  # magic, format version, reserved, record size
_MAGIC = b"MQPL"
_LENGTH = struct.Struct("<I")
CLOSED = "closed.json"
_CLOSED_BYTES_MAX = 1 << 20
STRINGS = "strings.log"
_ONES = 0xFFFFFFFF
_ZEROS = bytes(1 << 20)

Value = int | str | None


class LogFull(Exception):
    """The log could not be written; what it holds up to now is whole and readable."""


class LogDamaged(Exception):
    """A log that is not one of ours, of a format version we do not read, or not whole."""


class _File:
    """One append-only file of whole records."""

    def __init__(self, path: Path, record_bytes: int) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self.pending = bytearray(_HEADER.pack(_MAGIC, FORMAT_VERSION, 0, record_bytes))
        self._whole_bytes = 0
        self.crc32 = 0  # of what was written

    def flush(self) -> None:
        if not self.pending:
            return
        written = 0
        view = memoryview(self.pending)
        try:
            while written < len(view):
                written += os.write(self._fd, view[written:])
        except OSError:
            os.ftruncate(self._fd, self._whole_bytes)
            raise
        finally:
            view.release()
        self.crc32 = zlib.crc32(self.pending, self.crc32)
        self._whole_bytes += written
        self.pending.clear()

    def written_by_another(self, count_bytes: int, crc32: int) -> None:
        self.crc32 = joined(self.crc32, crc32, count_bytes)
        self._whole_bytes += count_bytes

    def close(self) -> None:
        os.fsync(self._fd)
        os.close(self._fd)

    def abandon(self) -> None:
        os.close(self._fd)


class LogWriter:
    """Appends records to one worker's log folder, which must not exist yet.

    `run`: the run of the log; it tells the log from those of other runs.
    `append(table, *values)` takes values in column order, text columns as str or None.
    `append_numbered(table, *values)` is faster: it takes text columns as numbers of `text()`.
    Raises LogFull from `flush()` and `close()` when the disk refuses; from then on always.
    """

    def __init__(self, folder: Path, run: str = "") -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._run = run
        self._strings = _File(folder / STRINGS, 0)
        self._numbers: dict[str, int] = {}
        self._files: dict[str, _File] = {}
        self._counts: dict[str, int] = {}
        self._failure: OSError | None = None

    def text(self, text: str | None) -> int:
        """The number of `text` in this log's string table; -1 for None."""
        if text is None:
            return -1
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._numbers)
            encoded = text.encode("utf-8", "surrogateescape")
            self._strings.pending += _LENGTH.pack(len(encoded)) + encoded
        return number

    def append(self, table: Table, *values: Value) -> None:
        assert len(values) == len(table.columns), (table.name, values)
        numbered = (
            self.text(value) if column.kind is ColumnType.TEXT else value  # type: ignore[arg-type]
            for column, value in zip(table.columns, values, strict=True)
        )
        self.append_numbered(table, *numbered)  # type: ignore[arg-type]

    def append_numbered(self, table: Table, *values: int) -> None:
        self._file(table).pending += table.record.pack(*values)
        self._counts[table.name] += 1

    def append_columns(self, table: Table, count: int, *columns: Iterable[int]) -> None:
        """Append `count` records by columns, as `append_numbered` would; constants by `repeat`."""
        records = list(map(table.record.pack, *columns))
        assert len(records) == count, (table.name, count, len(records))
        self._file(table).pending += b"".join(records)
        self._counts[table.name] += count

    def lend(self, table: Table) -> Path:
        """The file of a table, for another writer that appends whole records after those that are
        here; until it has ended, nothing else is appended. Raises LogFull."""
        self._file(table)
        self.flush(table)
        return self._folder / f"{table.name}.log"

    def written_by_another(self, table: Table, count: int, crc32: int) -> None:
        """So many records, of this checksum, were appended to a file that is lent."""
        self._file(table).written_by_another(count * table.record.size, crc32)
        self._counts[table.name] += count

    def _file(self, table: Table) -> _File:
        file = self._files.get(table.name)
        if file is None:
            path = self._folder / f"{table.name}.log"
            file = self._files[table.name] = _File(path, table.record.size)
            self._counts[table.name] = 0
        return file

    def flush(self, only: Table | None = None) -> None:
        """Hands records to the kernel, strings first: all, or those of one table alone."""
        if self._failure is not None:
            raise LogFull(os_reason(self._failure, self._folder)) from self._failure
        try:
            self._strings.flush()
            if only is None:
                for file in self._files.values():
                    file.flush()
            elif only.name in self._files:
                self._files[only.name].flush()
        except OSError as failure:
            self._failure = failure
            raise LogFull(os_reason(failure, self._folder)) from failure

    def close(self) -> None:
        """Flushes, syncs, and marks the log closed. A closed log is complete."""
        self.flush()
        try:
            files = {STRINGS: self._strings, **{f"{n}.log": f for n, f in self._files.items()}}
            for file in files.values():
                file.close()
            document = {
                "format": FORMAT_VERSION,
                "run": self._run,
                "records": self._counts,
                "crc32": {name: file.crc32 for name, file in files.items()},
            }
            write_whole(self._folder / CLOSED, json.dumps(document), durable=True)
        except OSError as failure:
            self._failure = failure
            raise LogFull(os_reason(failure, self._folder)) from failure

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A log that ends by an error stays open in the records' sense: it has no closing mark.
        if kind is None:
            self.close()


def joined(first: int, second: int, second_bytes: int) -> int:
    """The CRC-32 of two parts, one after the other, from that of each."""
    # Zeros after a register that holds nothing but the first part's checksum shift that alone.
    register = first ^ _ONES
    for at in range(0, second_bytes, len(_ZEROS)):
        register = zlib.crc32(_ZEROS[: second_bytes - at], register)
    return register ^ _ONES ^ second


def is_closed(folder: Path) -> bool:
    """Return whether the worker closed this log itself: then nothing is missing from it."""
    return (folder / CLOSED).exists()


def files(folder: Path) -> Iterator[Path]:
    """The files of this log: whatever else lies in its folder is no record."""
    names = (*(f"{name}.log" for name in TABLES), STRINGS, CLOSED)
    return (folder / name for name in names if (folder / name).exists())


def check_closed(folder: Path, run: str = "") -> None:
    """Raises LogDamaged where a closed log is not as its worker closed it.

    `run`: the one that it should be of; "" where that is not asked.
    """
    if not is_closed(folder):
        return
    closed = _closed(folder / CLOSED)
    if run and closed.run and closed.run != run:
        raise LogDamaged(f"{folder} is a log of another run, {closed.run}")
    for table in TABLES.values():
        path = folder / f"{table.name}.log"
        body = max(0, check_regular(path).st_size - _HEADER.size) if path.exists() else 0
        whole, torn = divmod(body, table.record.size)
        wanted = closed.records.get(table.name, 0)
        if whole != wanted or torn:
            raise LogDamaged(
                f"{path} has {whole:,} whole records{' and a torn one' if torn else ''}; "
                f"its worker closed it with {wanted:,}"
            )
    for name, crc32 in closed.crc32.items():
        if zlib.crc32(content_of(folder / name)) != crc32:
            raise LogDamaged(f"{folder / name} is not what its worker closed")


@dataclass(frozen=True, slots=True)
class _Closed:
    """The content of a closing mark. Older marks have no checksums."""

    records: Mapping[str, int]
    crc32: Mapping[str, int]
    run: str


def _closed(path: Path) -> _Closed:
    try:
        document = json_of(path, _CLOSED_BYTES_MAX)
        parts = document["records"], document.get("crc32", {}), document.get("run", "")
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise LogDamaged(f"{path} does not say how many records there are") from failure
    records, crc32, run = parts
    if not (_numbers(records) and _numbers(crc32) and isinstance(run, str)):
        raise LogDamaged(f"{path} does not say how many records there are")
    if not crc32.keys() <= {STRINGS, *(f"{name}.log" for name in TABLES)}:
        raise LogDamaged(f"{path} speaks of files that no log has")
    return _Closed(records, crc32, run)


def _numbers(value: object) -> TypeGuard[dict[str, int]]:
    return isinstance(value, dict) and all(type(one) is int for one in value.values())


def read_strings(folder: Path) -> list[str]:
    """The string table, by number, up to its last whole entry."""
    raw = _content(folder / STRINGS, 0)
    strings: list[str] = []
    position = 0
    while position + _LENGTH.size <= len(raw):
        (length,) = _LENGTH.unpack_from(raw, position)
        end = position + _LENGTH.size + length
        if end > len(raw):
            break
        strings.append(raw[position + _LENGTH.size : end].decode("utf-8", "surrogateescape"))
        position = end
    return strings


def read_records(folder: Path, table: Table) -> bytes:
    """The packed records of one table, whole ones only; empty where the log has no such table."""
    raw = _content(folder / f"{table.name}.log", table.record.size)
    return raw[: len(raw) - len(raw) % table.record.size]


def _content(path: Path, record_bytes: int) -> bytes:
    try:
        raw = content_of(path)
    except FileNotFoundError:
        return b""
    if len(raw) < _HEADER.size:
        return b""
    magic, version, _, size = _HEADER.unpack_from(raw)
    if magic != _MAGIC or version != FORMAT_VERSION or size != record_bytes:
        raise LogDamaged(f"{path}: not a log of format {FORMAT_VERSION} with these records")
    return raw[_HEADER.size :]
