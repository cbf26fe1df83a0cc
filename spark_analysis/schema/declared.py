"""JSON documents, and their validation against a dataclass: its fields, their types, and nothing
else.

1. Every problem is reported with its place. Reading goes on as long as the rest has a meaning.
2. A field may be omitted if it has a default, or a neutral value: one that proves nothing.
3. Numbers have bounds: times those of TIME_MAX_NS, other integers 32 bits, those named in `wide`
   64, fractions FLOAT_MAX.
4. JSON that is no JSON, or is nested too deeply to be read, is a ValueError.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Protocol, cast, get_args, get_origin, get_type_hints

TIME_MAX_NS = 10**18  # 31 years
INT32_MAX = 2**31 - 1
FLOAT_MAX = 1e15
_WIDE_MAX = 2**64 - 1
_BRIEF_MAX = 60
WRONG: Any = object()  # what stands for a value that cannot be known


def parsed(content: str | bytes) -> Any:
    """Return the document in a text. Raise ValueError."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


class Listener(Protocol):
    """A receiver of problems."""

    def add(self, place: str, text: str) -> None: ...

    def unknown(self, place: str, kind: str, word: object, choices: Sequence[str]) -> None:
        """`word` names no `kind`."""


@dataclass(slots=True)
class Listing:
    """A listener that keeps the first few problems, and counts all."""

    most: int
    kept: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, place: str, text: str) -> None:
        self.count += 1
        if len(self.kept) < self.most:
            self.kept.append(f"{place}: {text}")

    def unknown(self, place: str, kind: str, word: object, choices: Sequence[str]) -> None:
        self.add(place, f"{brief(word)} is no {kind}; valid: {' | '.join(choices)}")

    def __str__(self) -> str:
        more = self.count - len(self.kept)
        return "; ".join(self.kept) + (f"; and {more:,} more" if more else "")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads values by their declarations; `WRONG` where that could not be done."""

    listener: Listener
    defaults: Mapping[type, Mapping[str, Any]] = field(default_factory=dict)
    wide: Collection[str] = ()

    def read(self, hint: Any, given: object, place: str) -> Any:
        if hint is Any:
            return given
        if isinstance(hint, UnionType) and given is None and NoneType in get_args(hint):
            return None
        choices = [one for one in get_args(hint) if one is not NoneType] or [hint]
        kind = choices[0] if isinstance(hint, UnionType) else hint
        if is_dataclass(kind):
            return self.record(cast(type, kind), given, place)
        if get_origin(kind) in (tuple, list):
            return self._listing(kind, given, place)
        if get_origin(kind) in (dict, Mapping):
            return self._mapping(kind, given, place)
        return self._plain(hint, given, place)

    def record(self, kind: type, given: object, place: str, *, more: bool = False) -> Any:
        """`more`: there may be keys that it does not declare."""
        if not isinstance(given, Mapping):
            return self._wrong(place, f"{brief(given)} is not an object")
        names = [one.name for one in fields(kind)]
        for key in given:
            if key not in names and not more:
                self.listener.unknown(place or brief(key), "key", key, names)
        values = self._fields(kind, given, place)
        return WRONG if any(one is WRONG for one in values.values()) else kind(**values)

    def _fields(self, kind: type, given: Mapping[str, object], place: str) -> dict[str, Any]:
        hints, defaults = get_type_hints(kind), self.defaults.get(kind, {})
        values: dict[str, Any] = {}
        for one in fields(kind):
            own = f"{place}.{one.name}" if place else one.name
            if one.name in given:
                values[one.name] = self.read(hints[one.name], given[one.name], own)
            elif one.name in defaults:
                values[one.name] = defaults[one.name]
            elif one.default is MISSING and one.default_factory is MISSING:
                values[one.name] = self._wrong(place or own, f"{one.name} is missing")
        return values

    def _listing(self, kind: Any, given: object, place: str) -> Any:
        if not isinstance(given, list | tuple):
            return self._wrong(place, f"{brief(given)} is not a list")
        hint, make = get_args(kind)[0], get_origin(kind)
        items = [self.read(hint, item, f"{place}[{number}]") for number, item in enumerate(given)]
        return WRONG if any(item is WRONG for item in items) else make(items)

    def _mapping(self, kind: Any, given: object, place: str) -> Any:
        if not isinstance(given, Mapping):
            return self._wrong(place, f"{brief(given)} is not an object")
        hint = get_args(kind)[1]
        read = {key: self.read(hint, item, f"{place}.{key}") for key, item in given.items()}
        return WRONG if any(item is WRONG for item in read.values()) else read

    def _plain(self, hint: Any, given: object, place: str) -> Any:
        choices = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        if type(given) not in choices:
            words = ("null" if one is NoneType else one.__name__ for one in choices)
            return self._wrong(place, f"{brief(given)} is not {' or '.join(words)}")
        if type(given) is float and not abs(given) <= FLOAT_MAX:  # which NaN is not either
            return self._wrong(place, f"{brief(given)} is out of range")
        if type(given) is int and abs(given) > self._most(place):
            return self._wrong(place, f"{brief(given)} is out of range")
        return given

    def _most(self, place: str) -> int:
        name = place.rpartition(".")[2].partition("[")[0]
        if name in self.wide:
            return _WIDE_MAX
        return TIME_MAX_NS if "_ns" in place else INT32_MAX

    def _wrong(self, place: str, text: str) -> Any:
        self.listener.add(place, text)
        return WRONG


def brief(value: object) -> str:
    """A value as it may stand in a sentence, however long it is."""
    try:
        text = repr(value)
    except ValueError:  # more digits than Python writes
        return "a number of too many digits"
    return text if len(text) <= _BRIEF_MAX else f"{text[: _BRIEF_MAX - 3]}..."
