"""Messages with content, by hand: the hot path of the codec.

1. Properties go through as the octets that came; only what changes a message's way is looked at.
2. A property that asks for what the reference does not do (expiration, CC and BCC headers) raises
   AmqpError 540: it is never passed over.
3. What cannot be read raises AmqpError 502.
"""

import struct
from functools import lru_cache

from reference_impl.amqp.errors import (
    PRECONDITION_FAILED,
    SYNTAX_ERROR,
    AmqpError,
    not_implemented,
)
from reference_impl.amqp.frames import BODY, HEADER, METHOD, OVERHEAD, frame
from reference_impl.amqp.methods import encode
from reference_impl.amqp.queue_methods import BasicAck, BasicGetOk, BasicNack, BasicReturn
from reference_impl.amqp.wire import WireError, read_short_string, read_table, short_string
from reference_impl.protocol.queues import Message

PUBLISH, ACK = b"\x00\x3c\x00\x28", b"\x00\x3c\x00\x50"  # class and number, as on the wire
_DELIVER = b"\x00\x3c\x00\x3c"
_HEADER_OF_BASIC = struct.Struct(">HHQ")  # class, weight, size of the body
_TAG_AND_FLAG = struct.Struct(">QB")
_MULTIPLE = 1
_ACK_FRAME = struct.Struct(">BHI4sQBB")
_FRAME_END = 0xCE

# Property flags, in the order in which the properties follow them.
_CONTENT_TYPE, _CONTENT_ENCODING, _HEADERS, _DELIVERY_MODE = 0x8000, 0x4000, 0x2000, 0x1000
_PRIORITY, _CORRELATION, _REPLY_TO, _EXPIRATION = 0x0800, 0x0400, 0x0200, 0x0100
_MESSAGE, _TIMESTAMP, _KIND, _USER = 0x0080, 0x0040, 0x0020, 0x0010
_MORE_FLAGS = 0x0001
_PERSISTENT = 2


def content_header(payload: bytes) -> tuple[int, bytes]:
    """Octets of the body that is to come, and the properties from their flags on."""
    if len(payload) < _HEADER_OF_BASIC.size + 2:
        raise AmqpError(SYNTAX_ERROR, "a content header is cut short")
    _, _, octets = _HEADER_OF_BASIC.unpack_from(payload)
    return octets, payload[_HEADER_OF_BASIC.size :]


@lru_cache(maxsize=1024)
def persistent(properties: bytes, user: str) -> bool:
    """Whether the message wants the disk. Raises AmqpError where it wants what cannot be."""
    try:
        return _persistent(properties, user)
    except (WireError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise AmqpError(SYNTAX_ERROR, f"properties cannot be read: {error}") from error


def _persistent(properties: bytes, user: str) -> bool:
    flags = int.from_bytes(properties[:2], "big")
    if flags & _MORE_FLAGS:
        raise WireError("more flags than there are properties")
    if flags & _EXPIRATION:
        raise not_implemented("property expiration")
    at = _after_strings(properties, 2, flags, (_CONTENT_TYPE, _CONTENT_ENCODING))
    if flags & _HEADERS:
        at = _after_headers(properties, at)
    mode = properties[at] if flags & _DELIVERY_MODE else 0
    if flags & _USER:
        _check_user(properties, at, flags, user)
    return mode == _PERSISTENT


def _after_strings(properties: bytes, at: int, flags: int, which: tuple[int, ...]) -> int:
    for flag in which:
        if flags & flag:
            at += 1 + properties[at]
    return at


def _after_headers(properties: bytes, at: int) -> int:
    if b"\x02CC" in properties or b"\x03BCC" in properties:
        headers, _ = read_table(properties, at)
        if "CC" in headers or "BCC" in headers:
            raise not_implemented("headers CC and BCC")
    return at + 4 + int.from_bytes(properties[at : at + 4], "big")


def _check_user(properties: bytes, at: int, flags: int, user: str) -> None:
    at += bool(flags & _DELIVERY_MODE) + bool(flags & _PRIORITY)
    at = _after_strings(properties, at, flags, (_CORRELATION, _REPLY_TO, _EXPIRATION, _MESSAGE))
    at += 8 * bool(flags & _TIMESTAMP)
    at = _after_strings(properties, at, flags, (_KIND,))
    claimed, _ = read_short_string(properties, at)
    if claimed != user:
        text = f"user_id property set to '{claimed}' but authenticated user was '{user}'"
        raise AmqpError(PRECONDITION_FAILED, text)


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
