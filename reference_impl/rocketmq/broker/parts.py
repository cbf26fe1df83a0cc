"""The shared state of the parts of one broker."""

import random
from collections.abc import Callable

from reference_impl.rocketmq.broker.clients import BrokerClients
from reference_impl.rocketmq.broker.committing import Committing, Putting
from reference_impl.rocketmq.broker.copies import Copies
from reference_impl.rocketmq.broker.groups import BrokerGroups
from reference_impl.rocketmq.broker.levels import code_by_level
from reference_impl.rocketmq.broker.meters import Meters
from reference_impl.rocketmq.broker.misbehaving import CrookedBroker, admit_cut
from reference_impl.rocketmq.broker.offsets import Offsets
from reference_impl.rocketmq.broker.replicating import Acknowledging, Replicating
from reference_impl.rocketmq.broker.role import CurrentRole
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
        self.replica = self._replica() if config.enable_ctgmq else None
        self.store = Store(
            disk,
            self.code_of,
            log_octets,
            config.mapped_file_size_consume_queue,
            self._log(),
        )
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
            lambda position: self.store.cut(position),
        )

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
            admit_cut(self.outbox, self.config.ledger_without, entry)

        return DledgerMember(of_broker(self.config), self.clock, self.disk, self.dice, cut, gone)


def host_of(address: str) -> bytes:
    """Of "a.b.c.d:port"."""
    name, _, port = address.rpartition(":")
    return host(bytes(int(part) for part in name.split(".")), int(port))
