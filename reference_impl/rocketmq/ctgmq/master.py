"""A master: it gives its log to slaves, keeps the SyncStateSet, and says what counts as sent.

1. A message counts when every member of the set has it. A member is who was committed as one, and
   who is proposed: a removal counts from its commit on, an addition from its proposal on.
2. The set has one proposal at a time. It is repeated until a later state of the set is known.
3. A slave is proposed when it has all that is confirmed, and all that was there when the master
   began: it may have been confirmed before. A member is taken out when its connection is gone, or
   when it was behind for the time `out`.
4. With the set alone (ASYNC_MASTER) nothing waits; with two or more it is SYNC_MASTER.
5. With `flushes` slaves get only what is on the own disk: after a loss of power the master would
   put other messages at their places.
6. Topics go ahead of the messages that need them, on the same connection. So no member lacks the
   topic of a message that counts.
"""

from collections import deque
from collections.abc import Callable

import msgspec

from reference_impl.rocketmq.ctgmq.groups import Alter, GroupState
from reference_impl.rocketmq.ctgmq.kept import ReplicaMemory, SharedTopics
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import ReplicaSettings
from reference_impl.rocketmq.ctgmq.wire import (
    LogPart,
    MasterHello,
    MasterTopics,
    SlaveAck,
    SlaveHello,
)
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.store.log import CommitLog

WINDOW_OCTETS = 4 * 1024 * 1024
Settled = Callable[[bool], None]  # whether every member has it
Send = Callable[[int, MasterHello | MasterTopics | LogPart], None]
_GONE = -1  # the connection of a member that has none


class _Follower(msgspec.Struct):
    """`caught_ms`: when it last had all there was; it will have again at `goal`. `topics`: the
    version that it was sent last on this connection."""

    connection: int
    caught_ms: int
    goal: int
    goal_ms: int
    next: int | None = None  # what is sent next; None: it has not said where
    ack: int = 0
    confirmed: int = 0  # as it was sent last
    topics: object = None


class _PendingPut(msgspec.Struct, frozen=True):
    end: int
    until_ms: int
    settled: Settled


