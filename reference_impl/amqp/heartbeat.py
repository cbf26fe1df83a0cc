"""Heartbeats of one connection, both ways (docs/behaviour/rabbitmq.md 2.1).

1. Half an interval in which nothing went out is ended with a heartbeat.
2. The client is looked for once an interval; two looks in a row that find no octet since the one
   before are its end: 2 to 3 intervals after its last sign of life. Any octet counts.
3. Interval 0: none of this.
"""

from reference_impl.amqp.frames import HEARTBEAT_FRAME
from reference_impl.amqp.session import Session
from reference_impl.process import Arm, Effect, Transmit

SPEAK, LISTEN = "heartbeat speak", "heartbeat listen"
_SILENT_LOOKS_MAX = 2


class Heartbeat:
    def __init__(self, session: Session, interval_s: int) -> None:
        self._session = session
        self._interval_ms = interval_s * 1000
        self._heard = False
        self._silent_looks = 0

    def begin(self) -> list[Effect]:
        if not self._interval_ms:
            return []
        return [self._arm_speaking(), Arm(LISTEN, self._interval_ms)]

    def heard(self) -> None:
        self._heard = True

    def speak(self) -> list[Effect]:
        """Half an interval is over."""
        quiet, self._session.spoke = not self._session.spoke, False
        beat: list[Effect] = [Transmit(HEARTBEAT_FRAME)] if quiet else []
        return [*beat, self._arm_speaking()]

    def listen(self) -> list[Effect] | None:
        """An interval is over. None: the client is gone."""
        self._silent_looks = 0 if self._heard else self._silent_looks + 1
        self._heard = False
        if self._silent_looks >= _SILENT_LOOKS_MAX:
            return None
        return [Arm(LISTEN, self._interval_ms)]

    def _arm_speaking(self) -> Arm:
        return Arm(SPEAK, self._interval_ms // 2)
