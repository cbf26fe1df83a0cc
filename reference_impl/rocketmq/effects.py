"""Effects of a name server or a broker on the world around it, and what it may read at any time.

1. A server gets events: a connection, its octets, its end, and time that has passed. It answers
   with effects, which are carried out in their order.
2. Octets to a connection that is gone vanish.
"""

from typing import Protocol

import msgspec


class Transmit(msgspec.Struct, frozen=True):
    """Octets to the other end of this connection."""

    connection: int
    octets: bytes


class Close(msgspec.Struct, frozen=True):
    """The end of a connection. What was transmitted goes out before. The server gets its end as of
    any other."""

    connection: int


class Dial(msgspec.Struct, frozen=True):
    """Wants a connection to "host:port": `Server.opened` or `Server.refused` tell of it."""

    address: str
    door: str


class Note(msgspec.Struct, frozen=True):
    """A line for its log."""

    text: str


class AppendTruth(msgspec.Struct, frozen=True):
    """Lines for its truth log, which are there before any effect that follows is carried out."""

    lines: bytes


Effect = Transmit | Close | Dial | Note | AppendTruth


class Clock(Protocol):
    """The two clocks that a server reads."""

    def now_ms(self) -> int:
        """Only grows, and is no time of day: what timers are measured by."""

    def wall_ms(self) -> int:
        """Since 1970, as this host believes: what stands in records."""


class Server(Protocol):
    """The core of a name server or a broker."""

    def opened(self, connection: int, peer: str, door: str, dialled: str | None) -> list[Effect]:
        """`peer`: "host:port" of the other end. `door`: what is spoken on it. `dialled`: the
        address, where Dial asked for it."""

    def refused(self, address: str, door: str) -> list[Effect]:
        """Note that no server answered there."""

    def received(self, connection: int, octets: bytes) -> list[Effect]: ...

    def closed(self, connection: int) -> list[Effect]: ...

    def tick(self) -> list[Effect]:
        """Time has passed: called every TICK_MS, and late where the host was busy."""

    def stop(self) -> list[Effect]:
        """Stop in order: the last event."""


TICK_MS = 10
# Doors: clients and servers; a master's slaves; members of a DLedger group.
REMOTING, COPIES, MEMBERS = "remoting", "copies", "members"
