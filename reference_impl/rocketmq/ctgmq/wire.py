"""What a slave and its master say to each other.

1. Four octets of length, then MessagePack. It is our own: the protocol of the original is unknown.
2. Every message names the epoch that its sender believes in.
"""

import struct
from collections.abc import Iterator

import msgspec

FRAME_OCTETS_MAX = 16 * 1024 * 1024
_LENGTH = struct.Struct(">I")


class SlaveHello(msgspec.Struct, frozen=True, tag=True):
    """The first word of a slave."""

    epoch: int
    name: str


class MasterHello(msgspec.Struct, frozen=True, tag=True):
    """The master's log: its first position, its end, which epoch began where."""

    epoch: int
    start: int
    end: int
    epochs: list[tuple[int, int]]


class MasterTopics(msgspec.Struct, frozen=True, tag=True):
    """The master's topics, ahead of its hello, and of the first message that may need a new one:
    a slave that has a message has its topic."""

    epoch: int
    table: bytes


class SlaveAck(msgspec.Struct, frozen=True, tag=True):
    """The slave has the log up to `end`. The first one says where the master goes on."""

    epoch: int
    end: int


class LogPart(msgspec.Struct, frozen=True, tag=True):
    """Octets of one epoch, which began at `part_start`. `confirmed`: every member has it."""

    epoch: int
    start: int
    part_epoch: int
    part_start: int
    confirmed: int
    octets: bytes


ReplicaMessage = SlaveHello | MasterHello | MasterTopics | SlaveAck | LogPart
_DECODER: msgspec.msgpack.Decoder[ReplicaMessage] = msgspec.msgpack.Decoder(ReplicaMessage)


def framed(message: ReplicaMessage) -> bytes:
    body = msgspec.msgpack.encode(message)
    return _LENGTH.pack(len(body)) + body


class ReplicaFrames:
    """The messages of one connection."""

    def __init__(self) -> None:
        self._unread = bytearray()

    def take(self, octets: bytes) -> Iterator[ReplicaMessage]:
        """Raises ValueError: what comes is no message."""
        self._unread += octets
        while len(self._unread) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._unread)
            if size > FRAME_OCTETS_MAX:
                raise ValueError(f"a message of {size} octets")
            end = _LENGTH.size + size
            if len(self._unread) < end:
                return
            body = bytes(self._unread[_LENGTH.size : end])
            del self._unread[:end]
            yield _read(body)


def _read(body: bytes) -> ReplicaMessage:
    """Raises ValueError."""
    try:
        return _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"no message of a replica: {error}") from error
