"""What no client would say, by chance from a seed: methods with any values, contents, noise, and
each of them changed in places."""

import random
from collections.abc import Callable
from typing import Any

from reference_impl.amqp.frames import BODY, HEADER, HEARTBEAT, METHOD, frame
from reference_impl.amqp.methods import _KINDS, _TYPES, method_frame
from tests.reference_impl.amqp.client import handshake

NAMES = ("", "q", "r", "x", "amq.direct", "amq.topic", "amq.fanout", "#.a.*", "direct", "fanout")
NAMES += ("topic", "headers", "guest", "/", "n" * 255, "ü")
ARGUMENTS = (
    "x-message-ttl",
    "x-max-length",
    "x-overflow",
    "x-max-priority",
    "x-expires",
    "x-match",
)
CHANNELS = (0, 1, 1, 1, 1, 2, 3, 65_535)
CHANGED = 0.3  # of the frames, by one to four octets
CUT = 0.02  # of them, somewhere
Value = Callable[[random.Random], Any]


def _table(draw: random.Random) -> dict[str, Any]:
    chosen = draw.sample(ARGUMENTS, draw.randint(0, 2))
    return {name: draw.choice((-1, 0, 3, "drop-head", True, None, [1], {})) for name in chosen}


VALUES: dict[str, Value] = {
    "octet": lambda draw: draw.choice((0, 1, 255)),
    "short": lambda draw: draw.choice((0, 1, 200, 65_535)),
    "long": lambda draw: draw.choice((0, 1, 131_072, 2**32 - 1)),
    "longlong": lambda draw: draw.choice((0, 1, 2, 7, 2**63, 2**64 - 1)),
    "shortstr": lambda draw: draw.choice(NAMES),
    "longstr": lambda draw: draw.choice((b"", b"\0guest\0guest", b"\0a\0b")),
    "bit": lambda draw: draw.random() < 0.5,
    "table": _table,
}
OPEN = frame(METHOD, 1, b"\x00\x14\x00\x0a\x00")  # channel.open


class Fuzzer:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._kinds = list(_KINDS.values())

    def client(self, frames: int) -> list[bytes]:
        """What one says, in pieces; most of them are let in first."""
        draw = self._draw
        said = [handshake(), OPEN] if draw.random() < 0.9 else []
        return said + [self._piece() for _ in range(frames)]

    def _piece(self) -> bytes:
        draw = self._draw
        octets = bytearray(draw.choice((self._method, self._method, self._content, self._noise))())
        if octets and draw.random() < CHANGED:
            for _ in range(draw.randint(1, 4)):
                octets[draw.randrange(len(octets))] = draw.randrange(256)
        if draw.random() < CUT:
            del octets[draw.randint(0, len(octets)) :]
        return bytes(octets)

    def _method(self) -> bytes:
        draw = self._draw
        kind = draw.choice(self._kinds)
        values = [VALUES[name](draw) for name in _TYPES[kind]]
        return method_frame(draw.choice(CHANNELS), kind(*values))

    def _content(self) -> bytes:
        """A publish in three frames, or in what is left of them."""
        draw = self._draw
        channel, body = draw.choice(CHANNELS), bytes(draw.choice((0, 1, 100, 5_000)))
        route = bytes([0]) + bytes([1]) + b"q"
        said = frame(METHOD, channel, b"\x00\x3c\x00\x28\x00\x00" + route + b"\x00")
        header = (
            b"\x00\x3c\x00\x00"
            + len(body).to_bytes(8, "big")
            + draw.choice((b"\0\0", b"\xff\xff"))
        )
        return (
            said + frame(HEADER, channel, header) + (frame(BODY, channel, body) if body else b"")
        )

    def _noise(self) -> bytes:
        draw = self._draw
        kind = draw.choice((METHOD, HEADER, BODY, HEARTBEAT, 0, 9, 255))
        return frame(kind, draw.choice(CHANNELS), draw.randbytes(draw.randint(0, 40)))
