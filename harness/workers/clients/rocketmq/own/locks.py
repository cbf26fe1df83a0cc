"""Locks of queues, by which one consumer of a group reads each queue in order, as in Java.

1. Only a master gives a lock. It knows the locks that it gave itself, and no others.
2. A lock is renewed when it is RENEW_S old. If the master does not answer, it holds for LEASE_S.
3. If a master refuses, the lock is gone at once.
4. A lock is given back even if its request was not answered: the master may have given it.
"""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from harness.workers.clients.rocketmq.core.sharing import Place
from harness.workers.remoting import answers, client_requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.requests import Request
from harness.workers.rocketmq.connection import Unanswered

RENEW_S, LEASE_S = 10.0, 30.0
Ask = Callable[[str, Request], Awaitable[Command]]  # the master of a broker name


class QueueLocks:
    """`ask` raises Unanswered where there is no master."""

    def __init__(
        self,
        client: str,
        group: str,
        topic: str,
        ask: Ask,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._group = group
        self._topic = topic
        self._ask = ask
        self._now_s = now_s
        self._since_s: dict[Place, float] = {}  # when each was given, or renewed
        self._requested: set[Place] = set()  # those that a master may have given

    async def hold(self, place: Place) -> bool:
        """Return whether the queue is this consumer's for now; ask for the lock if need be."""
        begun_s = self._now_s()
        since_s = self._since_s.get(place)
        if since_s is not None and begun_s - since_s < RENEW_S:
            return True
        request = client_requests.lock(self._client, self._group, self._topic, *place)
        self._requested.add(place)
        try:
            is_given = answers.locked(request, await self._ask(place[0], request))
        except (Unanswered, RequestRefused, WireError):
            return since_s is not None and self._now_s() - since_s < LEASE_S
        if is_given:
            self._since_s[place] = begun_s
        else:
            self._since_s.pop(place, None)
            self._requested.discard(place)
        return is_given

    async def release(self, place: Place) -> None:
        self._since_s.pop(place, None)
        if place in self._requested:
            self._requested.discard(place)
            request = client_requests.unlock(self._client, self._group, self._topic, *place)
            with suppress(Unanswered):  # the lock ends by itself
                await self._ask(place[0], request)

    async def release_all(self) -> None:
        for place in [*self._requested]:
            await self.release(place)
