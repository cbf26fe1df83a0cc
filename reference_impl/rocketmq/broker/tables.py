"""A slave copies its master's tables (docs/behaviour/rocketmq.md 6): topics, consumers' offsets,
groups, how far delayed messages are.

1. Every copy_tables, the first time copy_tables_first after its start, once it knows a master.
2. So after the loss of a master its slave's offsets are as old as that, and what was consumed
   since is consumed again. What clients commit to a slave is overwritten when its master returns.
"""

from collections.abc import Callable

import msgspec

from reference_impl.rocketmq.broker import offsets
from reference_impl.rocketmq.broker.groups import Groups
from reference_impl.rocketmq.effects import REMOTING, Clock
from reference_impl.rocketmq.registration import Topics
from reference_impl.rocketmq.remoting.calls import Calls
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command, request
from reference_impl.rocketmq.remoting.fields import UNREADABLE
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.settings import BrokerTimes

Copied = Callable[[bytes], None]


class Copier:
    """`keep`: what becomes of each table, by the request for it; raises one of UNREADABLE."""

    def __init__(
        self,
        times: BrokerTimes,
        clock: Clock,
        outbox: Outbox,
        calls: Calls,
        keep: dict[RequestCode, Copied],
    ) -> None:
        self._times = times
        self._clock = clock
        self._outbox = outbox
        self._calls = calls
        self._keep = keep
        self._master = ""
        self._connection: int | None = None
        self._due_ms = clock.now_ms() + times.copy_tables_first

    def master_is(self, address: str) -> None:
        if address != self._master and self._connection is not None:
            self._outbox.close(self._connection)
            self._connection = None
        self._master = address

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        if now_ms < self._due_ms or not self._master:
            return
        self._due_ms = now_ms + self._times.copy_tables
        if self._connection is None:
            self._outbox.dial(self._master, REMOTING)
        else:
            self._ask(self._connection)

    def opened(self, address: str, connection: int) -> None:
        if address != self._master or self._connection is not None:
            self._outbox.close(connection)
            return
        self._connection = connection
        self._ask(connection)

    def closed(self, connection: int) -> None:
        if connection == self._connection:
            self._connection = None

    def _ask(self, connection: int) -> None:
        until_ms = self._clock.now_ms() + self._times.copy_tables_timeout
        for code, keep in self._keep.items():
            number = self._calls.number()
            self._calls.begun(number, connection, until_ms, self._heard(connection, keep))
            self._outbox.send(connection, request(code, number))

    def _heard(self, connection: int, keep: Copied) -> Callable[[Command | None], None]:
        def heard(answer: Command | None) -> None:
            if answer is None:
                self._give_up(connection)
            elif answer.header.code == Code.SUCCESS:
                try:
                    keep(answer.body)
                except UNREADABLE:
                    self._give_up(connection)

        return heard

    def _give_up(self, connection: int) -> None:
        if connection == self._connection:
            self._connection = None
            self._outbox.close(connection)


def read_topics(body: bytes) -> Topics:
    return msgspec.json.decode(body, type=Topics)


def read_groups(body: bytes) -> Groups:
    return msgspec.json.decode(body, type=Groups)


def read_offsets(body: bytes) -> offsets.Table:
    return offsets.read(body)
