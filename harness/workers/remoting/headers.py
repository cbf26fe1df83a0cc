"""The header of a command in the two serialisations of the protocol (docs/behaviour/rocketmq.md
2).

1. Read liberally: a field that is a number or a boolean is the text that Java would have sent, a
   null is a field that is not there.
2. Written strictly: JSON only, each field a string.
3. ROCKETMQ, the binary form, is read and written. Asked in it, 4.9.7 answers in it, too, while
   5.3.3 answers in JSON (captured).
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from harness.workers.remoting import json_text
from harness.workers.remoting.errors import WireError

VERSION = 409  # V4_9_8: from 401 on name servers write routes as strict JSON
LANGUAGES = (
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
    "RUST",
)  # the index is the number of the binary form
PYTHON = LANGUAGES.index("PYTHON")
_OTHER = LANGUAGES.index("OTHER")
RESPONSE, ONEWAY = 1, 2  # bits of `flag`

_FIXED = struct.Struct(">hbhii")
_LENGTH = struct.Struct(">i")
_KEY_LENGTH = struct.Struct(">h")
_NO_FIELDS: Mapping[str, str] = MappingProxyType({})


class Serialisation(IntEnum):
    """The top byte of a frame's mark."""

    JSON = 0
    ROCKETMQ = 1


@dataclass(frozen=True, slots=True)
class Header:
    """`code`: of the request, or of the answer. `opaque`: the asker's number of the request."""

    code: int
    opaque: int
    flag: int = 0
    remark: str = ""
    fields: Mapping[str, str] = field(default_factory=lambda: _NO_FIELDS)
    language: int = PYTHON
    version: int = VERSION


def write(header: Header, form: Serialisation) -> bytes:
    return _write_json(header) if form is Serialisation.JSON else _write_binary(header)


def read(octets: bytes, form: Serialisation) -> Header:
    """Raises WireError."""
    return _read_json(octets) if form is Serialisation.JSON else _read_binary(octets)


def _write_json(header: Header) -> bytes:
    document: dict[str, Any] = {
        "code": header.code,
        "language": LANGUAGES[header.language],
        "version": header.version,
        "opaque": header.opaque,
        "flag": header.flag,
        "extFields": dict(header.fields),
        "serializeTypeCurrentRPC": "JSON",
    }
    if header.remark:
        document["remark"] = header.remark
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _read_json(octets: bytes) -> Header:
    document = json_text.read_object(octets)
    fields = document.get("extFields") or {}
    if not isinstance(fields, dict):
        raise WireError(f"extFields is no object: {fields!r}")
    language = document.get("language")
    return Header(
        code=_integer(document, "code"),
        opaque=_integer(document, "opaque"),
        flag=_integer(document, "flag"),
        remark=_text(document.get("remark") or ""),
        fields={key: _text(value) for key, value in fields.items() if value is not None},
        language=LANGUAGES.index(language) if language in LANGUAGES else _OTHER,
        version=_integer(document, "version"),
    )


def _integer(document: Mapping[str, Any], name: str) -> int:
    value = document.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError(f"the header's {name} is {value!r}, no integer")
    return value


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case bool() | int() | float():
            return json.dumps(value)
    raise WireError(f"a field holds {value!r}, neither text nor number")


def _write_binary(header: Header) -> bytes:
    remark = header.remark.encode()
    fields = b"".join(
        _sized(_KEY_LENGTH, key.encode()) + _sized(_LENGTH, value.encode())
        for key, value in header.fields.items()
    )
    fixed = _FIXED.pack(header.code, header.language, header.version, header.opaque, header.flag)
    return fixed + _sized(_LENGTH, remark) + _sized(_LENGTH, fields)


def _sized(length: struct.Struct, octets: bytes) -> bytes:
    return length.pack(len(octets)) + octets


def _read_binary(octets: bytes) -> Header:
    try:
        code, language, version, opaque, flag = _FIXED.unpack_from(octets)
        remark, at = _slice(_LENGTH, octets, _FIXED.size)
        fields, at = _slice(_LENGTH, octets, at)
        if at != len(octets):
            raise WireError(f"{len(octets) - at} octets follow the header's fields")
        return Header(
            code,
            opaque,
            flag,
            remark.decode(),
            dict(_read_fields(fields)),
            language if 0 <= language < len(LANGUAGES) else _OTHER,
            version,
        )
    except (struct.error, UnicodeDecodeError) as error:
        raise WireError(f"no binary header: {error}") from error


def _read_fields(octets: bytes) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(octets):
        key, at = _slice(_KEY_LENGTH, octets, at)
        value, at = _slice(_LENGTH, octets, at)
        found.append((key.decode(), value.decode()))
    return found


def _slice(length: struct.Struct, octets: bytes, at: int) -> tuple[bytes, int]:
    """The octets that a length announces, and where they end."""
    (size,) = length.unpack_from(octets, at)
    start = at + length.size
    if not 0 <= size <= len(octets) - start:
        raise WireError(f"{size} octets are announced where {len(octets) - start} are left")
    return octets[start : start + size], start + size
