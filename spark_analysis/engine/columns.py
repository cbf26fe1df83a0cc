"""Columns of large tables: read when a kernel needs them, evicted when others need the memory.

1. Kernels need few columns at a time, and a run of many millions of messages has more columns than
   fit into memory. An evicted column is read again.
2. A selection of rows applies to each column when that column is read, and so does a change of
   one.
3. Threads may request columns at the same time. If another thread reads the column already, they
   wait for it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields
from threading import Lock
from typing import Any, cast

from spark_analysis.engine.kernel.arrays import Bools, Ints
from spark_analysis.engine.kernel.records import R, Text

CACHE_BYTES = 384 << 20  # all columns of a run of two million messages

Column = Ints | Text
Read = Callable[[str], Column]  # by the column's name


class ColumnCache:
    """The most recently used columns, up to a number of bytes, and at least one column."""

    def __init__(self, limit_bytes: int = CACHE_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._held: OrderedDict[Hashable, Column] = OrderedDict()  # the latest is the last
        self._reading: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, read: Callable[[], Column]) -> Column:
        with self._lock:
            reading = self._reading.setdefault(key, Lock())
        with reading:
            with self._lock:
                if key in self._held:
                    self._held.move_to_end(key)
                    return self._held[key]
            column = read()
            with self._lock:
                self._held[key] = column
                self._evict()
            return column

    def _evict(self) -> None:
        while len(self._held) > 1 and sum(map(_bytes, self._held.values())) > self._limit_bytes:
            self._held.popitem(last=False)


def records(kind: type[R], read: Read, cache: ColumnCache) -> R:
    """Return the records of a table whose columns are read by name on demand."""
    return _made(kind, _Source(read, cache))


class _Source:
    """The source of the columns of some records."""

    def __init__(self, read: Read, cache: ColumnCache) -> None:
        self._read = read
        self._cache = cache

    def column(self, name: str) -> Column:
        return self._cache.get((self, name), lambda: self._read(name))

    def picked(self, rows: Ints | Bools) -> "_Source":
        # Only the selected rows are cached.
        return _Source(lambda name: self._read(name)[rows], self._cache)

    def changed(self, name: str, change: Callable[[Any], Any]) -> "_Source":
        def read(column: str) -> Column:
            found = self._read(column)
            return cast(Column, change(found)) if column == name else found

        return _Source(read, self._cache)


def _made(kind: type[R], source: _Source) -> R:
    made = object.__new__(_lazy_type(kind))
    object.__setattr__(made, "source", source)
    return made


def _lazy_type(kind: type[R]) -> type[R]:
    """Return a record type whose columns are properties that read from the source."""

    def pick(self: Any, rows: Ints | Bools) -> R:
        return _made(kind, self.source.picked(rows))

    def changed(self: Any, name: str, change: Callable[[Any], Any]) -> R:
        return _made(kind, self.source.changed(name, change))

    lazy = {field.name: _property(field.name) for field in fields(kind)}
    own = {"__slots__": ("source",), "pick": pick, "changed": changed, **lazy}
    return cast(type[R], type(kind.__name__, (kind,), own))


def _property(name: str) -> property:
    def read_column(self: Any) -> Column:
        return cast(Column, self.source.column(name))

    return property(read_column)


def _bytes(column: Column) -> int:
    return column.numbers.nbytes if isinstance(column, Text) else column.nbytes
