"""A master and its slaves (docs/behaviour/rocketmq.md 6): the log is sent on as octets.

1. A slave says how far its log goes, and nothing else: eight octets at a time; only the last
   whole ones count. The master sends from there on, in parts that end anywhere.
2. An empty slave gets the last file from its start, and never what came before.
3. **Nothing is compared.** A slave whose log is longer than the master's is taken at its first
   word, which even counts as having all that the master has; at the second it is sent away.
   `acknowledged` never goes back.
4. A slave that said nothing for ha_housekeeping_interval is sent away.
5. What was sent and not yet reported is at most WINDOW_OCTETS: a slave that stands still does not
   fill the master's memory. The real one has its socket for that.
6. Where there is a secret, both ends prove first that they know it (protocol/handshake.py). Until
   then a slave is none.
"""

import random
import struct

import msgspec

from reference_impl.protocol.handshake import NONCE_OCTETS, Handshake, HandshakeError
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.store.log import CommitLog

REPORT = struct.Struct(">q")
PART = struct.Struct(">qi")  # where it begins, how many octets follow
WINDOW_OCTETS = 4 * 1024 * 1024


class _Slave(msgspec.Struct):
    heard_ms: int
    sent_ms: int
    unread: bytes = b""
    reported: int | None = None
    next: int = 0  # what is sent next
    greeting: Handshake | None = None  # None: it is over, or there is none

    @property
    def is_known(self) -> bool:
        return self.reported is not None


class Copies:
    """committing.Slaves."""

    def __init__(
        self,
        log: CommitLog,
        config: BrokerSettings,
        clock: Clock,
        outbox: Outbox,
        dice: random.Random,
    ) -> None:
        self._log = log
        self._config = config
        self._times = config.times
        self._clock = clock
        self._outbox = outbox
        self._dice = dice
        self._slaves: dict[int, _Slave] = {}  # by connection
        self._held_until_ms = 0
        self.acknowledged = 0

    def __contains__(self, connection: int) -> bool:
        return connection in self._slaves

    def near(self, end: int) -> bool:
        """A connection is enough: whether it said anything yet is not asked."""
        is_one = any(slave.greeting is None for slave in self._slaves.values())
        return is_one and end - self.acknowledged < self._config.ha_slave_fallbehind_max

    def opened(self, connection: int) -> None:
        now_ms = self._clock.now_ms()
        slave = self._slaves[connection] = _Slave(now_ms, now_ms)
        secret, name = self._config.peer_secret, self._config.peer_name
        if secret:
            slave.greeting = Handshake(secret, name, self._dice.randbytes(NONCE_OCTETS), None)
            self._outbox.octets(connection, slave.greeting.begin())

    def closed(self, connection: int) -> None:
        self._slaves.pop(connection, None)

    def received(self, connection: int, octets: bytes) -> None:
        slave = self._slaves[connection]
        slave.heard_ms = self._clock.now_ms()
        if slave.greeting is not None:
            octets = self._greeted(connection, slave, slave.greeting, octets)
        slave.unread += octets
        whole = len(slave.unread) // REPORT.size * REPORT.size
        if whole:
            (reported,) = REPORT.unpack_from(slave.unread, whole - REPORT.size)
            slave.unread = slave.unread[whole:]
            self._reported(connection, slave, reported)

    def _greeted(
        self, connection: int, slave: _Slave, greeting: Handshake, octets: bytes
    ) -> bytes:
        """Return what came behind its proof."""
        try:
            answer = greeting.read(octets)
        except HandshakeError:
            self._away(connection)
            return b""
        if answer:
            self._outbox.octets(connection, answer)
        if greeting.peer is None:
            return b""
        slave.greeting = None
        return greeting.rest

    def grown(self) -> None:
        """There may be more to send."""
        for connection, slave in self._slaves.items():
            if slave.is_known:
                self._send(connection, slave)

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        for connection, slave in [*self._slaves.items()]:
            if now_ms - slave.heard_ms > self._times.ha_housekeeping_interval:
                self._away(connection)
            elif (
                slave.is_known and now_ms - slave.sent_ms > self._times.ha_send_heartbeat_interval
            ):
                self._part(connection, slave, b"")

    def _reported(self, connection: int, slave: _Slave, reported: int) -> None:
        if slave.reported is None:
            slave.next = reported if reported else self._log.file_of(self._log.end)
        elif reported > self._log.end:
            self._away(connection)
            return
        slave.reported = reported
        self.acknowledged = max(self.acknowledged, reported)
        self._send(connection, slave)

    def hold_back(self, until_ms: int) -> None:
        """Slaves get nothing before then (misbehaving.py)."""
        self._held_until_ms = until_ms

    def _send(self, connection: int, slave: _Slave) -> None:
        if self._clock.now_ms() < self._held_until_ms:
            return
        while slave.next < self._log.end and slave.next - (slave.reported or 0) < WINDOW_OCTETS:
            octets = self._log.octets(slave.next, self._config.ha_transfer_batch_size)
            if not octets:
                return
            self._part(connection, slave, octets)

    def _part(self, connection: int, slave: _Slave, octets: bytes) -> None:
        self._outbox.octets(connection, PART.pack(slave.next, len(octets)) + octets)
        slave.next += len(octets)
        slave.sent_ms = self._clock.now_ms()

    def _away(self, connection: int) -> None:
        del self._slaves[connection]
        self._outbox.close(connection)
