"""Queries of clients and tools about queues, offsets and single messages.

Source: docs/behaviour/rocketmq.md 3.2.
"""

from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.serving import Handler, IncomingRequest

_NOT_THERE = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"


class Queries:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.handlers: dict[int, Handler] = {
            RequestCode.GET_MAX_OFFSET: self._end,
            RequestCode.GET_MIN_OFFSET: self._least,
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: self._by_time,
            RequestCode.GET_EARLIEST_MSG_STORETIME: self._earliest,
            RequestCode.VIEW_MESSAGE_BY_ID: self._view,
            RequestCode.QUERY_CONSUMER_OFFSET: self._consumed,
            RequestCode.UPDATE_CONSUMER_OFFSET: self._commit,
        }

    def _end(self, incoming: IncomingRequest) -> Command:
        return incoming.answer_fields(offset=self._parts.store.ends(*_queue(incoming))[1])

    def _least(self, incoming: IncomingRequest) -> Command:
        return incoming.answer_fields(offset=self._parts.store.ends(*_queue(incoming))[0])

    def _by_time(self, incoming: IncomingRequest) -> Command:
        time_ms = incoming.fields.long("timestamp")
        return incoming.answer_fields(
            offset=self._parts.store.offset_at(*_queue(incoming), time_ms)
        )

    def _earliest(self, incoming: IncomingRequest) -> Command:
        topic, queue = _queue(incoming)
        least = self._parts.store.ends(topic, queue)[0]
        record = self._parts.store.at(topic, queue, least)
        return incoming.answer_fields(timestamp=-1 if record is None else record.stored_ms)

    def _view(self, incoming: IncomingRequest) -> Command:
        """A record as it stands in the log; of a blank, what it says of itself."""
        position, log = incoming.fields.long("offset"), self._parts.store.log
        octets = log.raw(position) if log.start <= position < log.end else b""
        if not octets:
            remark = f"can not find message by the offset, {position}"
            return incoming.answer(Code.SYSTEM_ERROR, remark)
        return incoming.answer(body=octets)

    def _consumed(self, incoming: IncomingRequest) -> Command:
        """A group that never was here begins at 0, where the queue does."""
        topic, queue = _queue(incoming)
        offset = self._parts.offsets.get(incoming.fields.text("consumerGroup"), topic, queue)
        if offset is None and self._parts.store.ends(topic, queue)[0] <= 0:
            offset = 0
        if offset is None:
            return incoming.answer(Code.QUERY_NOT_FOUND, _NOT_THERE)
        return incoming.answer_fields(offset=offset)

    def _commit(self, incoming: IncomingRequest) -> Command:
        topic, queue = _queue(incoming)
        group, offset = incoming.fields.text("consumerGroup"), incoming.fields.long("commitOffset")
        self._parts.offsets.commit(group, topic, queue, offset)
        return incoming.answer()


def _queue(incoming: IncomingRequest) -> tuple[str, int]:
    return incoming.fields.text("topic"), incoming.fields.integer("queueId")
