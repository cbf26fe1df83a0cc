"""Exclusive locks of queues by consumers of a group, for orderly consumption
(docs/behaviour/rocketmq.md 3.2).

A lock that was not renewed for rebalance_lock_max_live_time is free.
"""

import msgspec

from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.codes import RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.fields import UNREADABLE, BadRequest
from reference_impl.rocketmq.remoting.serving import IncomingRequest


class _Queue(msgspec.Struct, frozen=True, rename="camel", order=True):
    topic: str
    broker_name: str
    queue_id: int


class _LockRequest(msgspec.Struct, rename="camel"):
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

    def handle(self, incoming: IncomingRequest) -> Command:
        try:
            wanted = msgspec.json.decode(incoming.command.body, type=_LockRequest)
        except UNREADABLE as error:
            raise BadRequest(f"no set of queues: {error}") from error
        if incoming.command.header.code == RequestCode.UNLOCK_BATCH_MQ:
            self._unlock(wanted)
            return incoming.answer()
        locked = [queue for queue in wanted.mq_set if self._lock(wanted, queue)]
        return incoming.answer(body=msgspec.json.encode({"lockOKMQSet": locked}))

    def _lock(self, wanted: _LockRequest, queue: _Queue) -> bool:
        now_ms, key = self._clock.now_ms(), (wanted.consumer_group, queue)
        lock = self._locks.get(key)
        if lock is not None and lock.owner != wanted.client_id and now_ms < lock.until_ms:
            return False
        self._locks[key] = _Lock(wanted.client_id, now_ms + self._lasts_ms)
        return True

    def _unlock(self, wanted: _LockRequest) -> None:
        for queue in wanted.mq_set:
            lock = self._locks.get((wanted.consumer_group, queue))
            if lock is not None and lock.owner == wanted.client_id:
                del self._locks[wanted.consumer_group, queue]
