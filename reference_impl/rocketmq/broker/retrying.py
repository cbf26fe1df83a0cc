"""Messages that a consumer sends back for its group to retry (docs/behaviour/rocketmq.md 4.5).

It goes to the group's retry topic, after a wait that grows from try to try; after too many of
them, or where the consumer says so, to the group's dead letters.
"""

import random

from reference_impl.rocketmq.broker.groups import ConsumerGroup
from reference_impl.rocketmq.broker.levels import delayed
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.topics import DEAD_PREFIX, RETRY_PREFIX, any_queue
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.serving import IncomingRequest
from reference_impl.rocketmq.store import properties
from reference_impl.rocketmq.store.properties import (
    DELAY,
    ORIGIN_MESSAGE_ID,
    RETRY_TOPIC,
)
from reference_impl.rocketmq.store.records import Draft, Record, message_id
from reference_impl.rocketmq.store.store import Stored

_FIRST_LEVEL = 3
_INT_MAX = 2**31 - 1  # a send to a retry topic says how often it was tried
_MAX_RECONSUME_SINCE = 121  # V3_4_9: who is older does not say how often


class Retrying:
    def __init__(self, parts: Parts, dice: random.Random) -> None:
        self._parts = parts
        self._dice = dice

    def handle(self, incoming: IncomingRequest) -> Command | None:
        name, fields = incoming.fields.text("group"), incoming.fields
        group = self._parts.groups.wanted(name)
        if group is None:
            remark = f"subscription group not exist, {name}"
            return incoming.answer(Code.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        if self._parts.role.is_slave:
            return incoming.answer(
                Code.SERVICE_NOT_AVAILABLE, "It is a slave, and takes no message"
            )
        if group.retry_queue_nums <= 0:
            return incoming.answer()
        record = self._parts.store.record(fields.long("offset"))
        if record is None:
            remark = f"look message by offset failed, {fields.long('offset')}"
            return incoming.answer(Code.SYSTEM_ERROR, remark)
        self._put(self._draft(incoming, group, record), incoming)
        return None

    def _draft(self, incoming: IncomingRequest, group: ConsumerGroup, record: Record) -> Draft:
        level, most = incoming.fields.integer("delayLevel"), group.retry_max_times
        if incoming.command.header.version >= _MAX_RECONSUME_SINCE:
            most = incoming.fields.integer("maxReconsumeTimes", most)
        props = record.properties
        props.setdefault(RETRY_TOPIC, record.topic)
        props.setdefault(ORIGIN_MESSAGE_ID, message_id(record.store_host, record.position))
        props.pop(DELAY, None)
        if record.reconsumed >= most or level < 0:
            topic = self._parts.topics.own(f"{DEAD_PREFIX}{group.group_name}")
        else:
            queues = group.retry_queue_nums
            topic = self._parts.topics.own(f"{RETRY_PREFIX}{group.group_name}", queues)
            props[DELAY] = str(level or _FIRST_LEVEL + record.reconsumed)
        draft = Draft(
            topic=topic.topic_name,
            queue=any_queue(topic, self._dice),
            flag=record.flag,
            sys_flag=record.sys_flag,
            born_ms=record.born_ms,
            born_host=record.born_host,
            store_host=self._parts.store_host,
            body=record.body,
            props_text=properties.write(props),
            reconsumed=min(record.reconsumed + 1, _INT_MAX),
        )
        return delayed(draft)

    def _put(self, draft: Draft, incoming: IncomingRequest) -> None:
        def done(code: Code, _: Stored) -> None:
            if incoming.command.is_oneway:
                return
            # A weaker promise is none here: the client then sends the message again by itself.
            ok = code is Code.SUCCESS
            answer = incoming.answer() if ok else incoming.answer(Code.SYSTEM_ERROR, code.name)
            self._parts.outbox.send(incoming.connection, answer)

        self._parts.committing.put(draft, done)
