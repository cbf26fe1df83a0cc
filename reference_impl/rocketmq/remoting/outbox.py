"""The effects of a server, collected until the end of its turn."""

from reference_impl.rocketmq.effects import AppendTruth, Clock, Close, Dial, Effect, Transmit
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.connections import Connections


class Outbox:
    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock
        self._effects: list[Effect] = []

    def send(self, connection: int, command: Command) -> None:
        """On a connection that is gone it vanishes."""
        self._effects += self._connections.send(connection, command, self._clock.now_ms())

    def octets(self, connection: int, octets: bytes) -> None:
        """On a connection where no commands are spoken."""
        self._effects.append(Transmit(connection, octets))

    def close(self, connection: int) -> None:
        self._connections.closed(connection)
        self._effects.append(Close(connection))

    def dial(self, address: str, door: str) -> None:
        self._effects.append(Dial(address, door))

    def admit(self, lines: bytes) -> None:
        """Before all that is said after it."""
        self._effects.append(AppendTruth(lines))

    def take(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects
