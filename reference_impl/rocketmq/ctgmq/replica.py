"""A replica: whether it is master or slave, for how long it may serve, and its connections.

1. After a start it is neither, until a control node says what it is. The last master stays one.
2. It takes a state only if it is not older than the one that it knows.
3. A master serves while it has a lease: it looks at its clock before it takes a message, and again
   before it acknowledges one. It counts the lease from the moment when it asked for it.
4. A new master cuts the part of a message at the end of its log, and begins its epoch there.
5. A master that stops in order gives up its lease first, and then says so.
"""

from collections.abc import Callable
from enum import Enum

from reference_impl.rocketmq.ctgmq.groups import Alter, Enrolled, GroupState
from reference_impl.rocketmq.ctgmq.kept import ReplicaMemory, SharedTopics
from reference_impl.rocketmq.ctgmq.master import ReplicaMaster, Settled
from reference_impl.rocketmq.ctgmq.requests import Beat, ControlAnswer, ControlRequest, Leave
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import ReplicaSettings, Truncation
from reference_impl.rocketmq.ctgmq.slave import ReplicaSlave
from reference_impl.rocketmq.ctgmq.wire import (
    ReplicaFrames,
    ReplicaMessage,
    SlaveAck,
    SlaveHello,
    framed,
)
from reference_impl.rocketmq.effects import COPIES, Clock, Close, Dial, Effect, Transmit
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.store.disk import Disk
from reference_impl.rocketmq.store.log import CommitLog


class ReplicaRole(Enum):
    WAITING = "waiting"
    MASTER = "master"
    SLAVE = "slave"


