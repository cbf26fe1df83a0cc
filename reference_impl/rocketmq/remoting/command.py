"""A command, which is a request or an answer, as one frame of octets.

1. A frame: int32 length of all that follows, int32 mark (top byte the form of the header, the rest
   its length), header, body. All integers are big-endian.
2. An answer goes in the form of its request, with its number, and always says which fields it
   has: Java's client looks for them without asking whether there are any.
3. This is a server of its own, and not the reader that watches servers (harness.workers.remoting):
   a shared mistake in one place would go unnoticed.
"""

import struct
from collections.abc import Iterator, Mapping
from enum import IntEnum
from types import MappingProxyType

import msgspec

from reference_impl.rocketmq.remoting import header_json
from reference_impl.rocketmq.remoting.header import (
    JAVA,
    LANGUAGES,
    ONEWAY,
    OTHER,
    RESPONSE,
    VERSION,
    Header,
    HeaderError,
)

# --- Header bits ---------------------------------------------------------------------------------
# A header in the binary form, which clients with `rocketmq.serialize.type=ROCKETMQ` write.
#
# int16 code, int8 language, int16 version, int32 opaque, int32 flag, int32 length + remark, int32
# length + fields, each: int16 length + name, int32 length + value. All text is UTF-8.


_FIXED = struct.Struct(">hbhii")
_LENGTH = struct.Struct(">i")
_SHORT = struct.Struct(">h")


def read_bits(octets: bytes) -> Header:
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


def write_bits(header: Header) -> bytes:
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


# --- Commands ------------------------------------------------------------------------------------


FRAME_MAX = 16 * 1024 * 1024  # com.rocketmq.remoting.frameMaxLength
MARK_BYTES = 4
_LENGTHS = struct.Struct(">iI")
_NONE: Mapping[str, str] = MappingProxyType({})


class Form(IntEnum):
    """Of a header: the top byte of the mark."""

    JSON = 0
    BITS = 1


class Command(msgspec.Struct, frozen=True):
    header: Header
    body: bytes = b""
    form: Form = Form.JSON

    @property
    def is_answer(self) -> bool:
        return bool(self.header.flag & RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """Return whether no answer is awaited, and none is given."""
        return bool(self.header.flag & ONEWAY)


def request(
    code: int,
    opaque: int,
    fields: Mapping[str, str] = _NONE,
    body: bytes = b"",
    oneway: bool = False,
) -> Command:
    flag = ONEWAY if oneway else 0
    return Command(Header(code, opaque, flag, "", fields, JAVA, VERSION), body)


def answer(
    to: Command,
    code: int,
    remark: str = "",
    fields: Mapping[str, str] = _NONE,
    body: bytes = b"",
) -> Command:
    header = Header(code, to.header.opaque, RESPONSE, remark, fields, JAVA, VERSION)
    return Command(header, body, to.form)


def encode(command: Command) -> bytes:
    """The whole frame."""
    write = header_json.write if command.form is Form.JSON else write_bits
    header = write(command.header)
    length = MARK_BYTES + len(header) + len(command.body)
    mark = command.form << 24 | len(header)
    return b"".join((_LENGTHS.pack(length, mark), header, command.body))
