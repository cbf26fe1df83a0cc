"""Times when a client's octets are not read: while it publishes and a node runs short of
something, and while a channel of its is too far ahead (docs/behaviour/rabbitmq.md 2.1).

1. Under an alarm the head of the next publish is the last frame that is carried out. What came
   behind it, its body too, waits for the alarm's end, as RabbitMQ's reader keeps its buffer: else
   each new connection would have a message confirmed. A pure consumer is not blocked. A client
   with the capability gets a notice, before and after.
2. A channel that is ahead of its queues (sharing.py) causes no notice: that passes soon.
3. The silence of a client that is not read is no sign of its death.

open --publish, alarm--> blocked --no alarm--> open
"""

from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.session_methods import ConnectionBlocked, ConnectionUnblocked
from reference_impl.amqp.session import Session
from reference_impl.process import Effect, ReadOn, StopReading, World

CAPABILITY = "connection.blocked"


class Blocking:
    def __init__(self, session: Session, world: World) -> None:
        self._alarms = world.alarms()  # as of the last notice
        self.unread = False
        self._session = session
        self._world = world
        self._blocked = False
        self._short: set[int] = set()  # channels

    @property
    def alarmed(self) -> bool:
        return bool(self._alarms)

    @property
    def holds_frames(self) -> bool:
        return self._blocked

    def content_came(self) -> Method | None:
        """Under an alarm: what is to be said."""
        if self._blocked:
            return None
        self._blocked = True
        short = sorted({name for names in self._alarms.values() for name in names})
        return self._if_supported(ConnectionBlocked(f"low on {' & '.join(short)}"))

    def alarms_changed(self) -> Method | None:
        self._alarms = self._world.alarms()
        if self.alarmed or not self._blocked:
            return None
        self._blocked = False
        return self._if_supported(ConnectionUnblocked())

    def channel_short(self, number: int, short: bool) -> None:
        if short:
            self._short.add(number)
        else:
            self._short.discard(number)

    def reading(self) -> list[Effect]:
        """Return the effects since the last call."""
        unread = self._blocked or bool(self._short)
        if unread is self.unread:
            return []
        self.unread = unread
        return [StopReading() if unread else ReadOn()]

    def over(self) -> list[Effect]:
        """The connection ends: the client's last words are read."""
        unread, self.unread = self.unread, False
        return [ReadOn()] if unread else []

    def _if_supported(self, method: Method) -> Method | None:
        return method if CAPABILITY in self._session.capabilities else None
