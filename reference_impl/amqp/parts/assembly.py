"""Frames of one channel, put together to commands: a method, or a publish with its content.

1. A publish is whole when its header and as many octets of body as that announced have come.
2. A frame that cannot come now raises AmqpError 505; a body that is longer than announced 501.
3. No more is held than the largest message: one that announces more raises 406.
"""

from typing import NamedTuple

from reference_impl.amqp.codec.content import PUBLISH, content_header
from reference_impl.amqp.codec.frames import BODY, HEADER, METHOD
from reference_impl.amqp.codec.queue_methods import BasicPublish
from reference_impl.amqp.rules.errors import (
    FRAME_ERROR,
    PRECONDITION_FAILED,
    UNEXPECTED_FRAME,
    AmqpError,
)


class Published(NamedTuple):
    """A publish with its content; `payload` is the method's."""

    payload: bytes
    properties: bytes
    body: bytes


class Assembly:
    def __init__(self, message_octets_max: int) -> None:
        self._message_octets_max = message_octets_max
        self._payload: bytes | None = None  # of a publish that is not whole
        self._properties: bytes | None = None
        self._missing = 0
        self._pieces: list[bytes] = []

    def take(self, kind: int, payload: bytes) -> bytes | Published | None:
        """The payload of a method, a publish, or None while more has to come."""
        if kind == METHOD and self._payload is None:
            if not payload.startswith(PUBLISH):
                return payload
            self._payload = payload
            return None
        if kind == HEADER and self._payload is not None and self._properties is None:
            self._missing, self._properties = content_header(payload)
            return self._check_size()
        if kind == BODY and self._properties is not None:
            return self._add(payload)
        raise self._unexpected()

    def _add(self, piece: bytes) -> Published | None:
        self._missing -= len(piece)
        if self._missing < 0:
            text = "a body is longer than its header says"
            raise AmqpError(FRAME_ERROR, text, BasicPublish.index)
        self._pieces.append(piece)
        return None if self._missing else self._whole()

    def _check_size(self) -> Published | None:
        if self._missing > self._message_octets_max:
            text = f"message size {self._missing} is larger than max size"
            raise AmqpError(
                PRECONDITION_FAILED, f"{text} {self._message_octets_max}", BasicPublish.index
            )
        return None if self._missing else self._whole()

    def _whole(self) -> Published:
        assert self._payload is not None, "content without a method"
        assert self._properties is not None, "a body without a header"
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        published = Published(self._payload, self._properties, body)
        self._payload = self._properties = None
        self._pieces = []
        return published

    def _unexpected(self) -> AmqpError:
        if self._payload is None:
            return AmqpError(UNEXPECTED_FRAME, "expected method frame, got another one")
        wanted = "content header" if self._properties is None else "content body"
        text = f"expected {wanted} for class 60, got another frame instead"
        return AmqpError(UNEXPECTED_FRAME, text, BasicPublish.index)
