"""A name server: its connections, their requests, and the brokers that it gives up.

1. A broker is given up when its connection ends, by either side; when nothing was said on it for
   the idle time; or when the scan finds that it has not registered for the expiry time, which
   closes its connection, too. The first two come before the third if all is well.
2. A name server that has stood still finds all brokers silent when it goes on, and gives up those
   that are well: its clock went on, and what they had sent was not read. The scan comes before
   the octets that wait, as it does in the real one, whose timers and readers are other threads.
3. It may have a control node, which decides who is master (ctgmq). Tools ask it at the name
   server's own port, or at the one for control nodes, as they do in RocketMQ 5.
"""

import random
from collections.abc import Mapping

from reference_impl.rocketmq.ctgmq.node import ControlNode
from reference_impl.rocketmq.effects import MEMBERS, Clock, Effect, Note
from reference_impl.rocketmq.naming.controlling import Controlling
from reference_impl.rocketmq.naming.requests import Requests
from reference_impl.rocketmq.naming.routes import Routes
from reference_impl.rocketmq.remoting.command import Command
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
        node: ControlNode | None = None,
    ) -> None:
        self._node = node
        controlling = None if node is None else Controlling(node, self._send_later)
        if node is not None and controlling is not None:
            node.member.answer_also(controlling.handlers)
        self._late: list[Effect] = []  # answers of its control node
        self._clock = clock
        self._times = times or NameServerTimes()
        self._notes: list[str] = []
        self._routes = Routes(self._notes.append)
        self._requests = Requests(
            self._routes,
            clock,
            configured or {},
            secret,
            dice or random.SystemRandom(),
            controlling,
        )
        self._connections = Connections(self._times.server_channel_max_idle_time)
        self._scan_ms = clock.now_ms() + self._times.scan_first

    def opened(
        self,
        connection: int,
        peer: str,
        door: str,
        dialled: str | None,
    ) -> list[Effect]:
        if door == MEMBERS and self._node is not None:
            self._node.member.opened(connection, peer, dialled)
            return self._turned()
        assert dialled is None, "a name server never dials"
        self._connections.opened(connection, peer, self._clock.now_ms())
        return []

    def refused(self, address: str, door: str) -> list[Effect]:
        if door == MEMBERS and self._node is not None:
            self._node.member.refused(address)
            return self._turned()
        raise AssertionError(f"a name server never dials, nor {address}")

    def received(self, connection: int, octets: bytes) -> list[Effect]:
        now_ms, effects = self._clock.now_ms(), list[Effect]()
        if self._node is not None and connection in self._node.member:
            self._node.member.received(connection, octets)
            return self._turned()
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
        return effects + self._take_notes() + self._turned()

    def closed(self, connection: int) -> list[Effect]:
        if self._node is not None and connection in self._node.member:
            self._node.member.closed(connection)
            return self._turned()
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
        if self._node is not None:
            self._node.member.tick()
        return effects + self._turned()

    def stop(self) -> list[Effect]:
        """Stop without a notice: brokers and clients see it by their connections."""
        if self._node is not None:
            self._node.member.stop()
        return []

    def _turned(self) -> list[Effect]:
        """Return what its control node has to say."""
        members = [] if self._node is None else self._node.take()
        late, self._late = self._late, []
        return members + late

    def _send_later(self, connection: int, command: Command) -> None:
        self._late += self._connections.send(connection, command, self._clock.now_ms())

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
