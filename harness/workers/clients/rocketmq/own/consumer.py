"""The consumer of our own client: it pulls each of its queues separately.

1. The members of the group share its queues (core/sharing.py): each asks who they are, every
   second until it has its part among all that are expected, then every SHARE_S. A member that
   loses a queue stops pulling it, and has committed it.
2. A queue is pulled on when what was fetched is on record; its offset is committed every COMMIT_S,
   and when the client ends.
3. In order: a queue is pulled while this consumer has its lock (locks.py).
4. Where a pull fails it is tried again a second later, by the route that is there then: at a
   slave, where the master is gone.
"""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from harness.workers.clients.port import ConsumingListener, Fetched, LinkLost
from harness.workers.clients.rocketmq.core.sharing import Place, share
from harness.workers.clients.rocketmq.options import RocketOptions, readers
from harness.workers.clients.rocketmq.own.brokers import Brokers
from harness.workers.clients.rocketmq.own.locks import QueueLocks
from harness.workers.clients.rocketmq.own.name_servers import NameServers
from harness.workers.clients.rocketmq.own.routing import Routing
from harness.workers.protocol import WorkerConfig
from harness.workers.remoting import answers, client_requests, records, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.records import StoredMessage
from harness.workers.remoting.requests import Request, TopicQueue
from harness.workers.rocketmq.connection import Unanswered

HEARTBEAT_S, SHARE_S, SHARE_AT_FIRST_S, COMMIT_S, AGAIN_S = 30.0, 20.0, 1.0, 5.0, 1.0
ASK_LIMIT_S, PULL_LIMIT_S = 3.0, 30.0
QUEUES_LIMIT_S = 10.0  # until the group has given it some, where it does
# Until the group has all its members, and each has its part of the queues.
SETTLED_LIMIT_S = 40.0
_FAILURES = (Unanswered, RequestRefused, WireError)


