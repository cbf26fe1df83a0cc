"""Properties of messages, as the octets that came (docs/behaviour/rabbitmq.md 2.1).

1. They go through unchanged; only what changes a message's way is looked at.
2. A property that asks for what the reference does not do (CC and BCC headers) raises AmqpError
   540: it is never passed over.
3. What cannot be read raises AmqpError 502.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from reference_impl.amqp.codec.wire import FrameError, read_short_string, read_table, table
from reference_impl.amqp.rules.errors import (
    PRECONDITION_FAILED,
    SYNTAX_ERROR,
    AmqpError,
    not_implemented,
)

NO_PROPERTIES = b"\x00\x00"
EXPIRES_MAX_MS = 4_294_967_295

# Flags, in the order in which the properties follow them, and how long each is: so many octets, a
# short string (its first octet says it), or a table (its first four do).
_CONTENT_TYPE, _CONTENT_ENCODING, _HEADERS, _DELIVERY_MODE = 0x8000, 0x4000, 0x2000, 0x1000
_PRIORITY, _CORRELATION, _REPLY_TO, _EXPIRATION = 0x0800, 0x0400, 0x0200, 0x0100
_MESSAGE, _TIMESTAMP, _KIND, _USER = 0x0080, 0x0040, 0x0020, 0x0010
_APPLICATION, _CLUSTER = 0x0008, 0x0004
_OCTETS = {_DELIVERY_MODE: 1, _PRIORITY: 1, _TIMESTAMP: 8}
_ORDER = (
    *(_CONTENT_TYPE, _CONTENT_ENCODING, _HEADERS, _DELIVERY_MODE, _PRIORITY, _CORRELATION),
    *(_REPLY_TO, _EXPIRATION, _MESSAGE, _TIMESTAMP, _KIND, _USER, _APPLICATION, _CLUSTER),
)
_MORE_FLAGS = 0x0001
_PERSISTENT = 2
_UNREADABLE = (FrameError, IndexError, struct.error, UnicodeDecodeError)


class Wishes(NamedTuple):
    """The properties of a message that matter to the broker. `lives_ms` -1: for ever."""

    persistent: bool
    lives_ms: int
    priority: int


@lru_cache(maxsize=1024)
def wishes(properties: bytes, user: str) -> Wishes:
    """Raises AmqpError where it wants what cannot be."""
    with _read():
        places = _places(properties)
        if _HEADERS in places:
            _check_headers(properties, places[_HEADERS])
        if _USER in places:
            _check_user(properties, places[_USER], user)
        mode, priority = (
            properties[places[flag].start] if flag in places else 0
            for flag in (_DELIVERY_MODE, _PRIORITY)
        )
        lives_ms = _lives_ms(properties, places[_EXPIRATION]) if _EXPIRATION in places else -1
        return Wishes(mode == _PERSISTENT, lives_ms, priority)


def headers_of(properties: bytes) -> dict[str, Any]:
    """The table that clients may write into. Raises AmqpError."""
    with _read():
        place = _places(properties).get(_HEADERS)
        return {} if place is None else read_table(properties, place.start)[0]


def expiration_of(properties: bytes) -> str | None:
    """As it was written. Raises AmqpError."""
    with _read():
        place = _places(properties).get(_EXPIRATION)
        return None if place is None else read_short_string(properties, place.start)[0]


def as_dead_letter(properties: bytes, headers: dict[str, Any]) -> bytes:
    """The same with these headers, and without an expiration. `properties` can be read."""
    flags = int.from_bytes(properties[:2], "big")
    kept = {flag: properties[place] for flag, place in _places(properties).items()}
    kept[_HEADERS] = table(headers)
    kept.pop(_EXPIRATION, None)
    flags_now = (flags | _HEADERS) & ~_EXPIRATION
    return flags_now.to_bytes(2, "big") + b"".join(kept[flag] for flag in _ORDER if flag in kept)


@contextmanager
def _read() -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise AmqpError(SYNTAX_ERROR, f"properties cannot be read: {error}") from error


def _places(properties: bytes) -> dict[int, slice]:
    """Return the place of each property that is there."""
    flags = int.from_bytes(properties[:2], "big")
    if flags & _MORE_FLAGS:
        raise FrameError("more flags than there are properties")
    places, at = {}, 2
    for flag in _ORDER:
        if flags & flag:
            end = at + _length(properties, at, flag)
            places[flag] = slice(at, end)
            at = end
    if at > len(properties):
        raise FrameError("cut short")
    return places


def _length(properties: bytes, at: int, flag: int) -> int:
    if flag == _HEADERS:
        return 4 + int.from_bytes(properties[at : at + 4], "big")
    return _OCTETS.get(flag) or 1 + properties[at]


def _check_headers(properties: bytes, place: slice) -> None:
    if b"\x02CC" in properties or b"\x03BCC" in properties:
        headers, _ = read_table(properties, place.start)
        if "CC" in headers or "BCC" in headers:
            raise not_implemented("headers CC and BCC")


def _check_user(properties: bytes, place: slice, user: str) -> None:
    claimed, _ = read_short_string(properties, place.start)
    if claimed != user:
        text = f"user_id property set to '{claimed}' but authenticated user was '{user}'"
        raise AmqpError(PRECONDITION_FAILED, text)


def _lives_ms(properties: bytes, place: slice) -> int:
    text, _ = read_short_string(properties, place.start)
    if not (text.isascii() and text.isdigit()) or int(text) > EXPIRES_MAX_MS:
        why = f"no whole number up to {EXPIRES_MAX_MS}"
        raise AmqpError(PRECONDITION_FAILED, f"invalid expiration '{text}': {why}")
    return int(text)
