"""The connections of a server: their peers, unread octets, and last signs of life.

1. A connection on which nothing was read or written for the server's idle time is closed
   (serverChannelMaxIdleTimeSeconds); the server decides the consequences for its peer. It
   may be a hundredth of that time later: thousands of them are not looked at with every tick.
2. So is one whose octets are no commands.
"""

from reference_impl.rocketmq.effects import Close, Effect, Transmit
from reference_impl.rocketmq.remoting.command import Command, encode
from reference_impl.rocketmq.remoting.frames import Decoder
from reference_impl.rocketmq.remoting.header import HeaderError

_LOOKS = 100  # at all connections, in the time after which they count as idle


class _Connection:
    __slots__ = ("decoder", "heard_ms", "peer")

    def __init__(self, peer: str, now_ms: int) -> None:
        self.peer = peer
        self.decoder = Decoder()
        self.heard_ms = now_ms  # or spoken to


class Connections:
    def __init__(self, idle_ms: int) -> None:
        self._idle_ms = idle_ms
        self._open: dict[int, _Connection] = {}
        self._looked_ms = 0

    def __contains__(self, connection: int) -> bool:
        return connection in self._open

    def peer(self, connection: int) -> str:
        return self._open[connection].peer

    def opened(self, connection: int, peer: str, now_ms: int) -> None:
        self._open[connection] = _Connection(peer, now_ms)

    def closed(self, connection: int) -> None:
        self._open.pop(connection, None)

    def received(self, connection: int, octets: bytes, now_ms: int) -> list[Command]:
        """The commands that are whole now. Raises HeaderError."""
        one = self._open.get(connection)
        if one is None:  # it was closed from here; what was on its way is too late
            return []
        one.heard_ms = now_ms
        try:
            return one.decoder.feed(octets)
        except HeaderError:
            del self._open[connection]
            raise

    def send(self, connection: int, command: Command, now_ms: int) -> list[Effect]:
        one = self._open.get(connection)
        if one is None:
            return []
        one.heard_ms = now_ms
        return [Transmit(connection, encode(command))]

    def idle(self, now_ms: int) -> list[int]:
        """Return those that have been silent for too long."""
        if now_ms - self._looked_ms < self._idle_ms // _LOOKS:
            return []
        self._looked_ms = now_ms
        limit = now_ms - self._idle_ms
        return [number for number, one in self._open.items() if one.heard_ms <= limit]

    def close(self, connection: int) -> list[Effect]:
        self._open.pop(connection, None)
        return [Close(connection)]
