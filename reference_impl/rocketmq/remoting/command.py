"""A command, which is a request or an answer, as one frame of octets.

1. A frame: int32 length of all that follows, int32 mark (top byte the form of the header, the rest
   its length), header, body. All integers are big-endian.
2. An answer goes in the form of its request, with its number, and always says which fields it
   has: Java's client looks for them without asking whether there are any.
3. This is a server of its own, and not the reader that watches servers (harness.workers.remoting):
   a shared mistake in one place would go unnoticed.
"""

import struct
from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

import msgspec

from reference_impl.rocketmq.remoting import header_bits, header_json
from reference_impl.rocketmq.remoting.header import JAVA, ONEWAY, RESPONSE, VERSION, Header

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
    write = header_json.write if command.form is Form.JSON else header_bits.write
    header = write(command.header)
    length = MARK_BYTES + len(header) + len(command.body)
    mark = command.form << 24 | len(header)
    return b"".join((_LENGTHS.pack(length, mark), header, command.body))
