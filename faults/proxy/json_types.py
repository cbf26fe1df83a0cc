"""JSON values read into the records that the real server reads them into, with Go's errors.

1. Names match whatever their case; the last of several wins; unknown ones are ignored; null
   changes nothing.
2. The first value of a wrong type, in the order of the text, is the error. Unlike the real
   server, which keeps what it read before and after that, nothing is kept then.
3. The words `Proxy.name` and `int64` are the real server's own: they stand in its errors.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from faults.proxy.json_text import JsonError, Number, Object, Value

Scalar = str | bool | int | float
INT64 = range(-(2**63), 2**63)
FLOAT32_MAX = struct.unpack("f", b"\xff\xff\x7f\x7f")[0]


@dataclass(frozen=True, slots=True)
class Record:
    """A Go struct: its bare name in error texts, its type, its fields (a type or a record)."""

    name: str
    type: str
    fields: "Mapping[str, str | Record]"


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields that were given; those of a record in it by `outer.inner`."""

    given: Mapping[str, Scalar]

    def text(self, name: str, absent: str = "") -> str:
        given = self.given.get(name, absent)
        assert isinstance(given, str), name
        return given

    def flag(self, name: str, absent: bool) -> bool:
        given = self.given.get(name, absent)
        assert isinstance(given, bool), name
        return given

    def integer(self, name: str, absent: int) -> int:
        given = self.given.get(name, absent)
        assert isinstance(given, int), name
        return given

    def fraction(self, name: str, absent: float) -> float:
        given = self.given.get(name, absent)
        assert isinstance(given, float), name
        return given


def read_record(value: Value, record: Record) -> Fields:
    reader = _Reading()
    reader.record(value, record, "", ())
    return reader.finished()


def read_records(value: Value, record: Record) -> list[Fields]:
    """An array of them."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise JsonError(_mismatch(_word(value), "", (), f"[]{record.type}"))
    reading = [_Reading() for _ in value]
    for one, reader in zip(value, reading, strict=True):
        reader.record(one, record, "", ())
    return [reader.finished() for reader in reading]


class _Reading:
    def __init__(self) -> None:
        self._read: dict[str, Scalar] = {}
        self._wrong: str | None = None

    def finished(self) -> Fields:
        if self._wrong is not None:
            raise JsonError(self._wrong)
        return Fields(self._read)

    def record(self, value: Value, record: Record, inside: str, path: tuple[str, ...]) -> None:
        if value is None:
            return
        if not isinstance(value, Object):
            self._mismatched(_word(value), inside, path, record.type)
            return
        names = {name.lower(): name for name in record.fields}
        for written, field_value in value.fields:
            name = names.get(written.lower())
            if name is None:
                continue
            kind = record.fields[name]
            if isinstance(kind, Record):
                self.record(field_value, kind, record.name, (*path, name))
            else:
                self._scalar(field_value, kind, record.name, (*path, name))

    def _scalar(self, value: Value, kind: str, inside: str, path: tuple[str, ...]) -> None:
        if value is None:
            return
        read = _READERS[kind](value)
        if read is None:
            number = isinstance(value, Number) and kind in ("int64", "int", "float32")
            word = f"number {value.text}" if number and isinstance(value, Number) else _word(value)
            self._mismatched(word, inside, path, kind)
        else:
            self._read[".".join(path)] = read

    def _mismatched(self, word: str, inside: str, path: tuple[str, ...], kind: str) -> None:
        self._wrong = self._wrong or _mismatch(word, inside, path, kind)


def _mismatch(word: str, inside: str, path: tuple[str, ...], kind: str) -> str:
    place = f"Go struct field {inside}.{'.'.join(path)}" if path else "Go value"
    return f"json: cannot unmarshal {word} into {place} of type {kind}"


def _word(value: Value) -> str:
    match value:
        case str():
            return "string"
        case bool():
            return "bool"
        case Number():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def _string(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _bool(value: Value) -> bool | None:
    return value if isinstance(value, bool) else None


def _int(value: Value) -> int | None:
    if not isinstance(value, Number) or not value.text.lstrip("-").isdigit():
        return None
    return int(value.text) if int(value.text) in INT64 else None


def _float(value: Value) -> float | None:
    if not isinstance(value, Number) or abs(float(value.text)) > FLOAT32_MAX:
        return None
    (narrow,) = struct.unpack("f", struct.pack("f", float(value.text)))
    return float(narrow)


_READERS: Mapping[str, Callable[[Value], Scalar | None]] = {
    "string": _string,
    "bool": _bool,
    "int64": _int,
    "int": _int,
    "float32": _float,
}
