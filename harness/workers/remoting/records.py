"""Stored messages: records of a broker's log, as pulls return them, octet for octet.

1. Records stand back to back; one that is cut short or does not add up makes the rest unreadable.
2. The checksum is the broker's own, of the body as stored: it is reported, not judged.
3. A body that a client compressed is given whole by `content`, where the standard library can.
"""

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntFlag
from ipaddress import ip_address

from harness.workers.remoting.errors import WireError

MAGIC = 0xDAA320A7
MAGIC_BLANK = 0xCBD43194  # the rest of a file of the log, where no record fits any more
MAGIC_LONG_TOPIC = 0xDAA320AB  # RocketMQ 5, topics over 127 octets: the topic's length has two
_CHECKSUM_MASK = 0x7FFFFFFF
_PAIR, _NAME = "\x02", "\x01"

_HEAD = struct.Struct(">iIIiiqqiq")  # up to the born host
_SIZE_AND_MAGIC = struct.Struct(">iI")
_PORT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_TAIL = struct.Struct(">iq")  # reconsume times, prepared transaction's offset
_LENGTH = struct.Struct(">i")
_SHORT = struct.Struct(">h")
_OCTET = struct.Struct(">b")


class Flags(IntFlag):
    """Bits of sysFlag that say how a record is to be read. 12 of them are the transaction's."""

    COMPRESSED = 1
    PREPARED = 4
    COMMITTED = 8
    ROLLED_BACK = 12
    BORN_HOST_V6 = 16
    STORE_HOST_V6 = 32
    INNER_BATCH = 128


TRANSACTION_BITS = Flags.ROLLED_BACK
_COMPRESSION_SHIFT, _COMPRESSION_MASK = 8, 7
_ZLIB = (0, 3)


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One record. Times are the brokers' wall clocks in ms; hosts are "address:port".

    `position`: its place in the log (physical offset), `offset`: its place in the queue.
    """

    topic: str
    queue: int
    offset: int
    position: int
    flag: int
    flags: int  # Flags, and the compression's type
    born_ms: int
    born_host: str
    stored_ms: int
    store_host: str
    reconsumed: int
    prepared_position: int
    properties: Mapping[str, str]
    body: bytes
    body_ok: bool  # its checksum is right
    record_bytes: int


def read_all(octets: bytes) -> tuple[StoredMessage, ...]:
    """Every record of a pull's body. Raises WireError."""
    found, at = [], 0
    while at < len(octets):
        message = read(octets, at)
        found.append(message)
        at += message.record_bytes
    return tuple(found)


def read(octets: bytes, at: int = 0) -> StoredMessage:
    """The record that begins there. Raises WireError."""
    try:
        return _read(octets, at)
    except WireError:
        raise
    except (struct.error, ValueError) as error:
        raise WireError(f"no stored message at octet {at}: {error}") from error


def blank(octets: bytes) -> int:
    """How many octets of the log a blank takes; 0 where it is none."""
    if len(octets) < _SIZE_AND_MAGIC.size:
        return 0
    size, magic = _SIZE_AND_MAGIC.unpack_from(octets)
    return size if magic == MAGIC_BLANK and size > 0 else 0


def content(message: StoredMessage) -> bytes:
    """The body as it was sent. Raises WireError where it cannot be unpacked here."""
    if not message.flags & Flags.COMPRESSED:
        return message.body
    kind = message.flags >> _COMPRESSION_SHIFT & _COMPRESSION_MASK
    if kind not in _ZLIB:
        raise WireError(f"a body compressed by type {kind}; only zlib's can be read here")
    try:
        return zlib.decompress(message.body)
    except zlib.error as error:
        raise WireError(f"a body that is no zlib data: {error}") from error


def checksum(body: bytes) -> int:
    """Of a body as it is stored."""
    return zlib.crc32(body) & _CHECKSUM_MASK


def read_properties(text: str) -> dict[str, str]:
    """Names and values. What has no name or no value is none, for Java's own reader too."""
    pairs = (pair.partition(_NAME) for pair in text.split(_PAIR))
    return {name: value for name, _, value in pairs if name and value}


def _read(octets: bytes, at: int) -> StoredMessage:
    total, magic, crc, queue, flag, offset, position, flags, born_ms = _HEAD.unpack_from(
        octets, at
    )
    if magic not in (MAGIC, MAGIC_LONG_TOPIC):
        raise WireError(f"no stored message at octet {at}: magic {magic:#x}")
    if not 0 < total <= len(octets) - at:
        raise WireError(f"a record of {total} octets at {at}, of {len(octets) - at} that are left")
    end = at + total
    place = at + _HEAD.size
    born_host, place = _host(octets, place, bool(flags & Flags.BORN_HOST_V6))
    (stored_ms,) = _LONG.unpack_from(octets, place)
    store_host, place = _host(octets, place + _LONG.size, bool(flags & Flags.STORE_HOST_V6))
    reconsumed, prepared = _TAIL.unpack_from(octets, place)
    body, place = _sized(_LENGTH, octets, place + _TAIL.size, end)
    topic, place = _sized(_OCTET if magic == MAGIC else _SHORT, octets, place, end)
    properties, place = _sized(_SHORT, octets, place, end)
    if place != end:
        raise WireError(f"the record at octet {at} ends {end - place} octets after its fields")
    return StoredMessage(
        topic=topic.decode(),
        queue=queue,
        offset=offset,
        position=position,
        flag=flag,
        flags=flags,
        born_ms=born_ms,
        born_host=born_host,
        stored_ms=stored_ms,
        store_host=store_host,
        reconsumed=reconsumed,
        prepared_position=prepared,
        properties=read_properties(properties.decode()),
        body=body,
        body_ok=crc == checksum(body),
        record_bytes=total,
    )


def _host(octets: bytes, at: int, six: bool) -> tuple[str, int]:
    """A host as text, and where it ends."""
    size = 16 if six else 4
    address = octets[at : at + size]
    (port,) = _PORT.unpack_from(octets, at + size)
    text = str(ip_address(address))
    return f"[{text}]:{port}" if six else f"{text}:{port}", at + size + _PORT.size


def _sized(length: struct.Struct, octets: bytes, at: int, end: int) -> tuple[bytes, int]:
    """The octets that a length announces, and where they end: within the record."""
    (size,) = length.unpack_from(octets, at)
    start = at + length.size
    if not 0 <= size <= end - start:
        raise WireError(f"{size} octets are announced where {end - start} are left of a record")
    return octets[start : start + size], start + size
