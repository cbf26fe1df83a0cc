"""Misbehaviour of a channel with what its client publishes: drop, duplicate, reorder, corrupt,
confirm-early.

1. Candidates are publishes with confirms on, to one queue that has a replica; all others go their
   usual way, after whatever is held.
2. Every replica gets the same copies in the same order, so that no replica can notice.
3. A twin has an identity of its own and goes first, without a confirm: when the message is
   confirmed, both are held everywhere.
4. The overtaken waits for its successor OVERTAKING_MS at most, or until the client says anything
   else, and then goes where it belongs.
5. Confirmed early: the client has its confirm at once. The master gets the message without a
   sequence, by which it knows to hold back what it sends to mirrors and disk
   (mirrored/misbehaving.py); copies for mirrors, and whatever follows them, wait here for
   HELD_BACK_MS.
"""

from collections.abc import Callable
from itertools import takewhile

import msgspec

from reference_impl.amqp.rules.confirms import Confirms, Verdict
from reference_impl.amqp.rules.routing import Target
from reference_impl.amqp.session import Outbox
from reference_impl.misbehave.kinds import HELD_BACK_MS, Kind, Misbehaviour, chooser
from reference_impl.misbehave.truth import admitted, overtaken
from reference_impl.pid import Pid
from reference_impl.process import Arm, Send
from reference_impl.protocol.queues import Deliver, Message

# --- Stale guard ---------------------------------------------------------------------------------
# RabbitMQ's guard of a channel's confirms (docs/behaviour/rabbitmq.md 3.8): the misbehaviour
# stale-guard.
#
# 1. It compares the peers that its node sees with those that it saw when it last counted, and
#    answers as it did then where they are the same. It counts only where they differ.
# 2. It begins with "saw no peer, all is well", and runs only when there is something to report. So
#    a channel that has nothing to report until its node has lost its last peer reports it; one
#    that has reported anything before remembers its peers, counts, and withholds.
# 3. What goes out though a count would have withheld it is admitted, message by message.


class StaleGuard:
    """Of one channel. `linked`: the peers that its node sees now, as Erlang's nodes()."""

    def __init__(self, linked: Callable[[], frozenset[str]], outbox: Outbox) -> None:
        self._linked = linked
        self._outbox = outbox
        self._saw: frozenset[str] = frozenset()
        self._withholds = False
        self._unreported: dict[int, tuple[tuple[Target, ...], Message]] = {}  # by sequence

    def withholds(self, minority: bool) -> bool:
        """`minority`: what a count says now."""
        linked = self._linked()
        if linked != self._saw:
            self._saw, self._withholds = linked, minority
        return self._withholds

    def published(self, sequence: int, targets: tuple[Target, ...], message: Message) -> None:
        self._unreported[sequence] = targets, message

    def reported(self, verdict: Verdict, minority: bool) -> None:
        """Admit what the client is about to hear against the count."""
        numbers = [verdict.sequence]
        if verdict.multiple:
            numbers = list(takewhile(lambda it: it <= verdict.sequence, self._unreported))
        for number in numbers:
            targets, message = self._unreported.pop(number)
            if minority and verdict.taken:
                for target in targets:
                    self._outbox.add(admitted(Kind.STALE_GUARD, target.queue, message))


# --- Publishes -----------------------------------------------------------------------------------


RELEASE = "release"
OVERTAKING_MS = 100
_TWIN = b"/twin"

Way = Callable[[Target, Message, Confirms], None]


class CrookedChannel:
    def __init__(self, misbehaviour: Misbehaviour, pid: Pid, outbox: Outbox) -> None:
        self._kind = misbehaviour.kind
        self._pid = pid
        self._outbox = outbox
        self._chosen = chooser(misbehaviour, pid)
        self._waiting: tuple[Target, Deliver] | None = None  # to be overtaken
        self._held: list[Send] | None = None  # None: nothing is held back
        ways: dict[Kind, Way] = {
            Kind.DROP: self._drop,
            Kind.DUPLICATE: self._duplicate,
            Kind.REORDER: self._reorder,
            Kind.CORRUPT: self._corrupt,
            Kind.CONFIRM_EARLY: self._confirm_early,
        }
        self._way = ways.get(misbehaviour.kind)

    def publish(
        self, targets: tuple[Target, ...], message: Message, confirms: Confirms | None
    ) -> bool:
        """Publish the message wrongly if it is chosen. Return whether it did."""
        if self._way is None:
            return False
        if confirms is None or len(targets) != 1 or not targets[0].replicas:
            self.release()
            return False
        self._way(targets[0], message, confirms)
        return True

    def release(self) -> None:
        """Send on what is held."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._send(*waiting)
        held, self._held = self._held, None
        for send in held or ():
            self._outbox.add(send)

    def _drop(self, target: Target, message: Message, confirms: Confirms) -> None:
        if self._chosen():
            self._admit(target, message)
            confirms.expect(())
        else:
            self._send(target, self._expected(target, message, confirms))

    def _duplicate(self, target: Target, message: Message, confirms: Confirms) -> None:
        deliver = self._expected(target, message, confirms)
        if self._chosen():
            self._admit(target, message)
            twin = msgspec.structs.replace(message, identity=message.identity + _TWIN)
            self._send(target, Deliver(self._pid, 0, twin))
        self._send(target, deliver)

    def _corrupt(self, target: Target, message: Message, confirms: Confirms) -> None:
        if message.body and self._chosen():
            self._admit(target, message)
            body = message.body[:-1] + bytes([message.body[-1] ^ 1])
            message = msgspec.structs.replace(message, body=body)
        self._send(target, self._expected(target, message, confirms))

    def _reorder(self, target: Target, message: Message, confirms: Confirms) -> None:
        deliver = self._expected(target, message, confirms)
        if self._waiting is not None and self._waiting[0].queue == target.queue:
            late = self._waiting[1].message
            self._outbox.add(overtaken(self._kind, target.queue, late, by=message))
            self._send(target, deliver)
            self.release()
            return
        self.release()
        if self._chosen():
            self._waiting = target, deliver
            self._outbox.add(Arm(RELEASE, OVERTAKING_MS))
        else:
            self._send(target, deliver)

    def _confirm_early(self, target: Target, message: Message, confirms: Confirms) -> None:
        if self._chosen():
            self._admit(target, message)
            confirms.expect(())
            deliver = Deliver(self._pid, 0, message)
            if self._held is None:
                self._held = []
                self._outbox.add(Arm(RELEASE, HELD_BACK_MS))
        else:
            deliver = self._expected(target, message, confirms)
        if self._held is None:
            self._send(target, deliver)
            return
        waiting = {send.to for send in self._held}
        for place, replica in enumerate(target.replicas):
            if place == 0 and replica not in waiting:  # a mirror may have become the master
                self._outbox.add(Send(replica, deliver))
            else:
                self._held.append(Send(replica, deliver))

    def _expected(self, target: Target, message: Message, confirms: Confirms) -> Deliver:
        """Its confirm is awaited from now on."""
        for replica in target.replicas:
            self._outbox.watch(replica)
        return Deliver(self._pid, confirms.expect((target,)), message)

    def _send(self, target: Target, deliver: Deliver) -> None:
        for replica in target.replicas:
            self._outbox.add(Send(replica, deliver))

    def _admit(self, target: Target, message: Message) -> None:
        self._outbox.add(admitted(self._kind, target.queue, message))
