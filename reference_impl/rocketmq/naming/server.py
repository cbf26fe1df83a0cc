"""A name server: its connections, their requests, and the brokers that it gives up.

1. A broker is given up when its connection ends, by either side; when nothing was said on it for
   the idle time; or when the scan finds that it has not registered for the expiry time, which
   closes its connection, too. The first two come before the third if all is well.
2. A name server that has stood still finds all brokers silent when it goes on, and gives up those
   that are well: its clock went on, and what they had sent was not read. The scan comes before
   the octets that wait, as it does in the real one, whose timers and readers are other threads.
"""

import random
from collections.abc import Mapping

from reference_impl.rocketmq.effects import Clock, Effect, Note
from reference_impl.rocketmq.naming.requests import Requests
from reference_impl.rocketmq.naming.routes import Routes
from reference_impl.rocketmq.remoting.connections import Connections
from reference_impl.rocketmq.remoting.header import HeaderError
from reference_impl.rocketmq.remoting.serving import serve
from reference_impl.rocketmq.settings import NameServerTimes


class NameServer:
    """effects.Server."""

    def __init__(
        self,
        clock: Clock,
        times: NameServerTimes | None = None,
        configured: Mapping[str, str] | None = None,
        secret: str = "",
        dice: random.Random | None = None,
    ) -> None:
        self._clock = clock
        self._times = times or NameServerTimes()
        self._notes: list[str] = []
        self._routes = Routes(self._notes.append)
        self._requests = Requests(
            self._routes, clock, configured or {}, secret, dice or random.SystemRandom()
        )
        self._connections = Connections(self._times.server_channel_max_idle_time)
        self._scan_ms = clock.now_ms() + self._times.scan_first

    def opened(
        self,
        connection: int,
        peer: str,
        door: str,  # noqa: ARG002  (it has one)
        dialled: str | None,
    ) -> list[Effect]:
        assert dialled is None, "a name server never dials"
        self._connections.opened(connection, peer, self._clock.now_ms())
        return []

    def refused(self, address: str, door: str) -> list[Effect]:  # noqa: ARG002
        raise AssertionError(f"a name server never dials, nor {address}")

    def received(self, connection: int, octets: bytes) -> list[Effect]:
        now_ms, effects = self._clock.now_ms(), list[Effect]()
        try:
            commands = self._connections.received(connection, octets, now_ms)
        except HeaderError:
            return self._close(connection)
        for command in commands:
            if command.is_answer:
                continue
            answer = serve(self._requests.handlers, connection, command)
            if answer is not None:
                effects += self._connections.send(connection, answer, now_ms)
        return effects + self._take_notes()

    def closed(self, connection: int) -> list[Effect]:
        self._connections.closed(connection)
        self._requests.closed(connection)
        self._routes.gone(connection)
        return self._take_notes()

    def tick(self) -> list[Effect]:
        now_ms, effects = self._clock.now_ms(), list[Effect]()
        for connection in self._connections.idle(now_ms):
            effects += self._close(connection)
        if now_ms >= self._scan_ms:
            self._scan_ms = now_ms + self._times.scan_not_active_broker_interval
            effects += self._scan(now_ms)
        return effects

    def stop(self) -> list[Effect]:
        """Stop without a notice: brokers and clients see it by their connections."""
        return []

    def _scan(self, now_ms: int) -> list[Effect]:
        effects = list[Effect]()
        for address, connection in self._routes.silent(
            now_ms - self._times.broker_channel_expired_time
        ):
            self._routes.forget(address)
            effects += self._close(connection)
        return effects

    def _close(self, connection: int) -> list[Effect]:
        self._requests.closed(connection)
        self._routes.gone(connection)
        return [*self._connections.close(connection), *self._take_notes()]

    def _take_notes(self) -> list[Effect]:
        notes = [Note(text) for text in self._notes]
        self._notes.clear()
        return [*notes]
