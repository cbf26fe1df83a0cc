"""Octets of AMQP's elementary types and field tables, both ways.

1. What a client may send and cannot be read raises FrameError; nothing else leaves this module.
2. Names and short strings are UTF-8; a long string in a table that is not stays octets.
3. Tables are read in every type of docs/behaviour/rabbitmq.md 2.1, and written in as few as are
   needed.
"""

import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Annotated, Any

Octet = Annotated[int, "octet"]
Short = Annotated[int, "short"]
Long = Annotated[int, "long"]
LongLong = Annotated[int, "longlong"]
ShortStr = Annotated[str, "shortstr"]
LongStr = Annotated[bytes, "longstr"]
Bit = Annotated[bool, "bit"]
Table = Annotated[dict[str, Any], "table"]

SHORT_STRING_MAX = 255
_NESTING_MAX = 64  # of tables and lists: a client must not exhaust our stack
_NUMBERS = {
    "octet": struct.Struct(">B"),
    "short": struct.Struct(">H"),
    "long": struct.Struct(">I"),
    "longlong": struct.Struct(">Q"),
}
_FIELD_NUMBERS = {
    ord(kind): struct.Struct(layout)
    for kind, layout in {
        "b": ">b",
        "B": ">B",
        "s": ">h",
        "u": ">H",
        "I": ">i",
        "i": ">I",
        "l": ">q",
        "L": ">q",
        "f": ">f",
        "d": ">d",
        "T": ">Q",
    }.items()
}
_LENGTH = struct.Struct(">I")
_DECIMAL = struct.Struct(">Bi")
_INT_MIN, _INT_MAX = -(1 << 31), (1 << 31) - 1


class FrameError(ValueError):
    """Octets that do not say what their type demands."""


def read_fields(types: Sequence[str], octets: bytes, at: int) -> list[Any]:
    """Values of these types from `at` on; bits that follow each other share an octet."""
    values: list[Any] = []
    bits = 0
    try:
        for place, kind in enumerate(types):
            if kind == "bit":
                bits = bits + 1 if place and types[place - 1] == "bit" else 0
                at += bits % 8 == 0
                values.append(bool(octets[at - 1] >> bits % 8 & 1))
            else:
                value, at = _READ[kind](octets, at)
                values.append(value)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise FrameError(f"fields cannot be read: {error}") from error
    return values


def write_fields(types: Sequence[str], values: Sequence[Any]) -> bytes:
    out = bytearray()
    bits = 0
    for place, (kind, value) in enumerate(zip(types, values, strict=True)):
        if kind == "bit":
            bits = bits + 1 if place and types[place - 1] == "bit" else 0
            if bits % 8 == 0:
                out.append(0)
            out[-1] |= bool(value) << bits % 8
        else:
            out += _WRITE[kind](value)
    return bytes(out)


def short_string(text: str) -> bytes:
    octets = text.encode()
    assert len(octets) <= SHORT_STRING_MAX, text
    return bytes([len(octets)]) + octets


def long_string(octets: bytes) -> bytes:
    return _LENGTH.pack(len(octets)) + octets


def table(fields: dict[str, Any]) -> bytes:
    return long_string(b"".join(short_string(key) + _field(it) for key, it in fields.items()))


def read_short_string(octets: bytes, at: int) -> tuple[str, int]:
    end = at + 1 + octets[at]
    _check_room(octets, end)
    return octets[at + 1 : end].decode(), end


def read_long_string(octets: bytes, at: int) -> tuple[bytes, int]:
    (length,) = _LENGTH.unpack_from(octets, at)
    end = at + 4 + length
    _check_room(octets, end)
    return octets[at + 4 : end], end


def read_table(octets: bytes, at: int) -> tuple[dict[str, Any], int]:
    return _read_table(octets, at, 0)


def _read_table(octets: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    end = _end_of_collection(octets, at, depth)
    at += 4
    fields = {}
    while at < end:
        key, at = read_short_string(octets, at)
        fields[key], at = _read_field(octets, at, depth)
    _check_end(at, end)
    return fields, end


def _read_list(octets: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    end = _end_of_collection(octets, at, depth)
    at += 4
    items = []
    while at < end:
        item, at = _read_field(octets, at, depth)
        items.append(item)
    _check_end(at, end)
    return items, end


def _read_field(octets: bytes, at: int, depth: int) -> tuple[Any, int]:
    kind, at = octets[at], at + 1
    if kind in _FIELD_NUMBERS:
        return _read_number(_FIELD_NUMBERS[kind], octets, at)
    match chr(kind):
        case "S":
            value, at = read_long_string(octets, at)
            return _text(value), at
        case "x":
            return read_long_string(octets, at)
        case "t":
            return bool(octets[at]), at + 1
        case "V":
            return None, at
        case "F":
            return _read_table(octets, at, depth + 1)
        case "A":
            return _read_list(octets, at, depth + 1)
        case "D":
            scale, unscaled = _DECIMAL.unpack_from(octets, at)
            return Decimal(unscaled).scaleb(-scale), at + _DECIMAL.size
    raise FrameError(f"no field has type {kind}")


def _read_number(number: struct.Struct, octets: bytes, at: int) -> tuple[Any, int]:
    return number.unpack_from(octets, at)[0], at + number.size


def _field(value: Any) -> bytes:
    match value:
        case bool():
            return b"t" + bytes([value])
        case int() if _INT_MIN <= value <= _INT_MAX:
            return b"I" + struct.pack(">i", value)
        case int():
            return b"l" + struct.pack(">q", value)
        case float():
            return b"d" + struct.pack(">d", value)
        case str():
            return b"S" + long_string(value.encode())
        case bytes():
            return b"x" + long_string(value)
        case dict():
            return b"F" + table(value)
        case list() | tuple():
            return b"A" + long_string(b"".join(_field(item) for item in value))
        case None:
            return b"V"
    raise AssertionError(f"we never send a {type(value)}")


def _text(octets: bytes) -> str | bytes:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets


def _end_of_collection(octets: bytes, at: int, depth: int) -> int:
    if depth > _NESTING_MAX:
        raise FrameError("tables are nested too deeply")
    end: int = at + 4 + _LENGTH.unpack_from(octets, at)[0]
    _check_room(octets, end)
    return end


def _check_room(octets: bytes, end: int) -> None:
    if end > len(octets):
        raise FrameError("a string or table reaches beyond its frame")


def _check_end(at: int, end: int) -> None:
    if at != end:
        raise FrameError("a field reaches beyond its table")


def _number_reader(number: struct.Struct) -> Callable[[bytes, int], tuple[Any, int]]:
    return lambda octets, at: _read_number(number, octets, at)


_READ: dict[str, Callable[[bytes, int], tuple[Any, int]]] = {
    "shortstr": read_short_string,
    "longstr": read_long_string,
    "table": read_table,
    **{kind: _number_reader(number) for kind, number in _NUMBERS.items()},
}
_WRITE: dict[str, Callable[[Any], bytes]] = {
    "shortstr": short_string,
    "longstr": long_string,
    "table": table,
    **{kind: number.pack for kind, number in _NUMBERS.items()},
}
