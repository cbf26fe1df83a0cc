"""The following of a master by a mirror: bodies round the ring, carried out on its own copy
(docs/behaviour/rabbitmq.md 3.3, 3.4).

event round the ring     on the own copy
Published                enqueued, or held as taken
Discarded                nothing is stored
Dropped(left, n, taken)  all ready beyond `left` goes from the head: held as taken, or for good; of
                         the n, those that were not here made the depths more alike
Acked                    those known go for good; the others made the depths more alike
Requeued                 those known go to their places; others stay unknown (no holes)
Depth                    the difference of depths is known now
Promoted                 another master: all that was taken is ready there, so it is here

Differs from RabbitMQ in the last: there a mirror that is not promoted keeps what was taken, and
fails an assertion when the new master hands out such a message without acknowledgement.
"""

from collections.abc import Callable, Iterable
from typing import Any

from reference_impl.mirrored.backing import Backing
from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.messages import (
    Acked,
    Body,
    Discarded,
    Dropped,
    Promoted,
    Published,
    Requeued,
    SenderDeath,
)
from reference_impl.mirrored.messages import Depth as DepthTold
from reference_impl.mirrored.senders import Life, Senders, Status
from reference_impl.pid import Pid
from reference_impl.protocol.queues import Deliver, Message

# --- Depth ---------------------------------------------------------------------------------------
# The difference between a mirror and its master: by depth, not by length
# (docs/behaviour/rabbitmq.md 3.4).
#
# 1. The difference is unknown until the master has said its depth. It never grows: what the mirror
#    does not hold can only leave the master.
# 2. 0 is for good: the mirror is synchronised, and stays so as long as it lives.
# 3. If that does not come true, the mirror holds something that its master does not (an older,
#    unsynchronised mirror was promoted): it is of no use, and crashes, as RabbitMQ's does.
#
# delta:  unknown --depth--> n > 0 --> ... --> 0;  unknown --depth--> 0;
#         any --failed synchronisation--> unknown


class Diverged(Exception):
    """The mirror cannot be what its master says it should be."""


class Depth:
    def __init__(self) -> None:
        self.delta: int | None = None

    @property
    def is_synchronised(self) -> bool:
        return self.delta == 0

    def update(self, master: int, own: int) -> bool:
        """Note the master's depth. Return whether that synchronises it. Raises Diverged."""
        return self._becomes(master - own)

    def less(self, missing: int) -> bool:
        """Note that so many that this mirror does not hold have left the master; return whether it
        is synchronised now. Raises Diverged."""
        if self.delta is None or not missing:
            return False
        return self._becomes(self.delta - missing)

    def synchronised(self) -> bool:
        """By an explicit synchronisation."""
        self.delta = None
        return self._becomes(0)

    def forget(self) -> None:
        self.delta = None

    def _becomes(self, delta: int) -> bool:
        before, self.delta = self.delta, delta
        if delta < 0 or (before is not None and delta > before):
            raise Diverged(f"depth differs by {delta}, before by {before}")
        return delta == 0 and before != 0


# --- Following -----------------------------------------------------------------------------------


class Following:
    def __init__(self, backing: Backing, journal: Journal, senders: Senders) -> None:
        self.backing = backing
        self.senders = senders
        self.depth = Depth()
        self._journal = journal
        self.taken: dict[bytes, int] = {}  # identity -> number
        self.off_disk: dict[int, bytes] = {}  # number -> identity: put, and not on disk yet
        self.is_new_synchronised = False
        self._kinds: dict[type, Callable[[Any], None]] = {
            Published: self._published,
            Dropped: self._dropped,
            Acked: self._acked,
            Requeued: self._requeued,
            Discarded: self._discarded,
            DepthTold: self._depth,
            Promoted: self._promoted,
            SenderDeath: self._sender_death,
        }

    def follow(self, body: Body) -> None:
        """Raises Diverged. Bodies that say nothing about content are passed over."""
        carry_out = self._kinds.get(type(body))
        if carry_out is not None:
            carry_out(body)

    def channel_of(self, body: Body) -> Pid | None:
        """Return the channel to watch because of it."""
        return body.channel if isinstance(body, Published | Discarded) else None

    def copied(self, deliver: Deliver) -> None:
        message = deliver.message
        kept = self._journal.keeps(message)
        self.senders.copied(deliver.channel, deliver.sequence, message, kept)

    def append(self, messages: Iterable[tuple[Message, bool]]) -> None:
        """A batch of an explicit synchronisation."""
        for message, taken in messages:
            self._hold(message, taken)

    def synchronised(self) -> None:
        self._note(self.depth.synchronised())

    def clear(self) -> None:
        """Throws away everything; how far it is behind is unknown again."""
        self.backing.clear()
        self._settle(list(self.off_disk))
        self.taken.clear()
        self.depth.forget()

    def flushed(self, mark: int) -> None:
        self._settle(self._journal.flushed(mark))

    def requeue_all(self) -> None:
        numbers, self.taken = list(self.taken.values()), {}
        self.backing.requeue(numbers)

    # --- bodies

    def _published(self, body: Published) -> None:
        message = body.message
        self._hold(message, body.taken)
        kept = self._journal.keeps(message)
        self.senders.came_round(body.channel, message.identity, Status.PUBLISHED, kept)

    def _discarded(self, body: Discarded) -> None:
        self.senders.came_round(body.channel, body.identity, Status.DISCARDED, False)

    def _dropped(self, body: Dropped) -> None:
        backing = self.backing
        numbers = [backing.take() for _ in range(backing.ready - body.left)]
        if body.taken:
            for number in numbers:
                self.taken[backing.identity(number)] = number
        else:
            self._remove(numbers)
            self._note(self.depth.less(body.dropped - len(numbers)))

    def _acked(self, body: Acked) -> None:
        known = self._known(body.identities)
        self._remove(known)
        self._note(self.depth.less(len(body.identities) - len(known)))

    def _requeued(self, body: Requeued) -> None:
        self.backing.requeue(self._known(body.identities))

    def _depth(self, body: DepthTold) -> None:
        self._note(self.depth.update(body.depth, self.backing.depth))

    def _promoted(self, body: Promoted) -> None:
        self.requeue_all()
        self._note(self.depth.update(body.depth, self.backing.depth))

    def _sender_death(self, body: SenderDeath) -> None:
        self.senders.ends(body.channel, Life.DEAD)

    # --- helpers

    def _hold(self, message: Message, taken: bool) -> None:
        if taken:
            number = self.backing.publish_taken(message)
            self.taken[message.identity] = number
        else:
            number = self.backing.publish(message)
        if self._journal.keeps(message):
            self.off_disk[number] = message.identity

    def _known(self, identities: tuple[bytes, ...]) -> list[int]:
        return [self.taken.pop(identity) for identity in identities if identity in self.taken]

    def _remove(self, numbers: list[int]) -> None:
        self.backing.remove(numbers)
        self._settle(numbers)

    def _settle(self, numbers: Iterable[int]) -> None:
        """Settle what is on disk, or gone before: no confirm waits for the disk any longer."""
        for number in numbers:
            identity = self.off_disk.pop(number, None)
            if identity is not None:
                self.senders.on_disk(identity)

    def _note(self, is_synchronised: bool) -> None:
        self.is_new_synchronised = self.is_new_synchronised or is_synchronised
