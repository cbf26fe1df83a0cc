"""A connection as its channels know it, and the outbox of a channel."""

from dataclasses import dataclass, field
from typing import Any

from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.methods import method_frame
from reference_impl.amqp.settings import Settings
from reference_impl.pid import Pid
from reference_impl.process import Effect, Exit, Send, Transmit, Watch


@dataclass(slots=True)
class Session:
    """One connection, as negotiated. `spoke`: something went out since the last heartbeat."""

    pid: Pid
    settings: Settings
    frame_max: int
    user: str = ""
    capabilities: frozenset[str] = field(default_factory=frozenset)
    spoke: bool = False


class Outbox:
    """Effects of a channel, in their order; octets for its client leave as one Transmit."""

    def __init__(self, number: int, session: Session) -> None:
        self.number = number
        self.session = session
        self._effects: list[Effect] = []
        self._octets: list[bytes] = []
        self._watched: set[Pid] = set()

    def add(self, effect: Effect) -> None:
        self._effects.append(effect)

    def send(self, to: Pid, body: Any) -> None:
        self._effects.append(Send(to, body))

    def watch(self, pid: Pid) -> None:
        if pid not in self._watched:
            self._watched.add(pid)
            self._effects.append(Watch(pid))

    def down(self, pid: Pid) -> None:
        """A Down came: that watch is used up."""
        self._watched.discard(pid)

    def say(self, method: Method) -> None:
        self._octets.append(method_frame(self.number, method))

    def transmit(self, octets: bytes) -> None:
        self._octets.append(octets)

    def exit(self, reason: str) -> None:
        """The last word: nothing may be added after it."""
        self._flush()
        self._effects.append(Exit(reason))

    def take(self) -> list[Effect]:
        self._flush()
        effects, self._effects = self._effects, []
        return effects

    def _flush(self) -> None:
        if self._octets:
            octets, self._octets = self._octets, []
            self._effects.append(Transmit(octets[0] if len(octets) == 1 else b"".join(octets)))
            self.session.spoke = True
