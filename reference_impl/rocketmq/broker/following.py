"""A slave (docs/behaviour/rocketmq.md 6): it asks for its master's log from its own end on.

1. The one thing that is looked at: what comes has to begin where the own log ends, unless that is
   empty. If not, the connection is closed, and dialled again ha_reconnect later.
2. It reports after every part, and whenever it has been silent for ha_send_heartbeat_interval: on
   a new connection it is silent for so long at first, while its master takes it for a slave that
   confirms.
3. It never gives up a master that says nothing: what it looks at is when it spoke itself, and it
   does speak.
4. Where there is a secret, both ends prove first that they know it (protocol/handshake.py).
"""

import random

from reference_impl.protocol.handshake import NONCE_OCTETS, Handshake, HandshakeError
from reference_impl.rocketmq.broker.copies import PART, REPORT
from reference_impl.rocketmq.effects import COPIES, Clock
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.store.log import CommitLog
from reference_impl.rocketmq.store.store import Store

PART_OCTETS_MAX = 16 * 1024 * 1024


class Following:
    def __init__(
        self,
        store: Store,
        log: CommitLog,
        config: BrokerSettings,
        clock: Clock,
        outbox: Outbox,
        dice: random.Random,
    ) -> None:
        self._store = store
        self._log = log
        self._config = config
        self._times = config.times
        self._dice = dice
        self._greeting: Handshake | None = None  # None: it is over, or there is none
        self._clock = clock
        self._outbox = outbox
        self._address = ""
        self._connection: int | None = None
        self._dial_ms: int | None = None  # None: connected, or being dialled
        self._unread = bytearray()
        self._reported_ms = 0

    def __contains__(self, connection: int) -> bool:
        return connection == self._connection

    def master_is(self, address: str) -> None:
        if not address or address == self._address:
            return
        self._address = address
        if self._connection is not None:
            self._leave()
        else:
            self._dial_ms = self._clock.now_ms()

    def opened(self, address: str, connection: int) -> None:
        if address != self._address:
            self._outbox.close(connection)
            return
        self._connection, self._dial_ms = connection, None
        self._unread.clear()
        secret = self._config.peer_secret
        if secret:
            nonce, own = self._dice.randbytes(NONCE_OCTETS), self._config.peer_name
            self._greeting = Handshake(secret, own, nonce, self._config.master_name)
        self._reported_ms = self._clock.now_ms()

    def refused(self) -> None:
        self._again()

    def closed(self) -> None:
        self._connection, self._greeting = None, None
        self._again()

    def received(self, octets: bytes) -> None:
        if self._greeting is not None:
            self._greet(self._greeting, octets)
            return
        self._take(octets)

    def _greet(self, greeting: Handshake, octets: bytes) -> None:
        assert self._connection is not None, "whom"
        try:
            answer = greeting.read(octets)
        except HandshakeError:
            self._leave()
            return
        if answer:
            self._outbox.octets(self._connection, answer)
        if greeting.peer is not None:
            self._greeting = None
            self._take(greeting.rest)

    def _take(self, octets: bytes) -> None:
        self._unread += octets
        while (part := self._part()) is not None:
            start, copied = part
            if start != self._log.end and self._log.end:
                self._leave()
                return
            if copied:
                self._log.begin_at(start)
                self._log.append_copy(copied)
                for _ in self._store.copied():
                    pass
                self._report()

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        if self._dial_ms is not None and now_ms >= self._dial_ms and self._address:
            self._dial_ms = None
            self._outbox.dial(self._address, COPIES)
        silent_ms = now_ms - self._reported_ms
        greeted = self._connection is not None and self._greeting is None
        if greeted and silent_ms > self._times.ha_send_heartbeat_interval:
            self._report()

    def _part(self) -> tuple[int, bytes] | None:
        if len(self._unread) < PART.size:
            return None
        start, count = PART.unpack_from(self._unread)
        if not 0 <= count <= PART_OCTETS_MAX:
            self._leave()
            return None
        end = PART.size + count
        if len(self._unread) < end:
            return None
        copied = bytes(self._unread[PART.size : end])
        del self._unread[:end]
        return start, copied

    def _report(self) -> None:
        assert self._connection is not None, "whom to"
        self._outbox.octets(self._connection, REPORT.pack(self._log.end))
        self._reported_ms = self._clock.now_ms()

    def _leave(self) -> None:
        assert self._connection is not None, "whom"
        self._outbox.close(self._connection)
        self._connection, self._greeting = None, None
        self._again()

    def _again(self) -> None:
        self._dial_ms = self._clock.now_ms() + self._times.ha_reconnect
