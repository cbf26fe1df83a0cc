"""RabbitMQ's guard of a channel's confirms (docs/behaviour/rabbitmq.md 3.8): the misbehaviour
stale-guard.

1. It compares the peers that its node sees with those that it saw when it last counted, and
   answers as it did then where they are the same. It counts only where they differ.
2. It begins with "saw no peer, all is well", and runs only when there is something to report. So
   a channel that has nothing to report until its node has lost its last peer reports it; one that
   has reported anything before remembers its peers, counts, and withholds.
3. What goes out though a count would have withheld it is admitted, message by message.
"""

from collections.abc import Callable
from itertools import takewhile

from reference_impl.amqp.confirms import Verdict
from reference_impl.amqp.routing import Target
from reference_impl.amqp.session import Outbox
from reference_impl.misbehave.kinds import Kind
from reference_impl.misbehave.truth import admitted
from reference_impl.protocol.queues import Message


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
