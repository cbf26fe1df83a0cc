"""Rules for the settlement of publishes (docs/behaviour/rabbitmq.md 3.7, items 19, 20, 73).

1. For each queue a publish waits for every replica to which it went. A replica that confirms or
   ends benignly is waited for no more. When none is left, the queue has taken the message if one
   replica confirmed it, and has not if none did.
2. A queue that was deleted (its master ended as NORMAL) has taken it. A mirror that ends so may
   have refused to take over: that says nothing of the queue, and it is merely waited for no more.
   A replica that crashed, or rejected, makes the whole publish rejected at once.
3. Acked when every queue has taken it, or there was none; nacked when one has not. Until then:
   neither, for ever if need be.
4. Coalescing: what is below all that is outstanding or nacked goes out as one `multiple`, the rest
   singly. No number is settled twice.

outcome of one queue:  some confirmed, none pending -> taken;  none confirmed, none pending -> not
a replica goes:  master, NORMAL -> taken;  other benign -> not pending;  CRASH, Reject -> not
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reference_impl.amqp.rules.routing import Target
from reference_impl.pid import Pid
from reference_impl.process import BENIGN, NORMAL


@dataclass(frozen=True, slots=True)
class Verdict:
    """One basic.ack or basic.nack."""

    sequence: int
    multiple: bool
    taken: bool


class _Waiting:
    """One queue of one publish."""

    __slots__ = ("confirmed", "master", "pending")

    def __init__(self, target: Target) -> None:
        self.pending = set(target.replicas)
        self.master = target.master
        self.confirmed = False


class Confirms:
    """The confirms of one channel. Sequences are expected in order, from 1."""

    def __init__(self) -> None:
        self._outstanding: dict[int, dict[str, _Waiting]] = {}
        self._next = 1
        self._floor = 1  # nothing below it is outstanding
        self._acks: list[int] = []
        self._nacks: list[int] = []

    @property
    def outstanding(self) -> bool:
        """Return whether some publish is not settled yet."""
        return bool(self._outstanding)

    @property
    def settled(self) -> bool:
        """Return whether there is a verdict to report to the client."""
        return bool(self._acks or self._nacks)

    def expect(self, targets: Sequence[Target]) -> int:
        """A publish went to these; its sequence."""
        sequence, self._next = self._next, self._next + 1
        if not targets:
            self._acks.append(sequence)
        elif all(target.replicas for target in targets):
            waiting = {target.queue: _Waiting(target) for target in targets}
            self._outstanding[sequence] = waiting
        else:
            self._nacks.append(sequence)
        return sequence

    def confirm(self, queue: str, replica: Pid, sequences: Iterable[int]) -> None:
        outstanding = self._outstanding
        for sequence in sequences:
            queues = outstanding.get(sequence)
            waiting = queues.get(queue) if queues else None
            if waiting is not None and replica in waiting.pending:
                waiting.confirmed = True
                waiting.pending.remove(replica)
                if not waiting.pending:
                    self._take(sequence, queue)

    def reject(self, sequences: Iterable[int]) -> None:
        for sequence in sequences:
            if self._outstanding.pop(sequence, None) is not None:
                self._nacks.append(sequence)

    def down(self, replica: Pid, reason: str) -> None:
        for sequence, queues in list(self._outstanding.items()):
            for queue, waiting in list(queues.items()):
                if replica in waiting.pending:
                    self._lose(sequence, queue, waiting, replica, reason)

    def verdicts(self) -> list[Verdict]:
        """Return the verdicts to report to the client; each once."""
        acks, self._acks = sorted(self._acks), []
        nacks, self._nacks = sorted(self._nacks), []
        floor = self._first_outstanding()
        return [
            *_coalesced(acks, min([floor, *nacks[:1]]), taken=True),
            *_coalesced(nacks, min([floor, *acks[:1]]), taken=False),
        ]

    def _lose(
        self, sequence: int, queue: str, waiting: _Waiting, replica: Pid, reason: str
    ) -> None:
        waiting.pending.remove(replica)
        if reason == NORMAL and replica == waiting.master:
            self._take(sequence, queue)
        elif reason not in BENIGN:
            self.reject([sequence])
        elif not waiting.pending and waiting.confirmed:
            self._take(sequence, queue)
        elif not waiting.pending:
            self.reject([sequence])

    def _take(self, sequence: int, queue: str) -> None:
        queues = self._outstanding[sequence]
        del queues[queue]
        if not queues:
            del self._outstanding[sequence]
            self._acks.append(sequence)

    def _first_outstanding(self) -> int:
        while self._floor < self._next and self._floor not in self._outstanding:
            self._floor += 1
        return self._floor


def _coalesced(sequences: list[int], cutoff: int, taken: bool) -> list[Verdict]:
    """`sequences` sorted. Everything below the cutoff goes as one."""
    if len(sequences) == 1:
        return [Verdict(sequences[0], False, taken)]
    together = [sequence for sequence in sequences if sequence < cutoff]
    singly = sequences[len(together) :]
    first = [Verdict(together[-1], True, taken)] if together else []
    return first + [Verdict(sequence, False, taken) for sequence in singly]
