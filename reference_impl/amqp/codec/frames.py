"""Frames: type, channel, size, payload, end octet (docs/behaviour/rabbitmq.md 2.1).

1. Octets may come split at any place; a frame is given out when it is whole.
2. A frame that is too large or does not end as it must raises AmqpError 501, after every whole
   frame before it was given out. Nothing can be read after that.
3. No more than one frame is held back.
"""

import struct
from collections.abc import Iterator

from reference_impl.amqp.rules.errors import FRAME_ERROR, AmqpError

METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8
FRAME_MIN = 4096  # the limit until another one is negotiated
OVERHEAD = 8  # octets of a frame beside its payload
_FUDGE = 8  # RabbitMQ bears payloads that are so much too long
_END = 0xCE
_HEAD = struct.Struct(">BHI")
_TAIL = bytes([_END])

Frame = tuple[int, int, bytes]  # type, channel, payload


class FrameReader:
    """`frame_max` may be changed between two frames; `broken`: there will be no more."""

    def __init__(self) -> None:
        self.frame_max = FRAME_MIN
        self._held = b""
        self.broken = False

    def read(self, octets: bytes) -> Iterator[Frame]:
        if self.broken:
            return
        held, at = (self._held + octets if self._held else octets), 0
        length = len(held)
        try:
            while length - at >= _HEAD.size:
                kind, channel, size = _HEAD.unpack_from(held, at)
                if size > self.frame_max - OVERHEAD + _FUDGE:
                    raise self._break(f"a payload of {size} octets is too large")
                end = at + _HEAD.size + size
                if end >= length:
                    break
                if held[end] != _END:
                    raise self._break(f"a frame ends with octet {held[end]}")
                payload = held[at + _HEAD.size : end]
                at = end + 1
                yield kind, channel, payload
        finally:
            self._held = b"" if self.broken else held[at:]

    def _break(self, why: str) -> AmqpError:
        self.broken = True
        return AmqpError(FRAME_ERROR, why)


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    return _HEAD.pack(kind, channel, len(payload)) + payload + _TAIL


HEARTBEAT_FRAME = frame(HEARTBEAT, 0, b"")
