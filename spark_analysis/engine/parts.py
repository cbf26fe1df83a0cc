"""Marts as files: `<marts>/<mart>/*.parquet`, whose rows have no order and whose files no meaning.

1. What is being written has a name that readers pass over; only a whole file gets its own name.
2. A part's name is its task's number: a task that is tried again writes what it wrote before.
3. What cannot be written raises MartsUnwritten, with the place: no run is to blame for that.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from spark_analysis.engine.failing import MartsUnwritten
from spark_analysis.files.failed import os_reason
from spark_analysis.schema.arrow import row_schema

BATCH_ROWS = 1 << 16


def clear(marts: Path, names: Sequence[str]) -> None:
    """An empty folder for each mart, whatever stood there."""
    for name in names:
        shutil.rmtree(marts / name, ignore_errors=True)
        with _written(marts / name):
            (marts / name).mkdir(parents=True)


def remove(marts: Path, names: Sequence[str], numbers: range) -> None:
    """The parts of tasks with these numbers, as if they had never been carried out."""
    for name in names:
        for path in (_path(marts, name, number) for number in numbers):
            with _written(path):
                path.unlink(missing_ok=True)


def write(marts: Path, name: str, rows: pa.Table) -> None:
    """A whole mart as one file."""
    path = _path(marts, name, 0)
    with _written(path):
        pq.write_table(rows, path)


def write_empty(marts: Path, row_types: Mapping[str, type]) -> None:
    """Write files without rows for marts in which no task had a row, so that their columns are
    known."""
    for name, row in row_types.items():
        if not any((marts / name).glob("*.parquet")):
            write(marts, name, row_schema(row).empty_table())


class Parts:
    """The rows of one task in marts with many rows: one file per mart, written as rows come."""

    def __init__(self, marts: Path, number: int, attempt: int) -> None:
        self._marts = marts
        self._number = number
        self._attempt = attempt
        self._waiting: dict[str, list[pa.Table]] = {}
        self._number_waiting = Counter[str]()  # rows of each mart
        self._begun: set[str] = set()
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._open = ExitStack()

    def __enter__(self) -> "Parts":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        whole = kind is None
        try:
            if whole:
                self._finish()
        except MartsUnwritten:
            whole = False
            raise
        finally:
            if not whole:
                self._abandon()

    def _finish(self) -> None:
        for name in list(self._waiting):
            self._flush(name)
        with _written(self._marts):
            self._open.close()
            for name in self._writers:
                self._unfinished(name).replace(_path(self._marts, name, self._number))

    def _abandon(self) -> None:
        with suppress(OSError):  # a full disk, which is reported already
            self._open.close()
        for name in self._begun:
            with suppress(OSError):
                self._unfinished(name).unlink(missing_ok=True)

    def add(self, name: str, rows: pa.Table) -> None:
        """Small runs wait for each other: a group of rows costs as much for few as for many."""
        self._waiting.setdefault(name, []).append(rows)
        self._number_waiting[name] += len(rows)
        if self._number_waiting[name] >= BATCH_ROWS:
            self._flush(name)

    def _flush(self, name: str) -> None:
        rows = pa.concat_tables(self._waiting.pop(name))
        if not self._number_waiting.pop(name, 0):
            return
        unfinished = self._unfinished(name)
        with _written(unfinished):
            if name not in self._writers:
                self._begun.add(name)
                writer = pq.ParquetWriter(unfinished, rows.schema)
                self._writers[name] = self._open.enter_context(writer)
            self._writers[name].write_table(rows)

    def _unfinished(self, name: str) -> Path:
        whole = _path(self._marts, name, self._number)
        return whole.with_name(f".{whole.name}.{self._attempt}")


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        raise MartsUnwritten(os_reason(failure, path)) from failure


def _path(marts: Path, name: str, number: int) -> Path:
    return marts / name / f"part-{number:05}.parquet"
