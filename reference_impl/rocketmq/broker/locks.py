"""Which consumer of a group has a queue for itself, as orderly ones want it
(docs/behaviour/rocketmq.md 3.2).

A lock that was not taken anew for rebalance_lock_max_live_time is anybody's.
"""

import msgspec

from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.codes import Request
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.fields import UNREADABLE, BadRequest
from reference_impl.rocketmq.remoting.serving import Asked


class _Queue(msgspec.Struct, frozen=True, rename="camel", order=True):
    topic: str
    broker_name: str
    queue_id: int


class _Told(msgspec.Struct, rename="camel"):
    consumer_group: str
    client_id: str
    mq_set: list[_Queue] = []


class _Lock(msgspec.Struct, frozen=True):
    owner: str
    until_ms: int


class Locks:
    def __init__(self, clock: Clock, lasts_ms: int) -> None:
        self._clock = clock
        self._lasts_ms = lasts_ms
        self._locks: dict[tuple[str, _Queue], _Lock] = {}  # by group and queue

    def handle(self, asked: Asked) -> Command:
        try:
            told = msgspec.json.decode(asked.command.body, type=_Told)
        except UNREADABLE as error:
            raise BadRequest(f"no set of queues: {error}") from error
        if asked.command.header.code == Request.UNLOCK_BATCH_MQ:
            self._unlock(told)
            return asked.answer()
        locked = [queue for queue in told.mq_set if self._lock(told, queue)]
        return asked.answer(body=msgspec.json.encode({"lockOKMQSet": locked}))

    def _lock(self, told: _Told, queue: _Queue) -> bool:
        now_ms, key = self._clock.now_ms(), (told.consumer_group, queue)
        lock = self._locks.get(key)
        if lock is not None and lock.owner != told.client_id and now_ms < lock.until_ms:
            return False
        self._locks[key] = _Lock(told.client_id, now_ms + self._lasts_ms)
        return True

    def _unlock(self, told: _Told) -> None:
        for queue in told.mq_set:
            lock = self._locks.get((told.consumer_group, queue))
            if lock is not None and lock.owner == told.client_id:
                del self._locks[told.consumer_group, queue]
