"""The shared state of the parts of one broker."""

import random
from collections import defaultdict, deque
from collections.abc import Callable

from reference_impl.rocketmq.broker.clients import BrokerClients
from reference_impl.rocketmq.broker.committing import Committing, Putting
from reference_impl.rocketmq.broker.copies import Copies
from reference_impl.rocketmq.broker.groups import BrokerGroups
from reference_impl.rocketmq.broker.levels import code_by_level
from reference_impl.rocketmq.broker.misbehaving import WITHOUT, CrookedBroker, admit, admit_cut
from reference_impl.rocketmq.broker.offsets import Offsets
from reference_impl.rocketmq.broker.replicating import Acknowledging, Replicating
from reference_impl.rocketmq.broker.topics import BrokerTopics
from reference_impl.rocketmq.ctgmq.message_log import ReplicaLog
from reference_impl.rocketmq.ctgmq.replica import BrokerReplica
from reference_impl.rocketmq.ctgmq.requests import ControlRequest
from reference_impl.rocketmq.ctgmq.settings import of_broker as of_replica
from reference_impl.rocketmq.dledger.entries import LedgerEntry
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.dledger.message_log import LedgerLog
from reference_impl.rocketmq.dledger.settings import of_broker
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.calls import Calls
from reference_impl.rocketmq.remoting.connections import Connections
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.store.disk import Disk
from reference_impl.rocketmq.store.log import FOLDER as COMMIT_LOG
from reference_impl.rocketmq.store.log import CommitLog, MessageLog
from reference_impl.rocketmq.store.records import Draft, host
from reference_impl.rocketmq.store.store import Store

# --- Whether a broker is a master or a slave now, and its number at name servers -----------------


MASTER_ID = 0


class CurrentRole:
    """As configured, where no election decides."""

    def __init__(self, config: BrokerSettings) -> None:
        self.is_slave = config.is_slave
        self.broker_id = config.broker_id
        self.epoch = 0  # of its master, where a control node decides

    def lead(self) -> None:
        self.is_slave, self.broker_id = False, MASTER_ID

    def follow(self, broker_id: int) -> None:
        self.is_slave, self.broker_id = True, broker_id


# --- Meters --------------------------------------------------------------------------------------
# Counts and recent rates of the messages that a broker took and gave out, for tools.
#
# 1. A rate is that of the last seconds by the clock that never goes back; of older ones only the
#    sum is kept.
# 2. A group's rate is reported by topic, as the real one does it.


SPANS_S = 10, 60, 600  # what `putTps` tells
_MS = 1000


