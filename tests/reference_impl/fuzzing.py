"""What no client would say, by chance from a seed: methods with any values, contents, noise, and
each of them changed in places."""

import random
from collections.abc import Callable
from typing import Any

from reference_impl.amqp.codec.frames import BODY, HEADER, HEARTBEAT, METHOD, frame
from reference_impl.amqp.codec.methods import _KINDS, _TYPES, method_frame
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
CHANGED = 0.03  # of the pieces, by one to four octets: it is the end of most connections
CUT = 0.005  # of them, somewhere
STRANGE = 0.03  # of the methods: such as no client sends, or on no channel of its own
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
# What a server says, or a client says of its connection.
OTHERS = ("Ok", "Empty", "Deliver", "Return", "Blocked", "Unblocked")


def opening(channel: int) -> bytes:
    return frame(METHOD, channel, b"\x00\x14\x00\x0a\x00")


class Fuzzer:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._kinds = list(_KINDS.values())
        self._requests = [
            kind
            for kind in self._kinds
            if not kind.__name__.endswith(OTHERS) and not kind.__name__.startswith("Connection")
        ]

    def client(self, pieces: int) -> list[bytes]:
        """What one says; most of them are let in first. Each piece has a channel of its own, so
        that an error on one is not the end of all."""
        said = [handshake()] if self._draw.random() < 0.97 else []
        return said + [self._piece(channel) for channel in range(1, pieces + 1)]

    def _piece(self, channel: int) -> bytes:
        draw = self._draw
        ways = (self._method, self._method, self._method, self._content, self._content)
        octets = bytearray(opening(channel))
        for _ in range(draw.randint(1, 6)):
            octets += draw.choice(ways)(channel)
        if draw.random() < STRANGE:
            octets += self._noise(channel)
        if draw.random() < CHANGED:
            for _ in range(draw.randint(1, 4)):
                octets[draw.randrange(len(octets))] = draw.randrange(256)
        if draw.random() < CUT:
            del octets[draw.randint(0, len(octets)) :]
        return bytes(octets)

    def _method(self, channel: int) -> bytes:
        draw = self._draw
        strange = draw.random() < STRANGE / 6
        kind = draw.choice(self._kinds if strange else self._requests)
        values = [VALUES[name](draw) for name in _TYPES[kind]]
        return method_frame(
            draw.choice((0, channel, 65_535)) if strange else channel, kind(*values)
        )

    def _content(self, channel: int) -> bytes:
        """A publish, which seldom lacks a part."""
        draw = self._draw
        body = bytes(draw.choice((0, 1, 100, 5_000)))
        flags = draw.choice((0, 0, 0b11))
        publish = (
            b"\x00\x3c\x00\x28\x00\x00" + b"\x00" + b"\x01q" + bytes([flags & draw.randint(0, 1)])
        )
        properties = draw.choice((b"\0\0", b"\x10\x00\x02", b"\x01\x00\x0510000"))
        header = b"\x00\x3c\x00\x00" + len(body).to_bytes(8, "big") + properties
        parts = [frame(METHOD, channel, publish), frame(HEADER, channel, header)]
        parts += [frame(BODY, channel, body)] if body else []
        if draw.random() < STRANGE / 6:
            del parts[draw.randrange(len(parts))]
        return b"".join(parts)

    def _noise(self, channel: int) -> bytes:
        draw = self._draw
        kind = draw.choice((METHOD, HEADER, BODY, HEARTBEAT, 0, 9, 255))
        return frame(kind, draw.choice((0, channel)), draw.randbytes(draw.randint(0, 40)))
