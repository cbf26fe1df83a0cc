"""A header in the binary form, which clients with `rocketmq.serialize.type=ROCKETMQ` write.

int16 code, int8 language, int16 version, int32 opaque, int32 flag, int32 length + remark, int32
length + fields, each: int16 length + name, int32 length + value. All text is UTF-8.
"""

import struct
from collections.abc import Iterator

from reference_impl.rocketmq.remoting.header import LANGUAGES, OTHER, Header, HeaderError

_FIXED = struct.Struct(">hbhii")
_LENGTH = struct.Struct(">i")
_SHORT = struct.Struct(">h")


def read(octets: bytes) -> Header:
    """Raises HeaderError."""
    try:
        code, language, version, opaque, flag = _FIXED.unpack_from(octets)
        remark, at = _sized(_LENGTH, octets, _FIXED.size)
        fields, at = _sized(_LENGTH, octets, at)
        if at != len(octets):
            raise HeaderError(f"{len(octets) - at} octets follow the header's fields")
        known = language if 0 <= language < len(LANGUAGES) else OTHER
        return Header(code, opaque, flag, remark.decode(), dict(_fields(fields)), known, version)
    except (struct.error, UnicodeDecodeError) as error:
        raise HeaderError(f"no binary header: {error}") from error


def write(header: Header) -> bytes:
    fields = b"".join(
        _with_size(_SHORT, name) + _with_size(_LENGTH, value)
        for name, value in header.fields.items()
    )
    fixed = _FIXED.pack(header.code, header.language, header.version, header.opaque, header.flag)
    return b"".join((fixed, _with_size(_LENGTH, header.remark), _LENGTH.pack(len(fields)), fields))


def _with_size(length: struct.Struct, text: str) -> bytes:
    octets = text.encode()
    return length.pack(len(octets)) + octets


def _fields(octets: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(octets):
        name, at = _sized(_SHORT, octets, at)
        value, at = _sized(_LENGTH, octets, at)
        yield name.decode(), value.decode()


def _sized(length: struct.Struct, octets: bytes, at: int) -> tuple[bytes, int]:
    """The octets that a length announces, and where they end."""
    (size,) = length.unpack_from(octets, at)
    start = at + length.size
    if not 0 <= size <= len(octets) - start:
        raise HeaderError(f"{size} octets are announced where {len(octets) - start} are left")
    return octets[start : start + size], start + size
