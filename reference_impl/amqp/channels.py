"""The channels of one connection, by number (docs/behaviour/rabbitmq.md 2.2).

1. A number is free until channel.open, and again after close-ok; anything else on a free number is
   504.
2. On a channel that we closed, everything but close-ok, or a close that crossed ours, is passed
   over.
"""

from collections.abc import Callable

from reference_impl.amqp.channel import Channel, Stand
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.frames import METHOD
from reference_impl.amqp.codec.methods import decode, index_of, method_frame
from reference_impl.amqp.rules.errors import CHANNEL_ERROR, NOT_ALLOWED, AmqpError
from reference_impl.amqp.session import Session
from reference_impl.pid import Pid
from reference_impl.process import As, Effect, Spawn, Transmit, World


class Channels:
    def __init__(self, session: Session, world: World) -> None:
        self.channel_max = session.settings.channel_max
        self._session = session
        self._world = world
        self._channels: dict[int, Channel] = {}
        self._touched: dict[Channel, None] = {}
        self._own: list[Effect] = []

    def frame(self, kind: int, number: int, payload: bytes) -> None:
        """Raises AmqpError where it is the connection's."""
        channel = self._channels.get(number)
        if channel is None or channel.stand is Stand.CLOSED:
            self._open(kind, number, payload)
        elif channel.stand is Stand.OPEN:
            self._touched[channel] = None
            channel.frame(kind, payload)
        else:
            self._closing(kind, number, payload)

    def take(self) -> list[Effect]:
        """Return the effects of the frames since the last call."""
        effects, self._own = self._own, []
        touched, self._touched = self._touched, {}
        for channel in touched:
            follows = channel.take()
            if follows:
                effects.append(As(channel.pid, tuple(follows)))
        return effects

    def finish(self) -> list[Effect]:
        """Every channel ends, when all that the client said on it is carried out."""
        return self._each(Channel.finish)

    def unfinished(self) -> list[Pid]:
        return [it.pid for it in self._channels.values() if it.stand is Stand.OPEN]

    def end(self) -> list[Effect]:
        """Every channel ends now."""
        return self._each(Channel.end)

    def _each(self, ends: Callable[[Channel], list[Effect]]) -> list[Effect]:
        effects = self.take()
        for channel in self._channels.values():
            follows = ends(channel)
            if follows:
                effects.append(As(channel.pid, tuple(follows)))
        return effects

    def _open(self, kind: int, number: int, payload: bytes) -> None:
        method = decode(payload) if kind == METHOD else None
        if isinstance(method, s.ChannelCloseOk):
            return  # of a channel that is long forgotten
        if not isinstance(method, s.ChannelOpen):
            index = method.index if method is not None else (0, 0)
            raise AmqpError(CHANNEL_ERROR, "expected 'channel.open'", index)
        self._check_room()
        channel = Channel(self._world.new_pid(), number, self._session, self._world)
        self._channels[number] = channel
        self._touched[channel] = None
        self._own.append(Spawn(channel.pid, channel, self._session.pid))

    def _closing(self, kind: int, number: int, payload: bytes) -> None:
        index = index_of(payload) if kind == METHOD else None
        if index == s.ChannelCloseOk.index:
            del self._channels[number]
        elif index == s.ChannelClose.index:
            self._own.append(Transmit(method_frame(number, s.ChannelCloseOk())))

    def _check_room(self) -> None:
        there = sum(1 for it in self._channels.values() if it.stand is not Stand.CLOSED)
        if there >= self.channel_max:
            text = (
                f"number of channels opened ({there}) has reached the negotiated channel_max "
                f"({self.channel_max})"
            )
            raise AmqpError(NOT_ALLOWED, text, s.ChannelOpen.index)