class OwnConsumer:
    """port.ConsumingLink."""

    def __init__(
        self,
        config: WorkerConfig,
        listener: ConsumingListener,
        servers: NameServers,
        routing: Routing,
        brokers: Brokers,
    ) -> None:
        self._config = config
        options = RocketOptions.from_json(config.own)
        self._batch = options.batch
        self._in_order = options.consumer == "orderly"
        self._listener = listener
        self._servers = servers
        self._routing = routing
        self._brokers = brokers
        self._group = readers(config)
        self._name = config.connection_name
        self._locks = QueueLocks(self._name, self._group, config.queue, self._ask_master)
        self._tag = 0
        self._acknowledged = 0
        self._recorded = asyncio.Condition()
        self._offsets: dict[Place, int] = {}  # what comes next, of what is on record
        self._pulls: dict[Place, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._consumes = False
        self._group_members: list[str] = []  # as a broker reported them last
        self._deaf = False

    async def consume(self) -> None:
        if self._consumes:
            return
        self._consumes = True
        await self._heartbeat()
        await self._share()
        for work in (
            self._routing.go_on(),
            self._again_and_again(self._heartbeat, HEARTBEAT_S),
            self._again_and_again(self._commit, COMMIT_S),
            self._go_on_sharing(),
        ):
            self._begin(work)
        limit_s = SETTLED_LIMIT_S if self._config.members else QUEUES_LIMIT_S
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not self._has_its_part():
                    await asyncio.sleep(0.02)

    def acknowledge(self, tag: int) -> None:
        self._acknowledged = max(self._acknowledged, tag)
        self._begin(self._wake())

    async def ready_messages(self) -> int:
        """What its group has not committed, on every queue of the topic."""
        try:
            await self._commit()
            return sum([await self._behind(place) for place in self._routing.read()])
        except _FAILURES as failure:
            raise LinkLost(str(failure)) from failure

    async def close(self, limit_s: float) -> None:
        self._deaf = True
        try:
            async with asyncio.timeout(limit_s):
                await self._stop()  # a pull would lock its queue again
                await self._commit()
                await self._locks.release_all()
                await self._farewell()
        except (TimeoutError, *_FAILURES):
            pass
        self.abort()

    def abort(self) -> None:
        self._deaf = True
        for task in (*self._tasks, *self._pulls.values()):
            task.cancel()
        self._servers.close()
        self._brokers.close()

    # --- members and their queues

    async def _heartbeat(self) -> None:
        beat = client_requests.consumer_heartbeat(self._name, self._group, self._config.queue)
        for address, _ in self._routing.every_address():
            await self._quietly(self._brokers.ask(address, beat, ASK_LIMIT_S, waits=True))

    async def _farewell(self) -> None:
        bye = client_requests.consumer_farewell(self._name, self._group)
        for address, _ in self._routing.every_address():
            await self._quietly(self._brokers.ask(address, bye, ASK_LIMIT_S, waits=True))

    def _has_its_part(self) -> bool:
        """With every member that is expected, or at least with one queue if none is."""
        if not self._config.members:
            return bool(self._pulls)
        own = share(self._routing.read(), self._group_members, self._name)
        return len(self._group_members) >= self._config.members and set(own) == set(self._pulls)

    async def _go_on_sharing(self) -> None:
        while True:
            settled = self._pulls and self._has_its_part()
            await asyncio.sleep(SHARE_S if settled else SHARE_AT_FIRST_S)
            await self._share()

    async def _share(self) -> None:
        members = await self._members()
        if not members:
            return  # the broker did not know: nothing moves
        self._group_members = members
        own, before = share(self._routing.read(), members, self._name), set(self._pulls)
        for place in [place for place in self._pulls if place not in own]:
            self._pulls.pop(place).cancel()
            await self._commit_one(place)
            await self._locks.release(place)
            self._offsets.pop(place, None)
        for place in [place for place in own if place not in self._pulls]:
            self._pulls[place] = asyncio.get_running_loop().create_task(self._pull(place))
        if set(self._pulls) != before:
            places = " ".join(f"{broker}/{number}" for broker, number in sorted(self._pulls))
            self._notice("rebalanced", places)

    async def _members(self) -> list[str]:
        request = client_requests.members(self._group)
        for address, _ in sorted(self._routing.every_address(), key=lambda one: not one[1]):
            answer = await self._quietly(
                self._brokers.ask(address, request, ASK_LIMIT_S, waits=True)
            )
            if answer is not None:
                try:
                    return answers.members(request, answer)
                except (RequestRefused, WireError):
                    continue
        return []

    # --- one queue

    async def _pull(self, place: Place) -> None:
        while True:
            if self._in_order and not await self._locks.hold(place):
                await asyncio.sleep(AGAIN_S)
                continue
            try:
                if place not in self._offsets:
                    self._offsets[place] = await self._begin_at(place)
                await self._pull_once(place)
            except _FAILURES:
                await asyncio.sleep(AGAIN_S)

    async def _stop(self) -> None:
        work = (*self._tasks, *self._pulls.values())
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)

    async def _begin_at(self, place: Place) -> int:
        request = requests.consumer_offset(self._group, self._queue(place))
        return answers.committed(request, await self._ask(place, request)) or 0

    async def _pull_once(self, place: Place) -> None:
        offset = self._offsets[place]
        request = client_requests.long_pull(self._group, self._queue(place), offset, self._batch)
        pulled = answers.pulled(request, await self._ask(place, request, PULL_LIMIT_S))
        if pulled.messages:
            await self._on_record(self._deliver(place, pulled.messages))
        self._offsets[place] = pulled.next_offset

    def _deliver(self, place: Place, messages: tuple[StoredMessage, ...]) -> int:
        """To the listener; the last one's tag."""
        log, at_ns, fetched = f"{place[0]}/{place[1]}", time.monotonic_ns(), list[Fetched]()
        for one in messages:
            self._tag += 1
            body = records.content(one)
            again = one.reconsumed > 0
            fetched.append(Fetched(self._tag, body, log, one.offset, again, None, at_ns))
        if not self._deaf:
            self._listener.fetched(fetched)
        return self._tag

    async def _on_record(self, tag: int) -> None:
        async with self._recorded:
            await self._recorded.wait_for(lambda: self._acknowledged >= tag)

    async def _wake(self) -> None:
        async with self._recorded:
            self._recorded.notify_all()

    async def _behind(self, place: Place) -> int:
        queue = self._queue(place)
        request = requests.max_offset(queue)
        end = answers.offset(request, await self._ask(place, request))
        return max(0, end - await self._begin_at(place))

    # --- offsets

    async def _commit(self) -> None:
        for place in [*self._offsets]:
            await self._commit_one(place)

    async def _commit_one(self, place: Place) -> None:
        offset, address = self._offsets.get(place), self._routing.address(place[0])
        if offset is not None and address:
            commit = client_requests.commit(self._group, self._queue(place), offset)
            await self._quietly(self._brokers.send_oneway(address, commit))

    # --- asking

    def _queue(self, place: Place) -> TopicQueue:
        return TopicQueue(self._config.queue, place[1])

    async def _ask(self, place: Place, request: Request, limit_s: float = ASK_LIMIT_S) -> Any:
        address = self._routing.address(place[0])
        if not address:
            raise Unanswered(f"no broker of {place[0]} is known")
        return await self._brokers.ask(address, request, limit_s, waits=limit_s == ASK_LIMIT_S)

    async def _ask_master(self, broker: str, request: Request) -> Command:
        address = self._routing.master(broker)
        if not address:
            raise Unanswered(f"no master of {broker} is known")
        return await self._brokers.ask(address, request, ASK_LIMIT_S, waits=True)

    async def _quietly(self, question: Coroutine[Any, Any, Any]) -> Any:
        """None where it failed: it is tried again with the next round."""
        try:
            return await question
        except _FAILURES:
            return None

    async def _again_and_again(self, work: Any, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            await work()

    def _notice(self, kind: str, detail: str) -> None:
        if not self._deaf:
            self._listener.noticed(kind, detail)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
