"""A broker: its connections, their requests, and its own ticks.

1. Some answers come later: a send waits for the disk or a slave, a pull for a
   message. No other request waits for them.
2. A tick handles, in this order: connections that are silent, the disk, slaves and requests that
   wait for either, delayed messages, held pulls, name servers.
"""

import random
from collections.abc import Callable, Iterator

import msgspec

from reference_impl.rocketmq.broker import tables
from reference_impl.rocketmq.broker.delays import Delays
from reference_impl.rocketmq.broker.following import Following
from reference_impl.rocketmq.broker.leading import Leading
from reference_impl.rocketmq.broker.locks import Locks
from reference_impl.rocketmq.broker.membership import Membership
from reference_impl.rocketmq.broker.operating import Operating
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.pulling import Pulling
from reference_impl.rocketmq.broker.queries import Queries
from reference_impl.rocketmq.broker.registering import Registering
from reference_impl.rocketmq.broker.retrying import Retrying
from reference_impl.rocketmq.broker.sending import Sending
from reference_impl.rocketmq.broker.switching import Switching
from reference_impl.rocketmq.broker.tables import Copier
from reference_impl.rocketmq.broker.transactions import Transactions
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.effects import COPIES, MEMBERS, Clock, Effect
from reference_impl.rocketmq.remoting.codes import RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.header import HeaderError
from reference_impl.rocketmq.remoting.serving import Handler, IncomingRequest, serve
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.store.disk import Disk
from reference_impl.rocketmq.store.store import Store

# --- The lag of a group, for `consumerProgress` of the tools -------------------------------------
# 1. Topics that the group ever committed an offset of; where it is connected, those that it wants.
# 2. A queue that it never committed anything of counts from its beginning.


_RATE_S = 60  # of what is reported as a group's rate


class Progress:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def handle(self, incoming: IncomingRequest) -> Command:
        """The real one writes a document in which names of a table are documents themselves."""
        group, topic = incoming.fields.text("consumerGroup"), incoming.fields.text("topic", "")
        topics = [one for one in self._topics(group, topic) if self._is_wanted(group, one)]
        rows = ",".join(row for one in topics for row in self._rows(group, one))
        meters = self._parts.meters.by_group
        rate = sum(meters[group, one].per_s(_RATE_S) for one in topics if (group, one) in meters)
        text = f'{{"consumeTps":{rate:.2f},"offsetTable":{{{rows}}}}}'
        return incoming.answer(body=text.encode())

    def _topics(self, group: str, topic: str) -> list[str]:
        return [topic] if topic else self._parts.offsets.topics(group)

    def _is_wanted(self, group: str, topic: str) -> bool:
        known = self._parts.clients.consumers.get(group)
        return known is None or not known.wants or topic in known.wants

    def _rows(self, group: str, topic: str) -> Iterator[str]:
        """`{queue}:{offsets}` of each queue."""
        parts = self._parts
        config = parts.topics.get(topic)
        for number in range(0 if config is None else config.read_queue_nums):
            queue = {"brokerName": parts.config.broker_name, "queueId": number, "topic": topic}
            consumed = parts.offsets.get(group, topic, number) or 0
            last = parts.store.at(topic, number, consumed - 1)
            tables = {
                "brokerOffset": parts.store.ends(topic, number)[1],
                "consumerOffset": consumed,
                "lastTimestamp": 0 if last is None else last.stored_ms,
            }
            yield f"{msgspec.json.encode(queue).decode()}:{msgspec.json.encode(tables).decode()}"


# --- The server ----------------------------------------------------------------------------------


LOOPBACK = bytes((127, 0, 0, 1))
PAGE = 4096  # octets of the operating system's


