"""The master's side of an explicit synchronisation (docs/behaviour/rabbitmq.md 3.5).

1. Mirrors are asked round the ring (after all that was broadcast before), answer directly, and
   then get the whole queue, what is taken as well, in batches; each batch waits until every mirror
   has taken the one before.
2. Meanwhile the master serves nothing else (master.py), so that the queue stands still.
3. A mirror that dies is left out; with none left there is nothing more to do.

asking --all answered, some willing--> sending --all sent and taken--> over (whole)
   any --cancelled--> over (not whole: the mirrors throw away what came)
"""

from collections.abc import Iterable, Iterator

from reference_impl.mirrored.messages import SyncBatch, SyncDone, SyncReady, SyncTaken
from reference_impl.pid import Pid
from reference_impl.process import Effect, Send, Watch
from reference_impl.protocol.queues import Message

BATCH_OCTETS_MAX = 8 << 20
Batch = tuple[tuple[Message, bool], ...]


class Syncer:
    def __init__(self, reference: int, mirrors: tuple[Pid, ...], batches: Iterator[Batch]) -> None:
        self.reference = reference
        self.mirrors = mirrors
        self.over = False
        self.sent = 0  # messages
        self._batches = batches
        self._awaited = set(mirrors)
        self._willing: list[Pid] = []
        self._taking: set[Pid] = set()

    def watches(self) -> list[Effect]:
        return [Watch(mirror) for mirror in self.mirrors]

    def ready(self, event: SyncReady) -> list[Effect]:
        if event.reference != self.reference or event.mirror not in self._awaited:
            return []
        self._awaited.discard(event.mirror)
        if event.willing:
            self._willing.append(event.mirror)
        return self._go_on()

    def taken(self, event: SyncTaken) -> list[Effect]:
        if event.reference != self.reference or event.mirror not in self._taking:
            return []
        self._taking.discard(event.mirror)
        return self._go_on()

    def gone(self, mirror: Pid) -> list[Effect]:
        if mirror not in self._awaited and mirror not in self._willing:
            return []
        self._awaited.discard(mirror)
        self._taking.discard(mirror)
        self._willing = [pid for pid in self._willing if pid != mirror]
        return self._go_on()

    def cancel(self) -> list[Effect]:
        """A mirror that has not answered yet gets this after it has."""
        self.over = True
        done = SyncDone(self.reference, False)
        return [Send(mirror, done) for mirror in self.mirrors]

    def _go_on(self) -> list[Effect]:
        if self._awaited or self._taking:
            return []
        messages = next(self._batches, None) if self._willing else None
        if messages is None:
            self.over = True
            done = SyncDone(self.reference, True)
            return [Send(mirror, done) for mirror in self._willing]
        self.sent += len(messages)
        self._taking = set(self._willing)
        batch = SyncBatch(self.reference, messages)
        return [Send(mirror, batch) for mirror in self._willing]


def batches(held: Iterable[tuple[int, Message, bool]], messages_max: int) -> Iterator[Batch]:
    """The whole queue in its order."""
    batch: list[tuple[Message, bool]] = []
    octets = 0
    for _, message, taken in held:
        batch.append((message, taken))
        octets += len(message.body)
        if len(batch) >= messages_max or octets >= BATCH_OCTETS_MAX:
            yield tuple(batch)
            batch, octets = [], 0
    if batch:
        yield tuple(batch)
