"""A slave: it makes its log equal to its master's, and takes what comes.

1. It says hello with the epoch of its master, as it knows it. A master of another epoch sends
   it away.
2. Both compare which epoch began where, from the newest one on. What the slave has beyond the end
   of the last epoch that both have is cut. With no epoch in common it takes nothing.
3. If the master's first files are gone, and the slave's log ends before them, it begins again,
   empty, at the master's first position.
4. With SlaveAckOffset instead, only a former master cuts, and nothing is compared.
5. It acknowledges what is in its log; with `flushes`, what is on its disk.
6. It takes its master's topics as they come.
"""

from collections.abc import Callable

from reference_impl.rocketmq.ctgmq.kept import ReplicaMemory, SharedTopics, common_end
from reference_impl.rocketmq.ctgmq.settings import ReplicaSettings, Truncation
from reference_impl.rocketmq.ctgmq.wire import (
    LogPart,
    MasterHello,
    MasterTopics,
    SlaveAck,
    SlaveHello,
)
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.store.log import CommitLog

Say = Callable[[int, SlaveHello | SlaveAck], None]


class ReplicaSlave:
    """Of one master in one epoch. `cut`: removes what stands there and after, from the log and
    all that is made from it. `connection`: None: there is none, or it is not greeted."""

    def __init__(
        self,
        settings: ReplicaSettings,
        clock: Clock,
        log: CommitLog,
        memory: ReplicaMemory,
        master: tuple[str, int],
        say: Say,
        cut: Callable[[int], None],
        topics: SharedTopics | None,
    ) -> None:
        self._topics = topics
        self._settings = settings
        self._clock = clock
        self._log = log
        self._memory = memory
        self.address, self.epoch = master
        self._say = say
        self._cut = cut
        self.connection: int | None = None
        self.dial_ms: int | None = clock.now_ms()  # None: connected, or being dialled
        self._is_matched = False
        self.confirmed = log.start

    def opened(self, connection: int) -> None:
        self.connection, self.dial_ms, self._is_matched = connection, None, False
        self._say(connection, SlaveHello(self.epoch, self._settings.name))

    def closed(self) -> None:
        self.connection, self._is_matched = None, False
        self.dial_ms = self._clock.now_ms() + self._settings.times.redial

    def take(self, message: MasterHello | MasterTopics | LogPart) -> bool:
        """False: the connection is of no use."""
        assert self.connection is not None, "it came on no connection"
        if message.epoch != self.epoch:
            return False
        if isinstance(message, MasterTopics):
            return self._take_topics(message)
        if isinstance(message, MasterHello):
            if self._is_matched or not self._match(message):
                return False
            self._is_matched = True
        elif not self._is_matched or not self._append(message):
            return False
        if self._settings.flushes:
            self._log.flush()
        self._say(self.connection, SlaveAck(self.epoch, self._log.end))
        return True

    def _take_topics(self, message: MasterTopics) -> bool:
        if self._topics is not None:
            try:
                self._topics.take(message.table)
            except ValueError:
                return False
        return True

    def _match(self, master: MasterHello) -> bool:
        log, memory = self._log, self._memory
        if self._settings.truncation is Truncation.SLAVE_ACK:
            if log.end < master.start:
                self._begin_again(master.start)
            return True
        end = common_end(memory.epochs, log.end, master.epochs, master.end)
        if log.end == log.start or (end is not None and end < master.start):
            self._begin_again(master.start)
        elif end is None:
            return False
        elif end < log.end:
            self._cut(end)
        memory.match(master.epochs, log.end)
        return True

    def _begin_again(self, start: int) -> None:
        self._cut(0)
        self._memory.cut(0)
        self._log.begin_at(start)

    def _append(self, part: LogPart) -> bool:
        if part.start != self._log.end:
            return False
        self._memory.begin(part.part_epoch, part.part_start)
        self._log.append_copy(part.octets)
        self.confirmed = max(self.confirmed, min(part.confirmed, self._log.end))
        return True
