"""Sends of our own client: each one is one attempt, and is answered in the end.

1. Queues are taken in turn, by the names of their brokers, from a first one by chance; a key of an
   ordered producer has one queue, and waits for its former send.
2. A send has so long as a whole, the dialling in it: the broker has the rest
   of that time to answer.
3. What is published in one callback leaves in the next one, after the log was flushed.
4. It sends masters a heartbeat, at once and every HEARTBEAT_S, as the Java client does: only by
   that do brokers list connected clients.
5. What is in a transaction is a half first (transactions.py).
6. Without a queue to write to, a send asks for the route at once, and fails only if there is still
   none: the Java client does so, and meets a new master before the next poll. Sends share a look.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from harness.plan.clients.rocketmq_terms import NO_DELAY, fate_of, level_of
from harness.workers.clients.port import Answer, PublishingListener
from harness.workers.clients.rocketmq.core import answers, wire
from harness.workers.clients.rocketmq.core.sharing import Place
from harness.workers.clients.rocketmq.core.transactions import OwnTransactions
from harness.workers.clients.rocketmq.options import RocketOptions, group
from harness.workers.clients.rocketmq.own.brokers import Brokers, NotConnected
from harness.workers.clients.rocketmq.own.name_servers import NameServers
from harness.workers.clients.rocketmq.own.routing import Routing
from harness.workers.protocol import WorkerConfig
from harness.workers.remoting import client_requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import Request, TopicQueue
from harness.workers.rocketmq.connection import Connection, Unanswered
from spark_analysis.schema.body import decode
from spark_analysis.schema.words import Fate

_STATUSES = {0: 0, 10: 1, 12: 2, 11: 3}  # the broker's code -> its place in answers.STATUSES
NO_ROUTE = "MQClientException"
HEARTBEAT_S, HEARTBEAT_LIMIT_S = 30.0, 3.0


class OwnPublisher:
    """port.PublishingLink."""

    def __init__(
        self,
        config: WorkerConfig,
        listener: PublishingListener,
        servers: NameServers,
        routing: Routing,
        brokers: Brokers,
    ) -> None:
        self._config = config
        self._options = RocketOptions.from_json(config.own)
        self._listener = listener
        self._servers = servers
        self._routing = routing
        self._brokers = brokers
        self._name = config.connection_name
        self._fated = self._options.transactional_percent > 0
        whose = f"writers_{config.number}" if self._fated else "writers"
        self._group = group(config.queue, whose)
        self._transactions = OwnTransactions(self._group, self._notice)
        brokers.heard = self._answer_check
        self._limit_s = self._options.send_timeout_ms / 1000
        self._turn = Random(config.number).randrange(1 << 16)
        self._tag = 0
        self._burst: list[bytes] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._keyed: dict[int, asyncio.Task[None]] = {}  # the last send of each key
        self._looking: asyncio.Task[None] | None = None
        self._deaf = False
        self._begin(routing.go_on())
        self._begin(self._go_on_beating())

    def publish(self, body: bytes) -> None:
        if not self._burst:
            asyncio.get_running_loop().call_soon(self._send_burst)
        self._burst.append(body)

    def buffered_bytes(self) -> int:
        return 0

    async def close(self, limit_s: float) -> None:
        self._deaf = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._send_to_masters(
                    client_requests.producer_farewell(self._name, self._group)
                )
        self.abort()

    def abort(self) -> None:
        self._deaf = True
        for task in self._tasks:
            task.cancel()
        self._servers.close()
        self._brokers.close()

    def _send_burst(self) -> None:
        burst, self._burst = self._burst, []
        for body in burst if not self._deaf else ():
            self._tag += 1
            if self._options.producer == "ordered":
                self._send_in_order(self._tag, body)
            else:
                self._begin(self._send(self._tag, body, self._next))

    def _send_in_order(self, tag: int, body: bytes) -> None:
        key = _key(body)
        before = self._keyed.get(key)

        def choose() -> Place | None:
            queues = self._routing.written()
            return queues[key % len(queues)] if queues else None

        async def send() -> None:
            if before is not None:
                await asyncio.wait([before])
            await self._send(tag, body, choose)

        self._keyed[key] = self._begin(send())

    def _next(self) -> Place | None:
        queues = self._routing.written()
        self._turn += 1
        return queues[self._turn % len(queues)] if queues else None

    async def _send(self, tag: int, body: bytes, choose: Callable[[], Place | None]) -> None:
        place = choose()
        if place is None:
            await self._look()
            place = choose()
        if place is None:
            self._say(tag, wire.FAILED, wire.Cause(NO_ROUTE, -1, "no queue of the topic is known"))
            return
        queue = TopicQueue(self._config.queue, place[1])
        born_ms = time.time_ns() // 1_000_000
        fate = fate_of(self._options, _sequence(body)) if self._fated else Fate.NONE
        properties = _properties(self._options, body)
        if fate is not Fate.NONE:
            properties = self._transactions.properties(tag)
        request = client_requests.send(self._group, queue, body, properties, born_ms)
        address = self._routing.master(place[0])
        try:
            if self._options.producer == "oneway":
                await self._brokers.send_oneway(address, request)
                self._say(tag, wire.HANDED_OVER)
                return
            waits = self._options.producer != "async"
            answer = await self._brokers.ask(address, request, self._limit_s, waits)
            await self._hear(tag, answer, fate, place[0])
        except NotConnected as failure:
            self._say(tag, wire.FAILED, wire.Cause(answers.NOT_CONNECTED, -1, str(failure)))
        except Unanswered as failure:
            name = "RemotingSendRequestException" if failure.ended else "RemotingTimeoutException"
            self._say(tag, wire.FAILED, wire.Cause(name, -1, str(failure)))

    async def _look(self) -> None:
        """Ask for the route, or wait for the answer to who asked."""

        async def look() -> None:
            await self._routing.look()

        if self._looking is None or self._looking.done():
            self._looking = self._begin(look())
        await asyncio.wait([self._looking])

    async def _hear(self, tag: int, answer: Command, fate: Fate, broker: str) -> None:
        code = answer.header.code
        if code in _STATUSES and fate is not Fate.NONE:
            await self._decide(tag, answer, fate, broker)
        elif code in _STATUSES:
            self._say(tag, _STATUSES[code])
        else:
            cause = wire.Cause(answers.BROKER_SAID, code, answer.header.remark)
            self._say(tag, wire.FAILED, cause)

    async def _decide(self, tag: int, answer: Command, fate: Fate, broker: str) -> None:
        """Say what becomes of a half, to its broker and to the listener."""
        status = _STATUSES[answer.header.code]
        state = self._transactions.decide(tag, fate, status)
        decision = self._transactions.decision(tag, state, answer.header.fields)
        if decision is not None:
            with contextlib.suppress(Unanswered):  # the broker will ask
                await self._brokers.send_oneway(self._routing.master(broker), decision)
        result = wire.RawAnswer(time.monotonic_ns(), tag, status, state, ())
        self._report(answers.judge(result, fate))

    def _answer_check(self, connection: Connection, command: Command) -> None:
        """A broker asks what became of a half."""
        decision = self._transactions.checked(command) if not self._deaf else None
        if decision is not None and not connection.lost:
            connection.send_oneway(decision)

    def _say(self, tag: int, status: int, *causes: wire.Cause) -> None:
        result = wire.RawAnswer(time.monotonic_ns(), tag, status, wire.NO_STATE, causes)
        self._report(answers.judge(result))

    def _report(self, answer: Answer) -> None:
        if not self._deaf:
            self._listener.answered([answer])

    def _notice(self, kind: str, detail: str) -> None:
        if not self._deaf:
            self._listener.noticed(kind, detail)

    async def _go_on_beating(self) -> None:
        beat = client_requests.producer_heartbeat(self._name, self._group)
        while True:
            await self._send_to_masters(beat)
            await asyncio.sleep(HEARTBEAT_S)

    async def _send_to_masters(self, request: Request) -> None:
        """Each by itself: one that hangs keeps nothing from the others."""
        addresses = [address for address, is_master in self._routing.every_address() if is_master]
        await asyncio.gather(*(self._send_quietly(address, request) for address in addresses))

    async def _send_quietly(self, address: str, request: Request) -> None:
        with contextlib.suppress(Unanswered):  # the next round tells it
            await self._brokers.ask(address, request, HEARTBEAT_LIMIT_S, waits=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _properties(options: RocketOptions, body: bytes) -> dict[str, str]:
    """A message's properties."""
    level = level_of(options, _sequence(body)) if options.delayed_percent else NO_DELAY
    return {} if level == NO_DELAY else {"DELAY": str(level)}


def _key(body: bytes) -> int:
    identity = decode(body).identity
    assert identity is not None, "a body that we made ourselves"
    return identity.key


def _sequence(body: bytes) -> int:
    identity = decode(body).identity
    assert identity is not None, "a body that we made ourselves"
    return identity.sequence
