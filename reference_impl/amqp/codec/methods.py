"""Methods from octets and back, by the tables of session_methods and queue_methods.

1. A method that no table has raises AmqpError 503 (RabbitMQ's answer), one that cannot be read
   502.
2. What is hot (publish, deliver, acks both ways) has a way of its own: content.py.
3. pamqp takes 1.4 to 1.9 times as long for the methods with arguments
   (`python -m tests.benchmarks.method_codec`), and reads a longlong as a signed number.
"""

import struct

from reference_impl.amqp.codec import queue_methods, session_methods
from reference_impl.amqp.codec.frames import METHOD, frame
from reference_impl.amqp.codec.method import Method, wire_types
from reference_impl.amqp.codec.wire import FrameError, read_fields, write_fields
from reference_impl.amqp.rules.errors import COMMAND_INVALID, SYNTAX_ERROR, AmqpError

_INDEX = struct.Struct(">HH")
_KINDS: dict[tuple[int, int], type[Method]] = {
    kind.index: kind
    for module in (session_methods, queue_methods)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Method) and kind is not Method
}
_TYPES = {kind: wire_types(kind) for kind in _KINDS.values()}


def index_of(payload: bytes) -> tuple[int, int] | None:
    """Return the index of the method, unread; None if it is cut short."""
    if len(payload) < _INDEX.size:
        return None
    class_id, method_id = _INDEX.unpack_from(payload)
    return class_id, method_id


def decode(payload: bytes) -> Method:
    """Raises AmqpError."""
    index = index_of(payload)
    if index is None:
        raise AmqpError(SYNTAX_ERROR, "a method frame without a method")
    kind = _KINDS.get(index)
    if kind is None:
        raise AmqpError(COMMAND_INVALID, f"unknown method {index[0]}.{index[1]}", index)
    try:
        return kind(*read_fields(_TYPES[kind], payload, _INDEX.size))
    except FrameError as error:
        raise AmqpError(SYNTAX_ERROR, str(error), index) from error


def encode(method: Method) -> bytes:
    kind = type(method)
    values = [getattr(method, name) for name in kind.__struct_fields__]
    return _INDEX.pack(*kind.index) + write_fields(_TYPES[kind], values)


def method_frame(channel: int, method: Method) -> bytes:
    return frame(METHOD, channel, encode(method))
