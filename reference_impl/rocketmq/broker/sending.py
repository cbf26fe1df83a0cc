"""A broker's handling of sends (docs/behaviour/rocketmq.md 3.2, 4).

1. A field says whether a message is part of a batch, and not the request's code.
2. The broker says in the stored properties which cluster it is of, and drops WAIT from them.
3. A message to wait for is stored under another topic with the real one beside it (delays.py), and
   so is one that a transaction still has to decide about.
4. Too many sends to a group's own retry topic go to its dead letters.
"""

import random
from collections.abc import Mapping

import msgspec

from reference_impl.rocketmq.broker.levels import delayed, under
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.replicating import BUSY
from reference_impl.rocketmq.broker.topics import (
    DEAD_PREFIX,
    HALF,
    NOT_FOR_CLIENTS,
    RETRY_PREFIX,
    WRITE,
    any_queue,
    is_clients,
    wrong_name,
)
from reference_impl.rocketmq.registration import Topic
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.fields import Fields
from reference_impl.rocketmq.remoting.serving import IncomingRequest
from reference_impl.rocketmq.store import properties, records
from reference_impl.rocketmq.store.records import TRANSACTION_BITS, Draft
from reference_impl.rocketmq.store.store import Stored

REGION = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
_SEE = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
_LETTERS = {
    "producerGroup": "a",
    "topic": "b",
    "defaultTopic": "c",
    "defaultTopicQueueNums": "d",
    "queueId": "e",
    "sysFlag": "f",
    "bornTimestamp": "g",
    "flag": "h",
    "properties": "i",
    "reconsumeTimes": "j",
    "maxReconsumeTimes": "l",
    "batch": "m",
}
_V1 = {name: name for name in _LETTERS}


class _Sent(msgspec.Struct, frozen=True):
    """The fields of a request, whichever of the two ways they are named."""

    topic: str
    template: str
    template_queues: int
    queue: int
    sys_flag: int
    born_ms: int
    flag: int
    props_text: str
    reconsumed: int
    reconsumed_max: int | None
    is_batch: bool


