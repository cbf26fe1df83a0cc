"""The moment when a message that was put counts as sent (docs/behaviour/rocketmq.md 5, 6).

1. It is in the log, and readers see it, before any wait: every answer except SUCCESS says
   "stored, and with a weaker promise".
2. SYNC_FLUSH waits for the disk, SYNC_MASTER for one slave, whichever; both at once. Where both
   fail the slave's answer is given.
3. Without a slave, or with one that is too far behind, there is no wait for it.
4. A message may say that it waits for nothing (WAIT=false).
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

import msgspec

from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.settings import BrokerSettings, Flush, Role
from reference_impl.rocketmq.store.records import Draft
from reference_impl.rocketmq.store.store import Store, Stored

Done = Callable[[Code, Stored], None]
Arrived = Callable[[Draft, Stored], None]


class Slaves(Protocol):
    """The slaves as their master knows them."""

    @property
    def acknowledged(self) -> int:
        """Up to where some slave once had the log; it never goes back."""

    def near(self, end: int) -> bool:
        """Return whether one is connected that is not too far behind."""


class Putting(Protocol):
    """Where messages are put; `done` gets the code, at once or later."""

    def put(self, draft: Draft, done: Done, waits: bool = True) -> None: ...

    def progress(self) -> None:
        """The disk, a slave or time went on."""

    @property
    def wants_flush(self) -> bool: ...


class _PendingCommit(msgspec.Struct):
    stored: Stored
    done: Done
    for_disk: bool
    for_slave: bool
    disk_until_ms: int
    slave_until_ms: int
    code: Code = Code.SUCCESS


class Committing:
    """Putting, of a master or a slave."""

    def __init__(
        self, store: Store, config: BrokerSettings, clock: Clock, slaves: Slaves, arrived: Arrived
    ) -> None:
        self._store = store
        self._times = config.times
        self._is_flushed = config.flush_disk_type is Flush.SYNC_FLUSH
        self._is_copied = config.broker_role is Role.SYNC_MASTER
        self._clock = clock
        self._slaves = slaves
        self._arrived = arrived
        self._waiting: deque[_PendingCommit] = deque()

    def put(self, draft: Draft, done: Done, waits: bool = True) -> None:
        stored = self._store.put(draft, self._clock.wall_ms())
        self._arrived(draft, stored)
        one = self._begun(stored, done, waits)
        if one.for_disk or one.for_slave:
            self._waiting.append(one)
        else:
            done(one.code, stored)

    def progress(self) -> None:
        """The disk, a slave or time went on."""
        now_ms = self._clock.now_ms()
        going_on = deque[_PendingCommit]()
        while self._waiting:
            one = self._waiting.popleft()
            self._look(one, now_ms)
            if one.for_disk or one.for_slave:
                going_on.append(one)
            else:
                one.done(one.code, one.stored)
        self._waiting = going_on

    @property
    def wants_flush(self) -> bool:
        """Return whether a request waits for the disk."""
        return any(one.for_disk for one in self._waiting)

    def _begun(self, stored: Stored, done: Done, waits: bool) -> _PendingCommit:
        now_ms, times = self._clock.now_ms(), self._times
        one = _PendingCommit(
            stored,
            done,
            waits and self._is_flushed,
            waits and self._is_copied,
            now_ms + times.sync_flush_timeout,
            now_ms + times.slave_timeout,
        )
        if one.for_slave and not self._slaves.near(stored.end):
            one.for_slave, one.code = False, Code.SLAVE_NOT_AVAILABLE
        return one

    def _look(self, one: _PendingCommit, now_ms: int) -> None:
        if one.for_disk:
            if self._store.log.flushed >= one.stored.end:
                one.for_disk = False
            elif now_ms >= one.disk_until_ms:
                one.for_disk = False
                one.code = one.code or Code.FLUSH_DISK_TIMEOUT
        if one.for_slave:
            if self._slaves.acknowledged >= one.stored.end:
                one.for_slave = False
            elif now_ms >= one.slave_until_ms:
                one.for_slave, one.code = False, Code.FLUSH_SLAVE_TIMEOUT