class BrokerServer:
    """effects.Server. `store_ip`: what its own name stands for, as records tell it."""

    def __init__(
        self,
        config: BrokerSettings,
        clock: Clock,
        disk: Disk,
        dice: random.Random | None = None,
        store_ip: bytes = LOOPBACK,
    ) -> None:
        self._config = config
        self._clock = clock
        drawn = dice or random.SystemRandom()
        self._parts = parts = Parts(config, clock, disk, drawn, store_ip)
        self._delays = Delays(parts)
        self._transactions = Transactions(parts)
        self._pulling = Pulling(parts)
        self._membership = Membership(parts)
        self._following = Following(
            parts.store, parts.commit_log, config, clock, parts.outbox, drawn
        )
        self._copier = Copier(config.times, clock, parts.outbox, parts.calls, self._tables())
        self._registering = Registering(
            config,
            clock,
            parts.outbox,
            parts.calls,
            parts.role,
            parts.topics.registration,
            self._master_is,
        )
        self._leading = self._leads()
        self._handlers = self._all_handlers()
        self._flushed_ms = clock.now_ms()
        self._flush_ms = clock.now_ms() + config.times.flush_interval_commit_log
        self._tables_ms = clock.now_ms() + config.times.flush_consumer_offset_interval

    @property
    def store(self) -> Store:
        return self._parts.store

    def opened(self, connection: int, peer: str, door: str, dialled: str | None) -> list[Effect]:
        if door == COPIES and self._parts.replica is not None:
            self._parts.replica.opened(connection, dialled)
            return self._turned()
        if door == COPIES:
            self._opened_copies(connection, dialled)
            return self._parts.outbox.take()
        if door == MEMBERS:
            self._member.opened(connection, peer, dialled)
            return self._turned()
        self._parts.connections.opened(connection, peer, self._clock.now_ms())
        if dialled is None:
            return []
        if self._registering.dialled(dialled):
            self._registering.opened(dialled, connection)
        else:
            self._copier.opened(dialled, connection)
        return self._parts.outbox.take()

    def refused(self, address: str, door: str) -> list[Effect]:
        if door == COPIES and self._parts.replica is not None:
            self._parts.replica.refused(address)
        elif door == COPIES:
            self._following.refused()
        elif door == MEMBERS:
            self._member.refused(address)
        else:
            self._registering.refused(address)
        return self._turned()

    def received(self, connection: int, octets: bytes) -> list[Effect]:
        if self._is_members(connection):
            self._member.received(connection, octets)
        elif (replica := self._parts.replica) is not None and connection in replica:
            replica.received(connection, octets)
        elif connection in self._following:
            self._following.received(octets)
        elif connection in self._parts.copies:
            self._parts.copies.received(connection, octets)
            self._parts.committing.progress()
        else:
            self._commands(connection, octets)
        return self._turned()

    def closed(self, connection: int) -> list[Effect]:
        if self._is_members(connection):
            self._member.closed(connection)
        elif (replica := self._parts.replica) is not None and connection in replica:
            replica.closed(connection)
        elif connection in self._following:
            self._following.closed()
        else:
            self._parts.copies.closed(connection)
            self._gone(connection)
        return self._turned()

    def tick(self) -> list[Effect]:
        now_ms, parts = self._clock.now_ms(), self._parts
        for connection in parts.connections.idle(now_ms):
            self._gone(connection)
            parts.outbox.close(connection)
        parts.calls.overdue(now_ms)
        if parts.member is not None:
            parts.member.tick()
        if parts.replica is not None:
            parts.replica.tick()
        self._flush(now_ms)
        parts.copies.tick()
        parts.committing.progress()
        self._delays.tick()
        self._transactions.tick()
        self._pulling.tick()
        self._registering.tick()
        if parts.role.is_slave:
            self._following.tick()
            self._copier.tick()
        return self._turned()

    def stop(self) -> list[Effect]:
        """In order: name servers hear of it, and what was written is on the disk."""
        last = [] if self._parts.replica is None else self._parts.replica.leave()
        self._registering.leave()
        self._flush_tables()
        self._parts.store.close()
        if self._parts.member is not None:
            self._parts.member.stop()
        return last + self._parts.outbox.take()

    def _leads(self) -> Leading | Switching | None:
        parts = self._parts
        if parts.member is not None:
            return Leading(parts, parts.member, self._registering.now, self._begin)
        if parts.replica is not None:
            return Switching(parts, parts.replica, self._registering, self._begin)
        return None

    def _begin(self) -> None:
        """Go on as a new master with what waits, and copy no more tables."""
        self._delays.begin()
        self._transactions.begin()
        self._copier.master_is("")

    def _commands(self, connection: int, octets: bytes) -> None:
        parts = self._parts
        try:
            commands = parts.connections.received(connection, octets, self._clock.now_ms())
        except HeaderError:
            self._gone(connection)
            parts.outbox.close(connection)
            return
        for command in commands:
            if command.is_answer:
                parts.calls.answered(connection, command)
                continue
            answer = serve(self._handlers, connection, command)
            if answer is not None:
                parts.outbox.send(connection, answer)

    def _turned(self) -> list[Effect]:
        """Return the effects that one turn leaves for others."""
        self._parts.copies.grown()
        members = [] if self._leading is None else self._leading.turn()
        if self._parts.topics.changed:
            self._parts.topics.changed = False
            self._registering.now()
        return self._parts.outbox.take() + members

    def _flush(self, now_ms: int) -> None:
        parts = self._parts
        if parts.committing.wants_flush or self._is_time_to_flush(now_ms):
            self._flushed_ms = now_ms
            parts.store.flush()
        if now_ms >= self._tables_ms:
            self._tables_ms = now_ms + self._config.times.flush_consumer_offset_interval
            self._flush_tables()

    def _flush_tables(self) -> None:
        self._parts.offsets.flush()
        self._delays.flush()

    def _is_time_to_flush(self, now_ms: int) -> bool:
        """Return whether to flush without a waiting request: some pages are full, or much time is
        over."""
        if now_ms < self._flush_ms:
            return False
        log, times = self._parts.store.log, self._config.times
        self._flush_ms = now_ms + times.flush_interval_commit_log
        full = (log.end - log.flushed) // PAGE >= self._config.flush_commit_log_least_pages
        return full or now_ms - self._flushed_ms >= times.flush_commit_log_thorough_interval

    def _opened_copies(self, connection: int, dialled: str | None) -> None:
        if dialled is not None:
            self._following.opened(dialled, connection)
        elif self._parts.role.is_slave:
            self._parts.outbox.close(connection)  # it has nothing of its own to give away
        else:
            self._parts.copies.opened(connection)

    @property
    def _member(self) -> DledgerMember:
        assert self._parts.member is not None, "it is in no group"
        return self._parts.member

    def _is_members(self, connection: int) -> bool:
        return self._parts.member is not None and connection in self._parts.member

    def _gone(self, connection: int) -> None:
        parts = self._parts
        parts.connections.closed(connection)
        parts.calls.closed(connection)
        self._pulling.closed(connection)
        self._membership.closed(connection)
        self._registering.closed(connection)
        self._copier.closed(connection)

    def _master_is(self, address: str, ha_address: str) -> None:
        if self._parts.role.is_slave:
            self._copier.master_is(address)
            if self._leading is None:
                self._following.master_is(ha_address)

    def _tables(self) -> dict[RequestCode, Callable[[bytes], None]]:
        """Return the tables that a slave copies, and their handlers."""
        parts = self._parts
        return {
            RequestCode.GET_ALL_TOPIC_CONFIG: lambda body: parts.topics.copy(
                tables.read_topics(body)
            ),
            RequestCode.GET_ALL_CONSUMER_OFFSET: lambda body: parts.offsets.copy(
                tables.read_offsets(body)
            ),
            RequestCode.GET_ALL_DELAY_OFFSET: self._delays.copy,
            RequestCode.GET_ALL_SUBSCRIPTION_GROUPS: lambda body: parts.groups.copy(
                tables.read_groups(body)
            ),
        }

    def _all_handlers(self) -> dict[int, Handler]:
        parts = self._parts
        sending, retrying = Sending(parts, parts.dice), Retrying(parts, parts.dice)
        locks = Locks(self._clock, self._config.times.rebalance_lock_max_live_time)
        return {
            RequestCode.SEND_MESSAGE: sending.handle,
            RequestCode.SEND_MESSAGE_V2: sending.handle,
            RequestCode.SEND_BATCH_MESSAGE: sending.handle,
            RequestCode.CONSUMER_SEND_MSG_BACK: retrying.handle,
            RequestCode.END_TRANSACTION: self._transactions.handle,
            RequestCode.PULL_MESSAGE: self._pulling.handle,
            RequestCode.LITE_PULL_MESSAGE: self._pulling.handle,
            RequestCode.LOCK_BATCH_MQ: locks.handle,
            RequestCode.UNLOCK_BATCH_MQ: locks.handle,
            RequestCode.GET_CONSUME_STATS: Progress(parts).handle,
            **self._membership.handlers,
            **Queries(parts).handlers,
            **Operating(parts, self._delays).handlers,
        }
