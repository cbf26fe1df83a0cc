"""The body of every message: an identity header and a payload, each with a checksum of its own.

1. Identity is (run, producer, sequence, attempt), ours alone: no broker's or library's id is used.
2. A header whose checksum fails identifies nothing; nothing of it may be believed.
3. The payload is filler: its bytes follow from its length, so one checksum serves a whole run.
"""

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any

MAGIC = b"MQP1"
_HEADER = struct.Struct("<4sQiqiiqII")  # magic, run, producer, sequence, attempt, key, sent_ns,
_CHECKSUM = struct.Struct("<I")  #        payload length, payload checksum; then its own checksum
HEADER_BYTES = _HEADER.size + _CHECKSUM.size


@dataclass(frozen=True, slots=True)
class Identity:
    """The content of a readable header. `run` is the 64-bit number of the run, `sent_ns` run
    time."""

    run: int
    producer: int
    sequence: int
    attempt: int
    key: int
    sent_ns: int


@dataclass(frozen=True, slots=True)
class Body:
    """A body as received: `identity` is None where the header cannot be believed."""

    identity: Identity | None
    payload_ok: bool


@lru_cache(maxsize=64)
def _filler(length: int) -> tuple[bytes, int]:
    payload = bytes(i * 31 % 251 for i in range(length))
    return payload, zlib.crc32(payload)


def encode(identity: Identity, body_bytes: int) -> bytes:
    """The body of `body_bytes` bytes, at least HEADER_BYTES, that carries this identity."""
    payload, checksum = _filler(max(0, body_bytes - HEADER_BYTES))
    header = _HEADER.pack(
        MAGIC,
        identity.run,
        identity.producer,
        identity.sequence,
        identity.attempt,
        identity.key,
        identity.sent_ns,
        len(payload),
        checksum,
    )
    return header + _CHECKSUM.pack(zlib.crc32(header)) + payload


def encode_all(first: Identity, keys: int, count: int, body_bytes: int) -> list[bytes]:
    """The bodies of `count` sequences from `first` on, each with the key that is the sequence
    modulo `keys`; the rest of the identity is the first's."""
    payload, checksum = _filler(max(0, body_bytes - HEADER_BYTES))
    sequences = range(first.sequence, first.sequence + count)
    headers = map(
        _HEADER.pack,
        *(repeat(MAGIC), repeat(first.run), repeat(first.producer), sequences),
        *(repeat(first.attempt), (each % keys for each in sequences), repeat(first.sent_ns)),
        *(repeat(len(payload)), repeat(checksum)),
    )
    pack, crc32 = _CHECKSUM.pack, zlib.crc32
    return [header + pack(crc32(header)) + payload for header in headers]


def decode(body: bytes) -> Body:
    """Return the identity and checks of `body`; never raise, because a body may hold anything."""
    found = _believed(body)
    if found is None:
        return Body(None, False)
    _, run, producer, sequence, attempt, key, sent_ns, length, payload_crc = found
    payload = memoryview(body)[HEADER_BYTES:]
    payload_ok = len(payload) == length and zlib.crc32(payload) == payload_crc
    return Body(Identity(run, producer, sequence, attempt, key, sent_ns), payload_ok)


def length_of(head: bytes) -> int | None:
    """Return the length of the whole body that begins with these bytes; None if they are not
    credible."""
    found = _believed(head)
    return None if found is None else HEADER_BYTES + int(found[-2])


def _believed(body: bytes) -> tuple[Any, ...] | None:
    """The header's parts, with the length and the checksum of the payload last."""
    if len(body) < HEADER_BYTES:
        return None
    (checksum,) = _CHECKSUM.unpack_from(body, _HEADER.size)
    header = memoryview(body)[: _HEADER.size]
    if zlib.crc32(header) != checksum:
        return None
    found = _HEADER.unpack(header)
    return found if found[0] == MAGIC else None