class BrokerReplica:
    """`ask`: sends a request to all control nodes; each answer is given to `answered`. `cut`:
    removes what stands there and after, from the log and all that is made from it. `topics`:
    None: it has none."""

    def __init__(
        self,
        settings: ReplicaSettings,
        clock: Clock,
        disk: Disk,
        log: CommitLog,
        code: str,
        ask: Callable[[ControlRequest], None],
        cut: Callable[[int], None],
        topics: SharedTopics | None = None,
    ) -> None:
        self._topics = topics
        self._settings = settings
        self._clock = clock
        self.log = log
        self.memory = ReplicaMemory(disk, code)
        self._ask = ask
        self._cut = cut
        self.role = ReplicaRole.WAITING
        self.state = GroupState()
        self.master: ReplicaMaster | None = None
        self._slave: ReplicaSlave | None = None
        self._frames: dict[int, ReplicaFrames] = {}
        self._effects: list[Effect] = []
        self._beat_ms = clock.now_ms()
        self._lease_until_ms = self._beat_ms
        self._leaves = self.is_refused = False
        self._begin()

    def __contains__(self, connection: int) -> bool:
        return connection in self._frames

    @property
    def epoch(self) -> int:
        return self.state.epoch

    @property
    def has_lease(self) -> bool:
        if not self._settings.keeps(ReplicaRule.LEASE):
            return True
        return self._clock.now_ms() < self._lease_until_ms

    @property
    def takes_puts(self) -> bool:
        return self.master is not None and self.has_lease and self.master.takes_puts

    @property
    def visible(self) -> int:
        """Return up to where readers see the log."""
        if not self._settings.keeps(ReplicaRule.READ_CONFIRMED):
            return self.log.end
        if self.master is not None:
            return self.master.confirmed
        return self.log.start if self._slave is None else self._slave.confirmed

    def wait(self, end: int, settled: Settled) -> None:
        """`settled` gets, later, whether every member has the log up to there."""
        assert self.master is not None, "no slave takes messages"
        self.master.wait(end, settled)

    def code(self, is_confirmed: bool) -> Code:
        """Return the code for a producer. Those of a slave that was late, or not there, are no
        errors for clients: they do not send again, and the message may be cut."""
        if is_confirmed:
            return Code.SUCCESS
        if self._settings.keeps(ReplicaRule.ERROR_CODES):
            return Code.SERVICE_NOT_AVAILABLE
        return Code.FLUSH_SLAVE_TIMEOUT

    # --- control nodes

    def answered(self, sent_ms: int, answer: ControlAnswer) -> None:
        """A control node answered what was asked then."""
        state = answer.state
        if state is None or self._leaves:
            return
        self.is_refused = answer.is_refused
        if answer.is_refused:
            self._wait_for_role()
            return
        if state.age < self.state.age and self._settings.keeps(ReplicaRule.FENCE_STATE):
            return
        is_same = state.epoch == self.state.epoch and self.role is not ReplicaRole.WAITING
        self.state = state
        if not is_same:
            self._change_role()
        if self.master is not None:
            self.master.adopt(state)
            if answer.age_ms is not None:
                until_ms = sent_ms + self._settings.times.lease - answer.age_ms
                self._lease_until_ms = max(self._lease_until_ms, until_ms)

    def leave(self) -> list[Effect]:
        """Stop in order; return the last effects."""
        was_master = self.master is not None
        self._leaves = True
        self._wait_for_role()
        self.log.flush()
        if was_master:
            self._ask(Leave(self._settings.group, self._settings.name))
        return self.take()

    # --- connections

    def opened(self, connection: int, dialled: str | None) -> None:
        self._frames[connection] = ReplicaFrames()
        if dialled is not None:
            if self._slave is None or dialled != self._slave.address or self._slave.connection:
                self._hang_up(connection)
            else:
                self._slave.opened(connection)

    def refused(self, address: str) -> None:
        if self._slave is not None and self._slave.address == address:
            self._slave.closed()

    def received(self, connection: int, octets: bytes) -> None:
        try:
            for message in self._frames[connection].take(octets):
                if connection in self._frames and not self._take(connection, message):
                    self._hang_up(connection)
        except ValueError:
            self._hang_up(connection)

    def closed(self, connection: int) -> None:
        self._frames.pop(connection, None)
        if self.master is not None:
            self.master.closed(connection)
        if self._slave is not None and self._slave.connection == connection:
            self._slave.closed()

    # --- turns

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        if now_ms >= self._beat_ms and not self._leaves:
            self._beat_ms = now_ms + self._settings.times.beat
            own = self._settings
            enrolled = Enrolled(self.memory.code, own.address, own.serves)
            self._ask(Beat(own.group, own.name, enrolled, self.log.end))
        if self.master is not None:
            self.master.tick()
        slave = self._slave
        if slave is not None and slave.dial_ms is not None and now_ms >= slave.dial_ms:
            slave.dial_ms = None
            self._effects.append(Dial(slave.address, COPIES))

    def take(self) -> list[Effect]:
        """Return the effects of this turn."""
        if self.master is not None:
            if self._settings.flushes:
                self.log.flush()
            on_ack = self._settings.keeps(ReplicaRule.LEASE_ON_ACK)
            self.master.turn(self.has_lease or not on_ack)
            if not self._settings.keeps(ReplicaRule.ACK_EPOCH):
                self._acknowledge_the_last_master()
        effects, self._effects = self._effects, []
        return effects

    # --- roles

    def _begin(self) -> None:
        memory, log = self.memory, self.log
        memory.epochs = [one for one in memory.epochs if one[1] <= log.end]
        if not self._settings.keeps(ReplicaRule.ASK_FIRST):
            self._cut_unacknowledged()
        if memory.led_epoch and not self._settings.keeps(ReplicaRule.CONFIRMED_ROLE):
            name = self._settings.name
            self.state = GroupState({}, name, memory.led_epoch, (name,), 0)
            self._lead()
            self._lease_until_ms = self._clock.now_ms() + self._settings.times.lease

    def _change_role(self) -> None:
        if self.state.master == self._settings.name:
            self._lead()
        elif self.state.master:
            self._follow()

    def _lead(self) -> None:
        self._wait_for_role()
        if self._settings.keeps(ReplicaRule.BOUNDARY):
            self._cut_partial_message()
        self.memory.begin(self.state.epoch, self.log.end)
        self.memory.lead(self.state.epoch)
        self.role = ReplicaRole.MASTER
        self.master = ReplicaMaster(
            self._settings,
            self._clock,
            self.log,
            self.memory,
            self.state,
            self._send,
            self._propose,
            self._topics,
        )

    def _follow(self) -> None:
        self._wait_for_role()
        is_over = self.memory.led_epoch and self.memory.led_epoch < self.state.epoch
        if is_over and self._settings.truncation is Truncation.SLAVE_ACK:
            self._cut_unacknowledged()
        self.role = ReplicaRole.SLAVE
        address = self.state.replicas[self.state.master].address
        self._slave = ReplicaSlave(
            self._settings,
            self._clock,
            self.log,
            self.memory,
            (address, self.state.epoch),
            self._send,
            self._cut,
            self._topics,
        )

    def _wait_for_role(self) -> None:
        """Be neither; nothing of the last role goes on."""
        self._lease_until_ms = min(self._lease_until_ms, self._clock.now_ms())
        self.role = ReplicaRole.WAITING
        if self.master is not None:
            self.master.fail()
        self.master = None
        keeps = self._settings.keeps(ReplicaRule.ACK_EPOCH)
        if self._slave is not None and keeps:
            self._slave = None
        for connection in [*self._frames]:
            if keeps or self._slave is None or connection != self._slave.connection:
                self._hang_up(connection)

    def _cut_unacknowledged(self) -> None:
        """Cut what no slave had acknowledged when this one was the master."""
        if self.memory.led_epoch:
            end = self.log.start
            for record in self.log.records(self.log.start):
                if record.position + record.octets > self.memory.slave_ack:
                    break
                end = record.position + record.octets
            self._cut(min(end, self.log.end))
            self.memory.cut(self.log.end)

    def _cut_partial_message(self) -> None:
        end = self.log.end
        self.log.recover()
        if self.log.end < end:
            self._cut(self.log.end)

    # --- messages

    def _take(self, connection: int, message: ReplicaMessage) -> bool:
        master, slave = self.master, self._slave
        if isinstance(message, SlaveHello):
            return master is not None and master.hello(connection, message)
        if isinstance(message, SlaveAck):
            if master is None:
                return False
            master.acknowledged(connection, message)
            return True
        if slave is None or slave.connection != connection or self.master is not None:
            return False
        return slave.take(message)

    def _acknowledge_the_last_master(self) -> None:
        """Without its rule a promoted slave goes on to say how long its log is."""
        if self._slave is not None and self._slave.connection is not None:
            self._send(self._slave.connection, SlaveAck(self.epoch, self.log.end))

    def _send(self, connection: int, message: ReplicaMessage) -> None:
        self._effects.append(Transmit(connection, framed(message)))

    def _propose(self, alter: Alter) -> None:
        if not self._leaves:
            self._ask(alter)

    def _hang_up(self, connection: int) -> None:
        self._effects.append(Close(connection))
        self.closed(connection)