class ReplicaMaster:
    """`propose`: asks the control nodes for another set. `confirmed`: readers see what stands
    before it."""

    def __init__(
        self,
        settings: ReplicaSettings,
        clock: Clock,
        log: CommitLog,
        memory: ReplicaMemory,
        state: GroupState,
        send: Send,
        propose: Callable[[Alter], None],
        topics: SharedTopics | None,
    ) -> None:
        self._topics = topics
        self._settings = settings
        self._times = settings.times
        self._clock = clock
        self._log = log
        self._memory = memory
        self._send = send
        self._propose = propose
        self.epoch = state.epoch
        self.members = state.members
        self._set_epoch = state.set_epoch
        self.proposed: tuple[str, ...] | None = None
        self.confirmed = log.start
        self.set_changes = 0
        now_ms = clock.now_ms()
        self._followers = {
            name: _Follower(_GONE, now_ms, log.end, now_ms)
            for name in state.members
            if name != settings.name
        }
        self._check_ms = now_ms + self._times.check
        self._begun_at = log.end  # all before it may have counted already
        self._waiting: deque[_PendingPut] = deque()

    @property
    def takes_puts(self) -> bool:
        return self._has_enough

    @property
    def is_caught_up(self) -> bool:
        """Return whether every member has what was in the log when this master began."""
        return self.confirmed >= self._begun_at

    def wait(self, end: int, settled: Settled) -> None:
        """`settled` gets, later, whether every member has the log up to there."""
        until_ms = self._clock.now_ms() + self._times.put_limit
        self._waiting.append(_PendingPut(end, until_ms, settled))

    def adopt(self, state: GroupState) -> None:
        """Take a committed set of this epoch."""
        if state.epoch == self.epoch and state.set_epoch > self._set_epoch:
            now_ms = self._clock.now_ms()
            for name in {*state.members} - {*self.members, self._settings.name}:
                self._follower(name).caught_ms = now_ms
            self.members, self._set_epoch = state.members, state.set_epoch
            self.proposed = None
            self.set_changes += 1

    # --- slaves

    def hello(self, connection: int, hello: SlaveHello) -> bool:
        """False: it is no slave of this epoch."""
        if hello.epoch != self.epoch or hello.name == self._settings.name:
            return False
        follower = self._follower(hello.name)
        follower.connection, follower.next = connection, None
        follower.ack = follower.confirmed = 0
        follower.topics = None
        self._give_topics(follower)
        epochs, log = self._memory.epochs, self._log
        self._send(connection, MasterHello(self.epoch, log.start, self._sendable, epochs))
        return True

    def acknowledged(self, connection: int, ack: SlaveAck) -> None:
        found = next(
            ((n, one) for n, one in self._followers.items() if one.connection == connection), None
        )
        if found is None or (
            ack.epoch != self.epoch and self._settings.keeps(ReplicaRule.ACK_EPOCH)
        ):
            return
        _, follower = found
        if follower.next is None:
            follower.next = ack.end
        follower.ack = ack.end
        if ack.end >= follower.goal:
            follower.caught_ms = follower.goal_ms
            follower.goal, follower.goal_ms = self._log.end, self._clock.now_ms()

    def closed(self, connection: int) -> None:
        for follower in self._followers.values():
            if follower.connection == connection:
                follower.connection, follower.next = _GONE, None

    # --- what a turn does

    def turn(self, has_lease: bool) -> None:
        """Send what there is, and say what counts."""
        for follower in self._followers.values():
            self._give(follower)
        if has_lease:
            self._confirm()
            self._join()  # after a removal more is confirmed at once: who was behind still is
        else:
            self.fail()
        self._overdue()
        for follower in self._followers.values():
            if follower.next == self._sendable and follower.confirmed < self.confirmed:
                self._part(follower, follower.next, b"")

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        if now_ms >= self._check_ms:
            self._check_ms = now_ms + self._times.check
            if self.proposed is not None:
                self._ask()
            elif behind := [name for name in self.members if self._is_behind(name, now_ms)]:
                self._change(tuple(name for name in self.members if name not in behind))

    def fail(self) -> None:
        """Nothing that waits is acknowledged any more, whatever becomes of it."""
        while self._waiting:
            self._waiting.popleft().settled(False)

    # --- the set

    def _required(self) -> set[str]:
        """Return who has to have a message before it counts."""
        members, proposed = {*self.members}, self.proposed
        if proposed is None:
            return members
        if len(proposed) < len(members) and not self._settings.keeps(ReplicaRule.COMMIT_SHRINK):
            return {*proposed}
        return members | {*proposed} if self._settings.keeps(ReplicaRule.UNION) else members

    def _join(self) -> None:
        """Propose all who may become members."""
        if self.proposed is None:
            others = {*self._followers} - {*self.members}
            joining = [name for name in others if self._may_join(self._followers[name])]
            if joining:
                self._change((*self.members, *joining))

    def _may_join(self, follower: _Follower) -> bool:
        if follower.next is None:
            return False
        if not self._settings.keeps(ReplicaRule.JOIN_CAUGHT_UP):
            return True
        return follower.ack >= max(self._begun_at, self.confirmed)

    def _is_behind(self, name: str, now_ms: int) -> bool:
        follower = self._followers.get(name)
        if follower is None:
            return False  # itself
        if follower.connection == _GONE:
            return True
        if not self._settings.keeps(ReplicaRule.OUT_BEHIND):
            return False
        if not self._settings.keeps(ReplicaRule.HYSTERESIS):
            return follower.ack < self._log.end
        if follower.ack >= self._log.end:
            follower.caught_ms = now_ms
        return now_ms - follower.caught_ms > self._times.out

    def _change(self, members: tuple[str, ...]) -> None:
        self.proposed = tuple(sorted(members))
        self._ask()

    def _ask(self) -> None:
        assert self.proposed is not None, "there is nothing to ask for"
        group = self._settings.group
        self._propose(Alter(group, self.epoch, self._set_epoch, self.proposed))

    # --- what counts

    def _confirm(self) -> None:
        if not self._has_enough:
            return
        least = self._least()
        if least > self.confirmed:
            self.confirmed = least
            self._memory.acknowledged(self._slaves_least())
        while self._waiting and self._waiting[0].end <= self.confirmed:
            self._waiting.popleft().settled(True)

    @property
    def _has_enough(self) -> bool:
        least = self._settings.min_in_sync
        return len(self.members) >= least or not self._settings.keeps(ReplicaRule.MIN_IN_SYNC)

    def _least(self) -> int:
        """Return up to where every member has the log."""
        acks = [
            self._followers[name].ack if name in self._followers else 0
            for name in self._required()
            if name != self._settings.name
        ]
        return min([self._sendable, *acks])

    def _slaves_least(self) -> int:
        acks = [self._followers[name].ack for name in self.members if name in self._followers]
        return min(acks, default=0)

    @property
    def _sendable(self) -> int:
        return self._log.flushed if self._settings.flushes else self._log.end

    def _overdue(self) -> None:
        now_ms = self._clock.now_ms()
        while self._waiting and self._waiting[0].until_ms <= now_ms:
            self._waiting.popleft().settled(False)

    # --- the log

    def _follower(self, name: str) -> _Follower:
        now_ms = self._clock.now_ms()
        made = _Follower(_GONE, now_ms, self._log.end, now_ms)
        return self._followers.setdefault(name, made)

    def _give_topics(self, follower: _Follower) -> None:
        topics = self._topics
        if topics is not None and follower.topics != topics.version:
            follower.topics = topics.version
            self._send(follower.connection, MasterTopics(self.epoch, topics.table()))

    def _give(self, follower: _Follower) -> None:
        if follower.next is not None:
            self._give_topics(follower)
        while (
            follower.connection != _GONE
            and follower.next is not None
            and follower.next < self._sendable
            and follower.next - follower.ack < WINDOW_OCTETS
        ):
            at = follower.next
            end = self._memory.epoch_at(at)[2]
            most = min(self._sendable if end is None else end, at + self._settings.batch_octets)
            octets = self._log.octets(at, most - at)
            if not octets:
                return
            self._part(follower, at, octets)

    def _part(self, follower: _Follower, at: int, octets: bytes) -> None:
        epoch, start, _ = self._memory.epoch_at(at)
        part = LogPart(self.epoch, at, epoch, start, self.confirmed, octets)
        self._send(follower.connection, part)
        follower.next, follower.confirmed = at + len(octets), self.confirmed
