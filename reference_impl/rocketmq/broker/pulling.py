"""Pulls of consumers, and their long polling (docs/behaviour/rocketmq.md 3.2).

1. A pull that finds nothing and may wait is held: until a message that it wants comes, or its time
   is over. Held pulls are looked at when a message comes to their queue, and every five seconds:
   no sooner does a consumer learn that its time is over.
2. A slave looks at them in those five seconds alone: nothing that it copies wakes a pull.
3. A pull may commit an offset, on a master, and only when it came and not when it wakes.
"""

import msgspec

from reference_impl.rocketmq.broker.clients import Subscription, subscription
from reference_impl.rocketmq.broker.groups import TOOLS
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.topics import READ, is_clients
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.serving import IncomingRequest
from reference_impl.rocketmq.store.records import Draft
from reference_impl.rocketmq.store.store import ReadResult, Status

COMMITS, MAY_WAIT, HAS_SUBSCRIPTION = 1, 2, 4  # bits of sysFlag
_MASTER = 0
_CODES = {
    Status.FOUND: Code.SUCCESS,
    Status.NO_MATCH: Code.PULL_RETRY_IMMEDIATELY,
    Status.AT_END: Code.PULL_NOT_FOUND,
    Status.PAST_END: Code.PULL_OFFSET_MOVED,
    Status.TOO_SMALL: Code.PULL_OFFSET_MOVED,
}


class _Pull(msgspec.Struct, frozen=True):
    incoming: IncomingRequest
    group: str
    topic: str
    queue: int
    offset: int
    most: int
    wants: Subscription


class _Held(msgspec.Struct, frozen=True):
    pull: _Pull
    until_ms: int


class Pulling:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        parts.when_stored.append(self._stored)
        self._recheck_ms = parts.config.times.long_polling_recheck
        self._at_ms = parts.clock.now_ms() + self._recheck_ms
        self._held: dict[tuple[str, int], list[_Held]] = {}

    def handle(self, incoming: IncomingRequest) -> Command | None:
        pull = self._read(incoming)
        if isinstance(pull, Command):
            return pull
        flags, fields = incoming.fields.integer("sysFlag"), incoming.fields
        if flags & COMMITS and not self._parts.role.is_slave:
            offset = fields.long("commitOffset")
            self._parts.offsets.commit(pull.group, pull.topic, pull.queue, offset)
        found = self._find(pull)
        if flags & MAY_WAIT and self._code(pull, found) is Code.PULL_NOT_FOUND:
            until_ms = self._parts.clock.now_ms() + fields.long("suspendTimeoutMillis")
            self._held.setdefault((pull.topic, pull.queue), []).append(_Held(pull, until_ms))
            return None
        return self._answer(pull, found)

    def _stored(self, draft: Draft, _offset: int, stored_ms: int) -> None:
        """Wake the held pulls that want this message."""
        topic, queue = draft.topic, draft.queue
        held = self._held.pop((topic, queue), None)
        if held is None:
            return
        code = self._parts.code_of(draft, stored_ms)
        for one in held:
            if one.pull.wants.wants(code):
                self._wake(one)
            else:
                self._held.setdefault((topic, queue), []).append(one)

    def tick(self) -> None:
        now_ms = self._parts.clock.now_ms()
        if now_ms < self._at_ms:
            return
        self._at_ms = now_ms + self._recheck_ms
        held, self._held = self._held, {}
        for key, some in held.items():
            for one in some:
                if now_ms >= one.until_ms or self._has_more(one.pull):
                    self._wake(one)
                else:
                    self._held.setdefault(key, []).append(one)

    def closed(self, connection: int) -> None:
        for key, some in [*self._held.items()]:
            self._held[key] = [one for one in some if one.pull.incoming.connection != connection]
            if not self._held[key]:
                del self._held[key]

    def _read(self, incoming: IncomingRequest) -> _Pull | Command:
        parts, fields = self._parts, incoming.fields
        group, topic = fields.text("consumerGroup"), fields.text("topic")
        queue = fields.integer("queueId")
        if parts.groups.wanted(group) is None:
            remark = f"subscription group [{group}] does not exist"
            return incoming.answer(Code.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
        config = parts.topics.get(topic)
        if config is None:
            return incoming.answer(
                Code.TOPIC_NOT_EXIST, f"topic[{topic}] not exist, apply first please!"
            )
        if not config.perm & READ:
            return incoming.answer(
                Code.NO_PERMISSION, f"the topic[{topic}] pulling message is forbidden"
            )
        if not 0 <= queue < config.read_queue_nums:
            return incoming.answer(
                Code.SYSTEM_ERROR, f"queueId[{queue}] is illegal, topic:[{topic}]"
            )
        wants = self._wants(incoming, group, topic)
        if isinstance(wants, Command):
            return wants
        offset, most = fields.long("queueOffset"), fields.integer("maxMsgNums")
        return _Pull(incoming, group, topic, queue, offset, most, wants)

    def _wants(self, incoming: IncomingRequest, group: str, topic: str) -> Subscription | Command:
        fields = incoming.fields
        if fields.integer("sysFlag") & HAS_SUBSCRIPTION:
            kind = fields.text("expressionType", "")
            return subscription(topic, fields.text("subscription", ""), kind)
        if not self._parts.clients.members(group):
            remark = "the consumer's group info not exist"
            return incoming.answer(Code.SUBSCRIPTION_NOT_EXIST, remark)
        wants = self._parts.clients.wanted(group, topic)
        if wants is None:
            remark = "the consumer's subscription not exist"
            return incoming.answer(Code.SUBSCRIPTION_NOT_EXIST, remark)
        if wants.version < fields.long("subVersion", 0):
            remark = "the consumer's subscription not latest"
            return incoming.answer(Code.SUBSCRIPTION_NOT_LATEST, remark)
        return wants

    def _find(self, pull: _Pull) -> ReadResult:
        parts, place = self._parts, (pull.topic, pull.queue)
        found = parts.store.find(*place, pull.offset, pull.most, pull.wants.wants)
        if parts.crooked is None or pull.group in TOOLS or not is_clients(pull.topic):
            return found
        return parts.crooked.given(pull.group, *place, pull.offset, found)

    def _has_more(self, pull: _Pull) -> bool:
        return self._parts.store.ends(pull.topic, pull.queue)[1] > pull.offset

    def _code(self, pull: _Pull, found: ReadResult) -> Code:
        if found.status in (Status.NO_QUEUE, Status.EMPTY):
            code = Code.PULL_OFFSET_MOVED if pull.offset else Code.PULL_NOT_FOUND
        else:
            code = _CODES[found.status]
        if code is Code.PULL_OFFSET_MOVED and self._parts.role.is_slave:
            return Code.PULL_RETRY_IMMEDIATELY
        return code

    def _answer(self, pull: _Pull, found: ReadResult) -> Command:
        code = self._code(pull, found)
        # A slave without the requested messages yet sends no consumer back.
        behind = code is Code.PULL_RETRY_IMMEDIATELY and found.status is not Status.NO_MATCH
        fields = {
            "suggestWhichBrokerId": _MASTER,
            "nextBeginOffset": pull.offset if behind else found.offset,
            "minOffset": found.least,
            "maxOffset": found.end,
        }
        self._parts.meters.gave(pull.group, pull.topic, found.messages)
        remark = "FOUND" if code is Code.SUCCESS else found.status.name
        return pull.incoming.answer(code, remark, found.octets, fields)

    def _wake(self, held: _Held) -> None:
        answer = self._answer(held.pull, self._find(held.pull))
        self._parts.outbox.send(held.pull.incoming.connection, answer)
