"""How the master of a queue misbehaves with what it holds: forget, redeliver, and the master's
part of confirm-early; and of what a queue's next master holds.

1. Forgotten are deliveries that a channel had when it ended under a living master. What was
   unacknowledged when the master itself ended comes back, as ever.
2. An acknowledged message that is to come again stays with the queue as if it were taken, and is
   requeued AGAIN_MS later, once. A master that ends before leaves that to its successor.
3. Confirmed early: nothing is sent, written or confirmed for HELD_BACK_MS from the first such
   message on. Consumers are served meanwhile. Who takes the queue over says what it holds.
"""

from reference_impl.mirrored.replica import FLUSH, BrokerReplica
from reference_impl.misbehave.kinds import HELD_BACK_MS, Kind, Misbehaviour, chooser
from reference_impl.misbehave.truth import HELD, REDELIVERED, admitted
from reference_impl.process import Arm, Disarm, Effect

AGAIN_MS = 1_500  # the analysis takes less than a second for an acknowledgement on its way
_AGAIN = "again"
# What is confirmed so is lost unless the next master has it.
_LEFT_TO_SUCCESSORS = (Kind.CONFIRM_EARLY, Kind.STALE_GUARD)


class CrookedQueue:
    def __init__(self, misbehaviour: Misbehaviour, replica: BrokerReplica) -> None:
        self._kind = misbehaviour.kind
        self._replica = replica
        self._chosen = chooser(misbehaviour, replica.pid)
        self._kept: set[int] = set()

    def hold_back(self, sequence: int, out: list[Effect]) -> None:
        """A message came, confirmed already if it has no sequence."""
        if self._kind is Kind.CONFIRM_EARLY and not sequence and self._replica.hold():
            out += [Disarm(FLUSH), Arm(FLUSH, HELD_BACK_MS)]

    def forget(self, numbers: list[int], out: list[Effect]) -> list[int]:
        """Those of a channel's that are not to be requeued."""
        if self._kind is not Kind.FORGET:
            return []
        return self._admitted([number for number in numbers if self._chosen()], out)

    def keep(self, numbers: list[int], out: list[Effect]) -> list[int]:
        """Of what was acknowledged, that which is to be handed out again."""
        if self._kind is not Kind.REDELIVER:
            return []
        kept = [number for number in numbers if number not in self._kept and self._chosen()]
        self._kept.update(kept)
        out += [Arm(f"{_AGAIN} {number}", AGAIN_MS) for number in kept]
        return self._admitted(kept, out)

    def due(self, timer: str, out: list[Effect]) -> list[int]:
        """What a timer gives back; it may be none of ours."""
        name, _, number = timer.partition(" ")
        if name != _AGAIN:
            return []
        again = int(number)
        message = self._replica.backing.message(again)
        out.append(admitted(REDELIVERED, self._replica.queue, message))
        return [again]

    def _admitted(self, numbers: list[int], out: list[Effect]) -> list[int]:
        if numbers:
            messages = map(self._replica.backing.message, numbers)
            out.append(admitted(self._kind, self._replica.queue, *messages))
        return numbers


def held(replica: BrokerReplica) -> list[Effect]:
    """What the copy that takes the queue over has, where that is part of the truth."""
    misbehaviour = replica.misbehaviour
    if misbehaviour is None or misbehaviour.kind not in _LEFT_TO_SUCCESSORS:
        return []
    messages = [message for _, message, _ in replica.backing.all()]
    return [admitted(HELD, replica.queue, *messages)]
