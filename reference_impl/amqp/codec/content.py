"""Messages with content, by hand: the hot path of the codec.

1. Properties go through as the octets that came (properties.py reads what matters of them).
2. What cannot be read raises AmqpError 502.
"""

import struct
from functools import lru_cache

from reference_impl.amqp.codec.frames import BODY, HEADER, METHOD, OVERHEAD, frame
from reference_impl.amqp.codec.methods import encode
from reference_impl.amqp.codec.queue_methods import BasicAck, BasicGetOk, BasicNack, BasicReturn
from reference_impl.amqp.codec.wire import short_string
from reference_impl.amqp.rules.errors import (
    SYNTAX_ERROR,
    AmqpError,
)
from reference_impl.protocol.queues import Message

PUBLISH, ACK = b"\x00\x3c\x00\x28", b"\x00\x3c\x00\x50"  # class and number, as on the wire
_DELIVER = b"\x00\x3c\x00\x3c"
_HEADER_OF_BASIC = struct.Struct(">HHQ")  # class, weight, size of the body
_TAG_AND_FLAG = struct.Struct(">QB")
_MULTIPLE = 1
_ACK_FRAME = struct.Struct(">BHI4sQBB")
_FRAME_END = 0xCE


def content_header(payload: bytes) -> tuple[int, bytes]:
    """Octets of the body that is to come, and the properties from their flags on."""
    if len(payload) < _HEADER_OF_BASIC.size + 2:
        raise AmqpError(SYNTAX_ERROR, "a content header is cut short")
    _, _, octets = _HEADER_OF_BASIC.unpack_from(payload)
    return octets, payload[_HEADER_OF_BASIC.size :]


def read_ack(payload: bytes) -> tuple[int, bool]:
    """The delivery tag, and whether all before it are meant as well."""
    if len(payload) != len(ACK) + _TAG_AND_FLAG.size:
        raise AmqpError(SYNTAX_ERROR, "an ack is cut short", BasicAck.index)
    tag, flags = _TAG_AND_FLAG.unpack_from(payload, len(ACK))
    return tag, bool(flags & _MULTIPLE)


def ack_frame(channel: int, tag: int, multiple: bool) -> bytes:
    size = len(ACK) + _TAG_AND_FLAG.size
    return _ACK_FRAME.pack(METHOD, channel, size, ACK, tag, multiple, _FRAME_END)


def nack_frame(channel: int, tag: int, multiple: bool) -> bytes:
    return frame(METHOD, channel, encode(BasicNack(tag, multiple, requeue=False)))


# --- to the client ----------------------------------------------------------------------------


@lru_cache(maxsize=256)
def deliver_prefix(consumer: str) -> bytes:
    return _DELIVER + short_string(consumer)


@lru_cache(maxsize=1024)
def _route_suffix(exchange: str, key: str) -> bytes:
    return short_string(exchange) + short_string(key)


def delivery_frames(
    channel: int, consumer: str, tag: int, redelivered: bool, message: Message, frame_max: int
) -> bytes:
    method = (
        deliver_prefix(consumer)
        + _TAG_AND_FLAG.pack(tag, redelivered)
        + _route_suffix(message.exchange, message.key)
    )
    return _with_content(channel, method, message.header, message.body, frame_max)


def get_frames(
    channel: int, tag: int, redelivered: bool, message: Message, left: int, frame_max: int
) -> bytes:
    method = encode(BasicGetOk(tag, redelivered, message.exchange, message.key, left))
    return _with_content(channel, method, message.header, message.body, frame_max)


def return_frames(
    channel: int, returned: BasicReturn, properties: bytes, body: bytes, frame_max: int
) -> bytes:
    return _with_content(channel, encode(returned), properties, body, frame_max)


def _with_content(
    channel: int, method: bytes, properties: bytes, body: bytes, frame_max: int
) -> bytes:
    header = _HEADER_OF_BASIC.pack(60, 0, len(body)) + properties
    frames = [frame(METHOD, channel, method), frame(HEADER, channel, header)]
    room = frame_max - OVERHEAD
    if len(body) <= room:
        if body:
            frames.append(frame(BODY, channel, body))
        return b"".join(frames)
    frames += [frame(BODY, channel, body[at : at + room]) for at in range(0, len(body), room)]
    return b"".join(frames)
