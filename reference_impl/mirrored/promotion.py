"""The promotion of a mirror to master (docs/behaviour/rabbitmq.md 3.6, items 34 to 37).

1. Everything that was taken is ready again, at its place; everything held counts as redelivered.
2. The other mirrors hear Promoted before anything else from it, and do the same.
3. Copies from channels that never came round are enqueued now, in the order of each channel, and
   broadcast; they count as redelivered too.
4. A channel's copy of what did come round may still be on its way: the master knows it by its
   identity, does not take it a second time, and confirms it.
"""

from reference_impl.mirrored.following import Following
from reference_impl.mirrored.master import Master
from reference_impl.mirrored.misbehaving import held
from reference_impl.mirrored.replica import BrokerReplica
from reference_impl.mirrored.senders import Status
from reference_impl.mirrored.serving import Early, Waiting
from reference_impl.pid import Pid
from reference_impl.process import Effect
from reference_impl.protocol.queues import Deliver


def promoted(replica: BrokerReplica, following: Following) -> tuple[Master, list[Effect]]:
    """The master that goes on under the mirror's Pid, and what it does first."""
    following.requeue_all()
    master = Master(replica, early=_early(following), waiting=_waiting(following))
    senders = following.senders
    late = [Deliver(channel, sequence, message) for channel, sequence, message in senders.lines()]
    effects = master.take_over(tuple(senders), late)
    return master, [*held(replica), *effects]


def _early(following: Following) -> dict[Pid, dict[bytes, Early]]:
    numbers = {identity: number for number, identity in following.off_disk.items()}
    early: dict[Pid, dict[bytes, Early]] = {}
    for channel, identity, status in following.senders.early():
        number = numbers.get(identity) if status is Status.PUBLISHED else None
        early.setdefault(channel, {})[identity] = Early(number)
    return early


def _waiting(following: Following) -> dict[int, Waiting]:
    waiting = {}
    for number, identity in following.off_disk.items():
        pending = following.senders.awaiting_disk(identity)
        if pending is not None:
            waiting[number] = Waiting(pending.channel, pending.sequence)
    return waiting
