"""What clients and tools ask about queues, offsets and single messages (docs/behaviour/rocketmq.md
3.2)."""

from typing import TYPE_CHECKING

from reference_impl.rocketmq.remoting.codes import Code, Request
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.serving import Asked, Handler

if TYPE_CHECKING:
    from reference_impl.rocketmq.broker.parts import Parts

_NOT_THERE = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"


class Asking:
    def __init__(self, parts: "Parts") -> None:
        self._parts = parts
        self.handlers: dict[int, Handler] = {
            Request.GET_MAX_OFFSET: self._end,
            Request.GET_MIN_OFFSET: self._least,
            Request.SEARCH_OFFSET_BY_TIMESTAMP: self._by_time,
            Request.GET_EARLIEST_MSG_STORETIME: self._earliest,
            Request.VIEW_MESSAGE_BY_ID: self._view,
            Request.QUERY_CONSUMER_OFFSET: self._consumed,
            Request.UPDATE_CONSUMER_OFFSET: self._commit,
        }

    def _end(self, asked: Asked) -> Command:
        return asked.told(offset=self._parts.store.ends(*_queue(asked))[1])

    def _least(self, asked: Asked) -> Command:
        return asked.told(offset=self._parts.store.ends(*_queue(asked))[0])

    def _by_time(self, asked: Asked) -> Command:
        time_ms = asked.fields.long("timestamp")
        return asked.told(offset=self._parts.store.offset_at(*_queue(asked), time_ms))

    def _earliest(self, asked: Asked) -> Command:
        topic, queue = _queue(asked)
        least = self._parts.store.ends(topic, queue)[0]
        record = self._parts.store.at(topic, queue, least)
        return asked.told(timestamp=-1 if record is None else record.stored_ms)

    def _view(self, asked: Asked) -> Command:
        """A record as it stands in the log; of a blank, what it says of itself."""
        position, log = asked.fields.long("offset"), self._parts.store.log
        octets = log.raw(position) if log.start <= position < log.end else b""
        if not octets:
            remark = f"can not find message by the offset, {position}"
            return asked.answer(Code.SYSTEM_ERROR, remark)
        return asked.answer(body=octets)

    def _consumed(self, asked: Asked) -> Command:
        """A group that never was here begins at 0, where the queue does."""
        topic, queue = _queue(asked)
        offset = self._parts.offsets.get(asked.fields.text("consumerGroup"), topic, queue)
        if offset is None and self._parts.store.ends(topic, queue)[0] <= 0:
            offset = 0
        if offset is None:
            return asked.answer(Code.QUERY_NOT_FOUND, _NOT_THERE)
        return asked.told(offset=offset)

    def _commit(self, asked: Asked) -> Command:
        topic, queue = _queue(asked)
        group, offset = asked.fields.text("consumerGroup"), asked.fields.long("commitOffset")
        self._parts.offsets.commit(group, topic, queue, offset)
        return asked.answer()


def _queue(asked: Asked) -> tuple[str, int]:
    return asked.fields.text("topic"), asked.fields.integer("queueId")