class Meter:
    """`total`: since the broker began."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._began_ms = now_ms()
        self._ends: deque[tuple[int, int]] = deque()  # a second, and the total at its end
        self.total = 0

    def add(self, messages: int = 1) -> None:
        self.total += messages
        second = self._now_ms() // _MS
        if self._ends and self._ends[-1][0] == second:
            self._ends.pop()
        self._ends.append((second, self.total))
        # One that is older than every span stays: the sum of all before.
        while len(self._ends) > 1 and self._ends[1][0] < second - max(SPANS_S):
            self._ends.popleft()

    def per_s(self, span_s: int) -> float:
        """Of the last seconds, or of all since the beginning where these are fewer."""
        now_ms = self._now_ms()
        since = now_ms // _MS - span_s
        before = max((total for second, total in self._ends if second <= since), default=0)
        length_s = max(1.0, min(span_s, (now_ms - self._began_ms) / _MS))
        return (self.total - before) / length_s

    def rates_text(self) -> str:
        """Return the rates in the form of `putTps`."""
        return " ".join(f"{self.per_s(span_s):.2f}" for span_s in SPANS_S)


class Meters:
    def __init__(self, clock: Clock) -> None:
        self.put = Meter(clock.now_ms)
        self.given = Meter(clock.now_ms)
        self.by_group: defaultdict[tuple[str, str], Meter] = defaultdict(
            lambda: Meter(clock.now_ms)
        )  # and topic

    def gave(self, group: str, topic: str, messages: int) -> None:
        if messages:
            self.given.add(messages)
            self.by_group[group, topic].add(messages)


# --- The parts -----------------------------------------------------------------------------------


Listener = Callable[[Draft, int, int], None]  # to a message, its offset, and when it was stored


class Parts:
    """`store_ip`: the four octets that its address stands for.

    `when_stored`: is called with each message that readers see from now on."""

    def __init__(
        self,
        config: BrokerSettings,
        clock: Clock,
        disk: Disk,
        dice: random.Random,
        store_ip: bytes,
    ) -> None:
        self.config = config
        self.clock = clock
        self.disk = disk
        self.dice = dice
        self.role = CurrentRole(config)
        self.connections = Connections(config.times.server_channel_max_idle_time)
        self.outbox = Outbox(self.connections, clock)
        self.calls = Calls()
        self.topics = BrokerTopics(disk, clock, config)
        self.groups = BrokerGroups(disk, clock, config)
        self.clients = BrokerClients()
        self.offsets = Offsets(disk)
        self.meters = Meters(clock)
        self.code_of = code_by_level(config.times.delay_units)
        self.when_stored: list[Listener] = []
        self.member = self._member() if config.enable_d_leger_commit_log else None
        log_octets = config.mapped_file_size_commit_log
        self.commit_log = CommitLog(disk.series(COMMIT_LOG, log_octets))
        self.ask_control: Callable[[ControlRequest], None] = lambda _: None
        self._cut: Callable[[int], None] = self.commit_log.truncate
        self.replica = self._replica() if config.enable_ctgmq else None
        self.store = Store(
            disk,
            self.code_of,
            log_octets,
            config.mapped_file_size_consume_queue,
            self._log(),
        )
        self._cut = self.store.cut
        self.copies = Copies(self.commit_log, config, clock, self.outbox, dice)
        self.committing = self._putting()
        self.crooked = (
            CrookedBroker(config, clock, self.committing, self.store, self.outbox, self.copies)
            if config.misbehave
            else None
        )
        self.store_host = host(store_ip, config.listen_port)

    def host_of(self, connection: int) -> bytes:
        """The other end, as a record tells it."""
        return host_of(self.connections.peer(connection))

    def arrived(self, draft: Draft, offset: int, stored_ms: int) -> None:
        """Readers see a message from now on."""
        self.meters.put.add()
        for listener in self.when_stored:
            listener(draft, offset, stored_ms)

    def _log(self) -> MessageLog:
        if self.replica is not None:
            return ReplicaLog(self.commit_log, self.replica)
        return self.commit_log if self.member is None else LedgerLog(self.member)

    def _replica(self) -> BrokerReplica:
        """Raises ValueError."""
        self.commit_log.recover()
        return BrokerReplica(
            of_replica(self.config),
            self.clock,
            self.disk,
            self.commit_log,
            self.dice.randbytes(8).hex(),
            lambda request: self.ask_control(request),
            self._cut_replica,
            self.topics,
        )

    def _cut_replica(self, position: int) -> None:
        if self.config.replica_without and self.config.misbehave_truth:
            kind = f"{WITHOUT}{self.config.replica_without}"
            admit(self.outbox, kind, self.commit_log, position)
        self._cut(position)

    def _putting(self) -> Putting:
        if self.replica is not None:
            return Acknowledging(self.store, self.replica, self.clock)
        if self.member is not None:
            return Replicating(self.store, self.member, self.clock)
        return Committing(
            self.store,
            self.config,
            self.clock,
            self.copies,
            lambda draft, stored: self.arrived(draft, stored.offset, stored.stored_ms),
        )

    def _member(self) -> DledgerMember:
        """Raises ValueError."""

        def cut(position: int) -> None:
            self.store.cut(position)

        def gone(entry: LedgerEntry) -> None:
            if self.config.misbehave_truth:
                admit_cut(self.outbox, self.config.ledger_without, entry)

        return DledgerMember(of_broker(self.config), self.clock, self.disk, self.dice, cut, gone)


def host_of(address: str) -> bytes:
    """Of "a.b.c.d:port"."""
    name, _, port = address.rpartition(":")
    return host(bytes(int(part) for part in name.split(".")), int(port))
