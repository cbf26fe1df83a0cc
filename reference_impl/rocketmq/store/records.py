"""One message as it stands in the log, and as who pulls it gets it (docs/behaviour/rocketmq.md
4.1).

1. A record says how long it is, and has a checksum of its body. The rest of it has none: what it
   says of lengths has to add up instead.
2. The end of a file where no record fits any more is a blank, which says how long it is.
3. Hosts are IPv4 or IPv6; two bits of `sys_flag` say which.
"""

import struct
import zlib
from collections.abc import Iterator

import msgspec

from reference_impl.rocketmq.store import properties

MAGIC, BLANK_MAGIC, BATCH_MAGIC = 0xDAA320A7, 0xCBD43194, 0
CHECKSUM_MASK = 0x7FFFFFFF
COMPRESSED, BORN_V6, STORED_V6 = 1, 16, 32  # bits of sys_flag
PREPARED, COMMITTED, ROLLED_BACK = 4, 8, 12
TRANSACTION_BITS = 12
BLANK_OCTETS = 8
_HEAD = struct.Struct(">iIIiiqqiq")  # up to the born host
_TIME = struct.Struct(">q")
_TAIL = struct.Struct(">iqi")  # reconsume times, prepared transaction's place, length of the body
_BLANK = struct.Struct(">iI")
_SHORT = struct.Struct(">h")
_INNER = struct.Struct(">iIIii")  # of a batch: length, magic, checksum, flag, length of the body
_V4, _V6 = 8, 20


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A message that has no place yet. Hosts are address and int32 port, as octets; `told`: its
    properties as text."""

    topic: str
    queue: int
    flag: int
    sys_flag: int
    born_ms: int
    born_host: bytes
    store_host: bytes
    body: bytes
    props_text: str
    reconsumed: int = 0
    prepared: int = 0

    @property
    def properties(self) -> dict[str, str]:
        return properties.read(self.props_text)


class Record(Draft, frozen=True, kw_only=True):
    """A message in its place. `offset`: in its queue; `position`: in the log."""

    octets: int
    offset: int
    position: int
    stored_ms: int


class Blank(msgspec.Struct, frozen=True):
    octets: int


class Bad(msgspec.Struct, frozen=True):
    """No record, and no blank."""

    reason: str


def host(address: bytes, port: int) -> bytes:
    return address + port.to_bytes(4)


def write(draft: Draft, offset: int, position: int, stored_ms: int) -> bytes:
    topic, props = draft.topic.encode(), draft.props_text.encode()
    octets = length(draft, len(topic), len(props))
    head = _HEAD.pack(
        octets,
        MAGIC,
        zlib.crc32(draft.body) & CHECKSUM_MASK,
        draft.queue,
        draft.flag,
        offset,
        position,
        draft.sys_flag,
        draft.born_ms,
    )
    tail = _TAIL.pack(draft.reconsumed, draft.prepared, len(draft.body))
    return b"".join(
        (
            head,
            draft.born_host,
            _TIME.pack(stored_ms),
            draft.store_host,
            tail,
            draft.body,
            bytes((len(topic),)),
            topic,
            _SHORT.pack(len(props)),
            props,
        )
    )


def length(draft: Draft, topic_octets: int, props_octets: int) -> int:
    hosts = len(draft.born_host) + len(draft.store_host)
    fixed = _HEAD.size + _TIME.size + _TAIL.size + 1 + _SHORT.size
    return fixed + hosts + len(draft.body) + topic_octets + props_octets


def blank(octets: int) -> bytes:
    """The beginning of one; the rest of it may be anything."""
    return _BLANK.pack(octets, BLANK_MAGIC)


def size_at(octets: bytes) -> int:
    """Return the length that a record that begins there says; 0 if there is none."""
    if len(octets) < _BLANK.size:
        return 0
    size, magic = _BLANK.unpack_from(octets)
    return size if magic in (MAGIC, BLANK_MAGIC) and size > 0 else 0


def read(octets: bytes, checked: bool = True) -> Record | Blank | Bad:
    """Return what begins there. `checked`: whether its checksum has to be right."""
    if len(octets) < _BLANK.size:
        return Bad("it is cut short")
    size, magic = _BLANK.unpack_from(octets)
    if magic == BLANK_MAGIC:
        return Blank(size) if size >= _BLANK.size else Bad(f"a blank of {size} octets")
    if magic != MAGIC:
        return Bad(f"magic {magic:#x}")
    if not _HEAD.size <= size <= len(octets):
        return Bad(f"a record of {size} octets where {len(octets)} are left")
    try:
        return _read(octets[:size], checked)
    except (struct.error, UnicodeDecodeError, IndexError) as error:
        return Bad(str(error))


def _read(octets: bytes, checked: bool) -> Record | Bad:
    size, _, crc, queue, flag, offset, position, sys_flag, born_ms = _HEAD.unpack_from(octets)
    at = _HEAD.size
    born_end = at + (_V6 if sys_flag & BORN_V6 else _V4)
    (stored_ms,) = _TIME.unpack_from(octets, born_end)
    store_start = born_end + _TIME.size
    store_end = store_start + (_V6 if sys_flag & STORED_V6 else _V4)
    reconsumed, prepared, body_octets = _TAIL.unpack_from(octets, store_end)
    body_start = store_end + _TAIL.size
    topic_start = body_start + body_octets + 1
    if body_octets < 0 or topic_start > size:
        return Bad(f"a body of {body_octets} octets in a record of {size}")
    topic_end = topic_start + octets[topic_start - 1]
    (props_octets,) = _SHORT.unpack_from(octets, topic_end)
    props_start = topic_end + _SHORT.size
    if props_octets < 0 or props_start + props_octets != size:
        return Bad(f"its parts have {props_start + props_octets} octets, it says {size}")
    body = octets[body_start : body_start + body_octets]
    if checked and zlib.crc32(body) & CHECKSUM_MASK != crc:
        return Bad("the checksum of its body is another")
    return Record(
        topic=octets[topic_start:topic_end].decode(),
        queue=queue,
        flag=flag,
        sys_flag=sys_flag,
        born_ms=born_ms,
        born_host=octets[at:born_end],
        store_host=octets[store_start:store_end],
        body=body,
        props_text=octets[props_start:].decode(),
        reconsumed=reconsumed,
        prepared=prepared,
        octets=size,
        offset=offset,
        position=position,
        stored_ms=stored_ms,
    )


def message_id(store_host: bytes, position: int) -> str:
    """By which a client finds a message, and ends a transaction (4.3)."""
    return (store_host + _TIME.pack(position)).hex().upper()


def inner(body: bytes) -> Iterator[tuple[int, bytes, str]]:
    """Of a batch each message's flag, body and properties (4.4). Raises ValueError."""
    at = 0
    while at < len(body):
        try:
            size, _, _, flag, body_octets = _INNER.unpack_from(body, at)
            start = at + _INNER.size
            (props_octets,) = _SHORT.unpack_from(body, start + body_octets)
        except struct.error as error:
            raise ValueError(f"no message of a batch at octet {at}: {error}") from error
        props_start = start + body_octets + _SHORT.size
        end = props_start + props_octets
        if body_octets < 0 or props_octets < 0 or end != at + size or end > len(body):
            raise ValueError(f"a message of a batch at octet {at} does not add up")
        yield flag, body[start : start + body_octets], body[props_start:end].decode()
        at = end