class Sending:
    def __init__(self, parts: Parts, dice: random.Random) -> None:
        self._parts = parts
        self._dice = dice

    def handle(self, incoming: IncomingRequest) -> Command | None:
        """The answer comes when the message counts as sent."""
        sent = _read(incoming.fields, incoming.command.header.code)
        topic = self._topic(sent)
        refused = self._refused(sent, topic, incoming)
        if refused is not None or topic is None:
            return refused
        queue = sent.queue if sent.queue >= 0 else any_queue(topic, self._dice)
        try:
            drafts = self._drafts(sent, queue, incoming)
        except ValueError as error:
            return incoming.answer(Code.MESSAGE_ILLEGAL, str(error), fields=REGION)
        if why := self._illegal(drafts):
            return incoming.answer(Code.MESSAGE_ILLEGAL, why, fields=REGION)
        self._put(drafts, incoming)
        return None

    def _topic(self, sent: _Sent) -> Topic | None:
        topics = self._parts.topics
        topic = topics.get(sent.topic)
        if topic is None and not wrong_name(sent.topic):
            topic = topics.like(sent.topic, sent.template, sent.template_queues)
            if topic is None and sent.topic.startswith(RETRY_PREFIX):
                topic = topics.own(sent.topic)
        return topic

    def _refused(
        self, sent: _Sent, topic: Topic | None, incoming: IncomingRequest
    ) -> Command | None:
        if self._parts.role.is_slave:
            remark = "It is a slave, and takes no message"
            return incoming.answer(Code.SERVICE_NOT_AVAILABLE, remark, fields=REGION)
        if why := wrong_name(sent.topic):
            return incoming.answer(Code.SYSTEM_ERROR, why, fields=REGION)
        if sent.topic in NOT_FOR_CLIENTS:
            remark = f"Sending message to topic[{sent.topic}] is forbidden."
            return incoming.answer(Code.NO_PERMISSION, remark, fields=REGION)
        if topic is None:
            remark = f"topic[{sent.topic}] not exist, apply first please!{_SEE}"
            return incoming.answer(Code.TOPIC_NOT_EXIST, remark, fields=REGION)
        if not topic.perm & WRITE:
            remark = f"the topic[{sent.topic}] sending message is forbidden"
            return incoming.answer(Code.NO_PERMISSION, remark, fields=REGION)
        if sent.queue >= max(topic.read_queue_nums, topic.write_queue_nums):
            remark = f"request queueId[{sent.queue}] is illegal, {topic}"
            return incoming.answer(Code.SYSTEM_ERROR, remark, fields=REGION)
        return None

    def _drafts(self, sent: _Sent, queue: int, incoming: IncomingRequest) -> list[Draft]:
        """Raises ValueError."""
        props, body = properties.read(sent.props_text), incoming.command.body
        if not sent.is_batch:
            return [self._draft(sent, sent.flag, queue, props, body, incoming)]
        return [
            self._draft(sent, flag, queue, {**properties.read(own), **props}, part, incoming)
            for flag, part, own in records.inner(body)
        ]

    def _draft(
        self,
        sent: _Sent,
        flag: int,
        queue: int,
        props: Mapping[str, str],
        body: bytes,
        incoming: IncomingRequest,
    ) -> Draft:
        parts = self._parts
        kept = {**props, properties.CLUSTER: parts.config.broker_cluster_name}
        kept.pop(properties.WAIT, None)
        draft = Draft(
            topic=self._name(sent),
            queue=queue,
            flag=flag,
            sys_flag=sent.sys_flag,
            born_ms=sent.born_ms,
            born_host=parts.host_of(incoming.connection),
            store_host=parts.store_host,
            body=body,
            props_text=properties.write(kept),
            reconsumed=sent.reconsumed,
        )
        if props.get(properties.IN_TRANSACTION, "").lower() == "true":
            return half(draft)
        return delayed(draft)

    def _name(self, sent: _Sent) -> str:
        """Return its topic: a group's dead letters, if it was tried too often."""
        if not sent.topic.startswith(RETRY_PREFIX):
            return sent.topic
        name = sent.topic.removeprefix(RETRY_PREFIX)
        group = self._parts.groups.get(name)
        most = sent.reconsumed_max
        if most is None:
            most = group.retry_max_times if group is not None else 0
        if sent.reconsumed < most:
            return sent.topic
        return self._parts.topics.own(f"{DEAD_PREFIX}{name}").topic_name

    def _illegal(self, drafts: list[Draft]) -> str:
        if not drafts:
            return "a batch without messages"
        most = self._parts.config.max_message_size
        if any(len(draft.body) > most for draft in drafts):
            return f"message body size over {most} octets"
        if any(len(draft.props_text.encode()) > properties.OCTETS_MAX for draft in drafts):
            return f"message properties size over {properties.OCTETS_MAX} octets"
        return ""

    def _put(self, drafts: list[Draft], incoming: IncomingRequest) -> None:
        """A batch counts when its last message does: all others stand before it in the log."""
        waits = properties.read(_text(incoming)).get(properties.WAIT) != "false"
        ids, first = list[str](), list[Stored]()

        def stored(_: Code, one: Stored) -> None:
            first.append(one)
            ids.append(records.message_id(self._parts.store_host, one.position))

        def done(code: Code, one: Stored) -> None:
            stored(code, one)
            if code is Code.SYSTEM_ERROR:
                answer = incoming.answer(code, BUSY, fields=REGION)
            else:
                fields = {"msgId": ",".join(ids), "queueId": queue, "queueOffset": first[0].offset}
                remark = "" if code is Code.SUCCESS else code.name
                answer = incoming.answer(code, remark, fields={**fields, **REGION})
            if not incoming.command.is_oneway:
                self._parts.outbox.send(incoming.connection, answer)

        queue = drafts[0].queue
        for draft in drafts[:-1]:
            self._parts.committing.put(draft, stored, waits=False)
        crooked = self._parts.crooked
        if crooked is not None and _is_candidate(drafts, incoming):
            crooked.put(drafts[-1], done, waits)
        else:
            self._parts.committing.put(drafts[-1], done, waits)


def _is_candidate(drafts: list[Draft], incoming: IncomingRequest) -> bool:
    """For misbehaving.py."""
    topic = drafts[0].topic
    is_ones_own = topic == HALF or is_clients(topic)
    return len(drafts) == 1 and is_ones_own and not incoming.command.is_oneway


def half(draft: Draft) -> Draft:
    """One that a transaction has yet to decide about."""
    kept = under(draft, HALF, 0)
    return msgspec.structs.replace(kept, sys_flag=draft.sys_flag & ~TRANSACTION_BITS)


def _text(incoming: IncomingRequest) -> str:
    names = _V1 if incoming.command.header.code == RequestCode.SEND_MESSAGE else _LETTERS
    return incoming.fields.text(names["properties"], "")


def _read(fields: Fields, code: int) -> _Sent:
    """Raises BadRequest."""
    names = _V1 if code == RequestCode.SEND_MESSAGE else _LETTERS
    most = fields.integer(names["maxReconsumeTimes"], -1)
    return _Sent(
        fields.text(names["topic"]),
        fields.text(names["defaultTopic"], ""),
        fields.integer(names["defaultTopicQueueNums"], 0),
        fields.integer(names["queueId"]),
        fields.integer(names["sysFlag"]),
        fields.long(names["bornTimestamp"]),
        fields.integer(names["flag"], 0),
        fields.text(names["properties"], ""),
        fields.integer(names["reconsumeTimes"], 0),
        None if most < 0 else most,
        fields.flag(names["batch"]),
    )
