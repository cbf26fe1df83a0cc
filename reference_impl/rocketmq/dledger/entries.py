"""One entry of a ledger as it stands on the disk.

1. 48 octets (magic, length, index, term, position, channel, two checksums, length of the body) go
   before the body. The body of a message is the message's record, and that record's own position
   is the place after the head.
2. The real one leaves the checksum of the body at 0. This one sets it, to find where a log ends
   that lost its power.
3. A leader's first entry has no body (magic 2). DLedger has it since 0.4; RocketMQ 4.9's has none,
   and commits what earlier leaders left by counting copies.
4. The end of a file where an entry does not fit is a blank.
"""

import struct
import zlib

import msgspec

MESSAGE, EMPTY = 1, 2  # magics
HEAD_OCTETS = 48
BLANK_OCTETS = 8
_BLANK_MAGIC = -1
_HEAD = struct.Struct(">iiqqqiIIi")
_BLANK = struct.Struct(">ii")


class LedgerEntry(msgspec.Struct, frozen=True):
    """`octets`: all of it, its head too."""

    magic: int
    index: int
    term: int
    position: int
    octets: bytes

    @property
    def end(self) -> int:
        return self.position + len(self.octets)

    @property
    def body(self) -> bytes:
        return self.octets[HEAD_OCTETS:]


class LedgerBlank(msgspec.Struct, frozen=True):
    octets: int


def made(magic: int, index: int, term: int, position: int, body: bytes) -> LedgerEntry:
    length = HEAD_OCTETS + len(body)
    checksum = zlib.crc32(body)
    head = _HEAD.pack(magic, length, index, term, position, 0, 0, checksum, len(body))
    return LedgerEntry(magic, index, term, position, head + body)


def size_at(octets: bytes) -> int:
    """Return the length that an entry or a blank that begins there says; 0 if there is none."""
    if len(octets) < BLANK_OCTETS:
        return 0
    magic, size = _BLANK.unpack_from(octets)
    if magic == _BLANK_MAGIC and size >= BLANK_OCTETS:
        return int(size)
    return int(size) if magic in (MESSAGE, EMPTY) and size >= HEAD_OCTETS else 0


def is_blank(octets: bytes) -> bool:
    return len(octets) >= BLANK_OCTETS and _BLANK.unpack_from(octets)[0] == _BLANK_MAGIC


def read(octets: bytes) -> LedgerEntry | LedgerBlank | None:
    """Return what these octets are, all of them; None: neither."""
    size = size_at(octets)
    if size == 0:
        return None
    if is_blank(octets):
        return LedgerBlank(size)
    if size != len(octets):
        return None
    magic, _, index, term, position, _, _, checksum, body = _HEAD.unpack_from(octets)
    if body != size - HEAD_OCTETS or zlib.crc32(octets[HEAD_OCTETS:]) != checksum:
        return None
    return LedgerEntry(magic, index, term, position, octets)


def blank(octets: int) -> bytes:
    return _BLANK.pack(_BLANK_MAGIC, octets)
