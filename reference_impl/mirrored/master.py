"""The process of a queue's master (docs/behaviour/rabbitmq.md 3.2, 3.5, 3.6).

1. What channels ask for is serving.py's; here is what makes it a process of a group.
2. While it synchronises mirrors it serves nothing but Look and CancelSync; the rest waits.
3. It synchronises by itself, where policy says so, each mirror that is new and behind.
4. It ends when its queue is deleted (on request, with its last consumer, with the connection that
   owns it, or unused for too long), when the records name another master, or on request.
5. On a graceful stop without a synchronised mirror it takes its mirrors with it, unless policy
   says otherwise: the queue then waits for this node (item 43).

Differs from RabbitMQ: the end of a queue or of its mirrors is not broadcast; the records say it,
and each node's supervisor tells its own replicas.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from reference_impl.metadata import governing
from reference_impl.metadata.records import GONE, ForgetQueue, RecordDeaths, StopMirrors
from reference_impl.mirrored.ending import up_to_exit
from reference_impl.mirrored.gm import Arrived, Died, Step
from reference_impl.mirrored.messages import (
    Activity,
    AskState,
    Catchup,
    Depth,
    EnsureMonitoring,
    Promoted,
    Regroup,
    RequestDepth,
    Retire,
    ShutDown,
    SyncReady,
    SyncTaken,
)
from reference_impl.mirrored.replica import FLUSH, BrokerReplica
from reference_impl.mirrored.serving import Early, Serving, Waiting
from reference_impl.mirrored.synchronising import Synchronising
from reference_impl.pid import Pid
from reference_impl.process import (
    NORMAL,
    SHUTDOWN,
    Arm,
    Committed,
    Down,
    Effect,
    Exit,
    Flushed,
    Pressed,
    Send,
    Timeout,
    Transact,
    Watch,
    Wipe,
)
from reference_impl.protocol.queues import (
    Ack,
    Cancel,
    CancelSync,
    Consume,
    Delete,
    Deliver,
    Discard,
    Done,
    Get,
    Grant,
    Look,
    Purge,
    Refused,
    Requeue,
    Sent,
    Synchronise,
)

PRECONDITION_FAILED = 406
EXPIRES_ARGUMENT = "x-expires"
_EXPIRES = "expires"
_DELETE, _STOP, _DEATHS = 11, 12, 3  # requests; the ring's is 0, a mirror's may still be answered
_FIRST_OF_A_QUEUE = 3  # numbers below are a node's own processes, which are no users


class Master:
    def __init__(
        self,
        replica: BrokerReplica,
        *,
        early: dict[Pid, dict[bytes, Early]] | None = None,
        waiting: dict[int, Waiting] | None = None,
    ) -> None:
        self._replica = replica
        self._ring = replica.ring
        self._serving = serving = Serving(replica, early or {}, waiting or {})
        self._out: list[Effect] = []
        self._dead: tuple[Pid, ...] = ()
        self._sync = Synchronising(replica)
        self._held: deque[Any] = deque()  # until the synchronisation is over
        self._deleting: list[tuple[Pid, int]] | None = None
        self._deleted = 0
        self._stopping = False
        self._is_watching_owner = False
        self._uses: dict[type, Callable[[Any], None]] = {
            Deliver: serving.deliver,
            Ack: serving.ack,
            Consume: self._consume,
            Cancel: self._cancel,
            Get: self._get,
            Discard: serving.ack,
            Requeue: serving.requeue,
            Purge: serving.purge,
            Grant: serving.grant,
            Sent: serving.sent,
            Delete: self._delete,
            Arrived: self._arrived,
        }
        self._kinds: dict[type, Callable[[Any], None]] = {
            Activity: self._ring_message,
            Catchup: self._ring_message,
            AskState: self._ring_message,
            Timeout: self._timeout,
            Flushed: self._flushed,
            Down: self._down,
            Look: self._look,
            Committed: self._committed,
            Regroup: self._regroup,
            Synchronise: lambda _: self._syncing(self._sync.start()),
            CancelSync: lambda _: self._syncing(self._sync.cancel()),
            SyncReady: lambda event: self._syncing(self._sync.ready(event)),
            SyncTaken: lambda event: self._syncing(self._sync.taken(event)),
            Retire: self._retire,
            ShutDown: self._shut_down,
            Pressed: self._replica.pressed,
        }

    def handle(self, event: Any) -> list[Effect]:
        out = self._out = self._serving.out = []
        use = self._uses.get(type(event))
        if use is not None:
            self._use(use, event)
        else:
            kind = self._kinds.get(type(event))
            if kind is not None:
                kind(event)
        self._replica.arm(out)
        return up_to_exit(out)

    def take_over(self, channels: tuple[Pid, ...], late: list[Deliver]) -> list[Effect]:
        """The first that it does after it was promoted."""
        out = self._out = self._serving.out = []
        self._ring.broadcast(Promoted(self._replica.backing.depth))
        for deliver in late:
            self._serving.deliver(deliver, redelivered=True)
        self._replica.backing.mark_redelivered()
        for channel in channels:
            self._serving.meet(channel)
        self._begin()
        self._replica.arm(out)
        return out

    # --- uses: what waits while it synchronises

    def _use(self, use: Callable[[Any], None], event: Any) -> None:
        if self._deleting is not None:
            if type(event) is Delete:
                self._deleting.append((event.channel, event.request))
        elif self._sync.is_on:
            self._held.append(event)
        else:
            use(event)

    def _consume(self, event: Consume) -> None:
        self._serving.consume(event)
        self._await_expiry()

    def _cancel(self, event: Cancel) -> None:
        self._serving.cancel(event)
        self._after_consumer()

    def _get(self, event: Get) -> None:
        self._serving.get(event)
        self._await_expiry()

    def _look(self, event: Look) -> None:
        looked = self._serving.looked(event.request, self._sync.sent)
        self._out.append(Send(event.channel, looked))
        if event.channel.number >= _FIRST_OF_A_QUEUE:
            self._await_expiry()

    def _arrived(self, event: Arrived) -> None:
        match event.body:
            case RequestDepth():
                self._ring.broadcast(Depth(self._replica.backing.depth))
            case EnsureMonitoring(channels=channels):
                for channel in channels:
                    self._serving.meet(channel)

    # --- the ring

    def _ring_message(self, event: Activity | Catchup | AskState) -> None:
        self._step(self._ring.receive(event))

    def _regroup(self, _: Regroup) -> None:
        self._step(self._ring.regroup())
        self._begin()

    def _begin(self) -> None:
        """Or goes on, under what the records say now."""
        record = self._replica.record
        if self._stopping or self._deleting is not None:
            return
        if record is None or record.master != self._replica.pid:
            self._out.append(Exit(self._replica.reason_to_end()))
            return
        if record.owner is not None and not self._is_watching_owner:
            self._is_watching_owner = True
            self._out.append(Watch(record.owner))
        self._await_expiry()
        if not self._sync.is_on:
            self._serving.expire()
        self._out += self._sync.offer()

    def _step(self, step: Step) -> None:
        self._out += step.effects
        for one in step.happened:
            if isinstance(one, Died):
                self._died(one)
            else:
                self._use(self._arrived, one)
        if step.lost and not self._stopping and self._deleting is None:
            self._out.append(Exit(self._replica.reason_to_end()))

    def _died(self, died: Died) -> None:
        self._dead += died.members
        replica = self._replica
        running = replica.world.running()
        record = RecordDeaths(replica.queue, replica.pid, self._dead, running)
        self._out.append(Transact(_DEATHS, record))
        for member in died.members:
            self._syncing(self._sync.gone(member))

    def _syncing(self, effects: list[Effect]) -> None:
        """If that was the end of a synchronisation, what waited goes on in its order, until
        another one begins."""
        self._out += effects
        if self._sync.is_on:
            return
        held, self._held = self._held, deque()
        for event in held:
            if type(event) is Down:
                self._user_down(event)
            elif type(event) is Timeout:
                self._use(self._serving.expired, event)
            else:
                self._use(self._uses[type(event)], event)
        if held and self._deleting is None and not self._stopping:
            self._out += self._sync.offer()

    # --- ends of others

    def _down(self, event: Down) -> None:
        self._out += self._ring.down(event.pid, event.reason)
        self._syncing(self._sync.gone(event.pid))
        self._user_down(event)

    def _user_down(self, event: Down) -> None:
        record = self._replica.record
        if self._deleting is not None:
            return
        if self._sync.is_on:
            self._held.append(event)
        elif record is not None and event.pid == record.owner:
            self._forget_queue([])
        else:
            self._serving.channel_gone(event.pid)
            self._after_consumer()

    def _after_consumer(self) -> None:
        record, consumers = self._replica.record, self._serving.consumers
        self._await_expiry()
        if record is not None and record.auto_delete and consumers.had_any and not consumers:
            self._forget_queue([])

    def _await_expiry(self) -> None:
        """Restart the expiry of the queue at each use (x-expires)."""
        record = self._replica.record
        expires_ms = None if record is None else record.arguments.get(EXPIRES_ARGUMENT)
        if expires_ms is not None:
            self._out.append(Arm(_EXPIRES, expires_ms))

    def _timeout(self, event: Timeout) -> None:
        if event.name == FLUSH:
            self._out += self._replica.flush()
        elif event.name == _EXPIRES:
            if not self._serving.consumers and self._deleting is None:
                self._forget_queue([])
        else:
            self._out += self._ring.expired(event.name)
            self._use(self._serving.expired, event)

    def _flushed(self, event: Flushed) -> None:
        self._serving.flushed(event.mark)
        self._out += self._replica.confirms.take()

    # --- its own end

    def _delete(self, event: Delete) -> None:
        name = self._replica.queue
        if event.if_unused and self._serving.consumers:
            self._refuse(event, f"queue '{name}' in vhost '/' in use")
        elif event.if_empty and self._replica.backing.ready:
            self._refuse(event, f"queue '{name}' in vhost '/' is not empty")
        else:
            self._forget_queue([(event.channel, event.request)])

    def _refuse(self, event: Delete, text: str) -> None:
        self._out.append(Send(event.channel, Refused(event.request, PRECONDITION_FAILED, text)))

    def _forget_queue(self, askers: list[tuple[Pid, int]]) -> None:
        replica = self._replica
        self._deleting = askers
        self._deleted = replica.backing.ready
        replica.journal.flush()  # nothing is written any more
        self._out.append(Wipe(replica.queue))
        self._out.append(Transact(_DELETE, ForgetQueue(replica.queue, replica.pid)))

    def _committed(self, event: Committed) -> None:
        if event.request == _DELETE:
            count = self._deleted
            for channel, request in self._deleting or ():
                self._out.append(Send(channel, Done(request, count)))
                count = 0
            self._out.append(Exit(NORMAL if event.result else SHUTDOWN))
        elif event.request == _STOP or (event.request == _DEATHS and event.result == GONE):
            self._out.append(Exit(SHUTDOWN))

    def _retire(self, event: Retire) -> None:
        if event.wipe:
            self._replica.journal.flush()
            self._out.append(Wipe(self._replica.queue))
        self._leave()

    def _shut_down(self, _: ShutDown) -> None:
        replica = self._replica
        record, tables = replica.record, replica.world.tables
        self._stopping = True
        self._out += self._sync.cancel()
        mirrors = () if record is None else record.mirrors
        if not mirrors or record is None or governing.leaves_on_shutdown(tables, record):
            self._leave()
            return
        self._out += replica.flush()
        stop = StopMirrors(replica.queue, replica.pid, replica.world.running())
        self._out.append(Transact(_STOP, stop))

    def _leave(self) -> None:
        self._out += self._replica.flush()
        self._out.append(Exit(SHUTDOWN))
