"""Columns of large tables: read when a kernel asks for them, dropped when others need the room.

1. Kernels ask for few columns at a time, and a run of many millions of messages has more of them
   than a machine may have memory: what is asked for again is read again.
2. What was picked of a table is picked of each of its columns, when that is read.
3. Hands may ask at the same time; whoever asks for what another one reads waits for him.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields
from threading import Lock
from typing import Any, cast

from spark_analysis.engine.kernel.arrays import Bools, Ints
from spark_analysis.engine.kernel.records import R, Text

ROOM_BYTES = 384 << 20  # all columns of a run of two million messages

Column = Ints | Text
Read = Callable[[str], Column]  # by the column's name


class Room:
    """Columns that were asked for lately: so many bytes of them, and never fewer than one."""

    def __init__(self, room_bytes: int = ROOM_BYTES) -> None:
        self._room_bytes = room_bytes
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
                self._make_room()
            return column

    def _make_room(self) -> None:
        while len(self._held) > 1 and sum(map(_bytes, self._held.values())) > self._room_bytes:
            self._held.popitem(last=False)


def records(kind: type[R], read: Read, room: Room) -> R:
    """The records of a table, whose columns are read by their names."""
    return _made(kind, _Source(read, room))


class _Source:
    """Where the columns of some records come from."""

    def __init__(self, read: Read, room: Room) -> None:
        self._read = read
        self._room = room

    def column(self, name: str) -> Column:
        return self._room.get((self, name), lambda: self._read(name))

    def picked(self, rows: Ints | Bools) -> "_Source":
        # Only what is left of a column is held.
        return _Source(lambda name: self._read(name)[rows], self._room)


def _made(kind: type[R], source: _Source) -> R:
    made = object.__new__(_asking(kind))
    object.__setattr__(made, "source", source)
    return made


def _asking(kind: type[R]) -> type[R]:
    """Records of that kind that have no columns, and ask their source for them."""

    def pick(self: Any, rows: Ints | Bools) -> R:
        return _made(kind, self.source.picked(rows))

    asked = {field.name: _property(field.name) for field in fields(kind)}
    own = {"__slots__": ("source",), "pick": pick, **asked}
    return cast(type[R], type(kind.__name__, (kind,), own))


def _property(name: str) -> property:
    def asked(self: Any) -> Column:
        return cast(Column, self.source.column(name))

    return property(asked)


def _bytes(column: Column) -> int:
    return column.numbers.nbytes if isinstance(column, Text) else column.nbytes
