"""The process of a mirror (docs/behaviour/rabbitmq.md 3.3 to 3.6).

1. It joins the ring, lists itself at the end of the queue's mirrors, and asks for the depth; it
   begins empty.
2. What the master tells round the ring is carried out in that order (following.py). Copies from
   channels say whom to confirm to (senders.py), and remain if the master never told.
3. While it is being synchronised it does nothing else; what comes waits. If the master dies or
   gives up meanwhile, it throws away what it got and is as unsynchronised as one can be.
4. When members died, it asks the records who is the master now (metadata/records.py). If it is
   this one, the process goes on as a master (promotion.py); requests that came before that is
   known wait.
5. It ends when the records do not list it any more, when it may not take over, or on request.

new --Regroup--> joining --a member--> joined --has a state--> listing --listed--> listed
listed --PROMOTED--> (a master)
"""

from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from reference_impl.metadata.records import (
    GONE,
    PROMOTED,
    REFUSED,
    AddMirror,
    MarkSynchronised,
    RecordDeaths,
)
from reference_impl.mirrored.ending import up_to_exit
from reference_impl.mirrored.following import Following
from reference_impl.mirrored.gm import Arrived, Died, Step
from reference_impl.mirrored.messages import (
    Activity,
    AskState,
    Catchup,
    EnsureMonitoring,
    Regroup,
    RequestDepth,
    Retire,
    ShutDown,
    SyncBatch,
    SyncDone,
    SyncReady,
    SyncStart,
    SyncTaken,
)
from reference_impl.mirrored.promotion import promoted
from reference_impl.mirrored.replica import FLUSH, BrokerReplica
from reference_impl.mirrored.senders import Life, Senders
from reference_impl.pid import Pid
from reference_impl.process import (
    NORMAL,
    SHUTDOWN,
    Arm,
    Become,
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
from reference_impl.protocol.queues import Deliver, Looked, LookHere

DEATH_TIMEOUT_MS = 20_000  # how long the master may take to tell of a channel's death
_ENSURE = "ensure-monitoring"
_JOIN, _LIST, _DEATHS, _SYNCHRONISED = 1, 2, 3, 4  # requests; the ring's is 0


class Phase(Enum):
    NEW = auto()
    JOINING = auto()
    JOINED = auto()
    LISTING = auto()
    LISTED = auto()


class Mirror:
    def __init__(self, replica: BrokerReplica) -> None:
        self._replica = replica
        self._ring = replica.ring
        senders = Senders(replica.confirms)
        self._following = Following(replica.backing, replica.journal, senders)
        self._senders = senders
        self._phase = Phase.NEW
        self._dead: tuple[Pid, ...] = ()
        self._open_requests = 0  # RecordDeaths whose result has not come
        self._early: list[Any] = []  # for a master
        self._sync: tuple[int, Pid] | None = None  # reference, and who synchronises
        self._held: deque[Any] = deque()  # until the synchronisation is over
        self._out: list[Effect] = []
        self._kinds: dict[type, Callable[[Any], None]] = {
            Deliver: self._deliver,
            Activity: self._ring_message,
            Catchup: self._ring_message,
            AskState: self._ring_message,
            Timeout: self._timeout,
            Flushed: self._flushed,
            Down: self._down,
            Committed: self._committed,
            Regroup: self._regroup,
            SyncBatch: self._sync_batch,
            SyncDone: self._sync_done,
            Retire: self._retire,
            ShutDown: self._shut_down,
            Pressed: self._replica.pressed,
            LookHere: self._look_here,
        }

    def handle(self, event: Any) -> list[Effect]:
        out = self._out = []
        kind = self._kinds.get(type(event))
        if kind is not None:
            kind(event)
        elif self._open_requests:
            self._early.append(event)
        self._replica.arm(out)
        return up_to_exit(out)

    # --- the two ways of a publish

    def _deliver(self, event: Deliver) -> None:
        if self._sync is not None:
            self._held.append(event)
            return
        self._meet(event.channel)
        self._following.copied(event)
        self._out += self._replica.crediting.carried_out(event.channel)

    def _ring_message(self, event: Activity | Catchup | AskState) -> None:
        self._step(self._ring.receive(event))

    def _flushed(self, event: Flushed) -> None:
        self._following.flushed(event.mark)
        self._out += self._replica.confirms.take()

    def _meet(self, channel: Pid) -> None:
        if channel not in self._senders:
            self._senders.meet(channel)
            self._out.append(Watch(channel))

    def _look_here(self, event: LookHere) -> None:
        held = self._replica.backing.depth
        self._out.append(Send(event.asker, Looked(event.request, held, 0, 0)))

    # --- the ring

    def _step(self, step: Step) -> None:
        self._out += step.effects
        for one in step.happened:
            self._happen(one)
        if step.lost and self._phase not in (Phase.NEW, Phase.JOINING):
            self._end(self._replica.reason_to_end())
        if self._phase is Phase.JOINED and self._ring.has_state:
            self._phase = Phase.LISTING
            replica = self._replica
            running = replica.world.running()
            add = AddMirror(replica.queue, replica.pid, running)
            self._out.append(Transact(_LIST, add))

    def _happen(self, one: Arrived | Died) -> None:
        if self._sync is not None:
            if isinstance(one, Died) and self._sync[1] in one.members:
                self._give_up_sync()
            else:
                self._held.append(one)
                return
        if isinstance(one, Died):
            self._died(one)
        elif isinstance(one.body, SyncStart):
            self._sync_start(one.sender, one.body)
        else:
            self._follow(one)

    def _follow(self, one: Arrived) -> None:
        channel = self._following.channel_of(one.body)
        if channel is not None:
            self._meet(channel)
        self._following.follow(one.body)
        self._say_synchronised()

    def _say_synchronised(self) -> None:
        if self._following.is_new_synchronised and self._phase is Phase.LISTED:
            self._following.is_new_synchronised = False
            mark = MarkSynchronised(self._replica.queue, self._replica.pid)
            self._out.append(Transact(_SYNCHRONISED, mark))

    def _died(self, died: Died) -> None:
        self._dead += died.members
        if self._phase is Phase.LISTED:
            self._record_deaths()

    def _record_deaths(self) -> None:
        replica = self._replica
        running = replica.world.running()
        self._open_requests += 1
        record = RecordDeaths(replica.queue, replica.pid, self._dead, running)
        self._out.append(Transact(_DEATHS, record))

    def _regroup(self, _: Regroup) -> None:
        if self._phase is Phase.NEW:
            self._phase = Phase.JOINING
            self._out.append(Transact(_JOIN, self._ring.join()))
        else:
            self._step(self._ring.regroup())
            self._check_listed()

    def _check_listed(self) -> None:
        record, pid = self._replica.record, self._replica.pid
        if self._phase is not Phase.LISTED:
            return
        if record is None or (record.master != pid and pid not in record.mirrors):
            self._end(self._replica.reason_to_end())

    def _committed(self, event: Committed) -> None:
        if event.request == _JOIN:
            self._joined(event.result)
        elif event.request == _LIST:
            self._listed(event.result)
        elif event.request == _DEATHS:
            self._judged(event.result)

    def _joined(self, joined: bool) -> None:
        if joined:
            self._phase = Phase.JOINED
            self._step(self._ring.regroup())
        else:
            self._end(SHUTDOWN)

    def _listed(self, listed: bool) -> None:
        if not listed:
            self._end(SHUTDOWN)
            return
        self._phase = Phase.LISTED
        self._ring.broadcast(RequestDepth())
        self._say_synchronised()
        if self._dead:
            self._record_deaths()

    def _judged(self, verdict: str) -> None:
        self._open_requests -= 1
        if verdict == PROMOTED:
            self._promote()
        elif verdict == REFUSED:
            self._out.append(Wipe(self._replica.queue))
            self._end(NORMAL)
        elif verdict == GONE:
            self._end(self._replica.reason_to_end())
        elif not self._open_requests:
            self._early.clear()

    def _promote(self) -> None:
        assert self._sync is None, "who synchronised it is dead"
        master, effects = promoted(self._replica, self._following)
        self._out += [Become(master), *effects]
        for event in self._early:
            self._out += master.handle(event)

    # --- being synchronised

    def _sync_start(self, master: Pid, start: SyncStart) -> None:
        pid = self._replica.pid
        if pid not in start.mirrors:
            return
        willing = not self._following.depth.is_synchronised
        if willing:
            self._sync = (start.reference, master)
            self._following.clear()
            self._out.append(Watch(master))
        self._out.append(Send(master, SyncReady(start.reference, pid, willing)))

    def _sync_batch(self, event: SyncBatch) -> None:
        if self._sync is None or self._sync[0] != event.reference:
            return
        self._following.append(event.messages)
        taken = SyncTaken(event.reference, self._replica.pid)
        self._out.append(Send(self._sync[1], taken))

    def _sync_done(self, event: SyncDone) -> None:
        if self._sync is None or self._sync[0] != event.reference:
            return
        if event.whole:
            self._following.synchronised()
            self._say_synchronised()
            self._resume()
        else:
            self._give_up_sync()

    def _give_up_sync(self) -> None:
        self._following.clear()
        self._resume()

    def _resume(self) -> None:
        """What was held goes on in its order, until another synchronisation begins."""
        self._sync = None
        held, self._held = self._held, deque()
        for one in held:
            if isinstance(one, Deliver):
                self._deliver(one)
            elif isinstance(one, Down):
                self._sender_down(one.pid)
            else:
                self._happen(one)

    # --- endings, and what is late

    def _down(self, event: Down) -> None:
        self._out += self._ring.down(event.pid, event.reason)
        if self._sync is not None and event.pid == self._sync[1]:
            self._give_up_sync()
        elif self._sync is not None:
            self._held.append(event)
        else:
            self._sender_down(event.pid)

    def _sender_down(self, pid: Pid) -> None:
        if self._sync is not None:
            self._held.append(Down(pid, ""))
            return
        self._senders.ends(pid, Life.DOWN)
        self._replica.crediting.forget(pid)
        if pid in self._senders:
            self._out.append(Arm(_ENSURE, DEATH_TIMEOUT_MS))

    def _timeout(self, event: Timeout) -> None:
        if event.name == FLUSH:
            self._out += self._replica.flush()
        elif event.name == _ENSURE:
            self._ensure()
        else:
            self._out += self._ring.expired(event.name)

    def _ensure(self) -> None:
        awaiting = self._senders.awaiting_death()
        if awaiting:
            self._ring.broadcast(EnsureMonitoring(awaiting))
            self._out.append(Arm(_ENSURE, DEATH_TIMEOUT_MS))

    def _retire(self, event: Retire) -> None:
        if event.wipe:
            self._out.append(Wipe(self._replica.queue))
        self._end(SHUTDOWN)

    def _shut_down(self, _: ShutDown) -> None:
        self._out += self._replica.flush()
        self._end(SHUTDOWN)

    def _end(self, reason: str) -> None:
        self._out.append(Exit(reason))
