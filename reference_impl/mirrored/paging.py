"""How many messages a queue may have in memory, when its node is short of it (seeds/003: the
target RAM count; docs/behaviour/rabbitmq.md 1, items 64 to 66).

1. A node that is not short of memory says nothing, and there is no bound.
2. One that is says for how many seconds of a queue's work there is memory. The queue's work is
   its rate: of messages in, out, given to be acknowledged, and acknowledged.
3. Of those that are not in memory so many keep their number there, that a queue far beyond its
   target has next to none, but always a segment's.
4. A round is bounded, so that no process waits long for it.

Differs from RabbitMQ: there a node hears from each queue for how long its memory lasts, and gives
the average of it back.
"""

from dataclasses import dataclass

from reference_impl.mirrored.store import SEGMENT
from reference_impl.protocol.queues import Message

RATED_MS = 5_000  # a rate is made of so long a time


@dataclass(frozen=True, slots=True)
class Sizes:
    """`segment`: numbers of one; `load`, `load_octets`: of a part of delta that comes into memory
    at once; `batch`: betas become delta in so many at least; `round_octets`: after so many a round
    of messages that go to disk is over."""

    segment: int = SEGMENT
    load: int = 2_048
    load_octets: int = 8 << 20
    batch: int = 4_096
    round_octets: int = 8 << 20


class Away:
    """The part of a message on disk that stays in memory."""

    __slots__ = ("identity", "octets")

    def __init__(self, message: Message) -> None:
        self.identity = message.identity
        self.octets = len(message.body)


def octets_of(found: Message | Away) -> int:
    """Of its body."""
    return found.octets if isinstance(found, Away) else len(found.body)


class Pace:
    """The rate of a queue's work, over the time since it was last told."""

    def __init__(self, now_ms: int) -> None:
        self.moves = 0  # since then
        self._since_ms = now_ms
        self._per_s = 0.0

    def per_s(self, now_ms: int) -> float:
        passed_ms = now_ms - self._since_ms
        if passed_ms >= RATED_MS:
            self._per_s = self.moves * 1000 / passed_ms
            self.moves, self._since_ms = 0, now_ms
        return self._per_s


def target(lasts_s: float, pace: Pace, now_ms: int) -> int:
    """Messages."""
    return int(lasts_s * pace.per_s(now_ms))


def betas(length: int, target: int, segment: int) -> int:
    """Return how many may stay of a queue of this length, without its alphas."""
    if not length:
        return segment
    return max(segment, length - length * length // (length + target))
