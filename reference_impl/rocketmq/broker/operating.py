"""Requests of operators, tools and slaves to a broker (docs/behaviour/rocketmq.md 3.2)."""

import msgspec

from reference_impl.rocketmq.broker.clients import ClientInfo
from reference_impl.rocketmq.broker.delays import Delays
from reference_impl.rocketmq.broker.groups import ConsumerGroup
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.topics import wrong_name
from reference_impl.rocketmq.registration import Topic
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.fields import UNREADABLE, BadRequest
from reference_impl.rocketmq.remoting.serving import Handler, IncomingRequest
from reference_impl.rocketmq.settings import BrokerSettings

VERSION_TEXT = "V4_9_8"
# Every request is carried out at once: these queues of the real one are always empty.
_QUEUES = dict.fromkeys(
    (
        *("sendThreadPoolQueueSize", "sendThreadPoolQueueHeadWaitTimeMills"),
        *("pullThreadPoolQueueSize", "pullThreadPoolQueueHeadWaitTimeMills"),
        "pageCacheLockTimeMills",
    ),
    0,
)


class Operating:
    def __init__(self, parts: Parts, delays: Delays) -> None:
        self._parts = parts
        self._delays = delays
        self._booted_ms = parts.clock.wall_ms()
        self.handlers: dict[int, Handler] = {
            RequestCode.UPDATE_AND_CREATE_TOPIC: self._create,
            RequestCode.DELETE_TOPIC_IN_BROKER: self._delete,
            RequestCode.GET_ALL_TOPIC_CONFIG: self._topics,
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP: self._create_group,
            RequestCode.DELETE_SUBSCRIPTION_GROUP: self._delete_group,
            RequestCode.GET_ALL_SUBSCRIPTION_GROUPS: self._groups,
            RequestCode.GET_ALL_CONSUMER_OFFSET: self._offsets,
            RequestCode.GET_ALL_DELAY_OFFSET: self._delay_offsets,
            RequestCode.GET_BROKER_CONFIG: self._configuration,
            RequestCode.GET_BROKER_RUNTIME_INFO: self._runtime,
            RequestCode.GET_CONSUMER_CONNECTIONS: self._consumers,
            RequestCode.GET_ALL_PRODUCERS: self._producers,
        }

    def _create(self, incoming: IncomingRequest) -> Command:
        fields = incoming.fields
        name = fields.text("topic")
        if why := wrong_name(name):
            return incoming.answer(Code.SYSTEM_ERROR, why)
        topic = Topic(
            name,
            fields.integer("readQueueNums"),
            fields.integer("writeQueueNums"),
            fields.integer("perm"),
            fields.text("topicFilterType", "SINGLE_TAG"),
            fields.integer("topicSysFlag", 0),
            fields.flag("order"),
        )
        self._parts.topics.create(topic)
        return incoming.answer()

    def _delete(self, incoming: IncomingRequest) -> Command:
        name = incoming.fields.text("topic")
        self._parts.topics.delete(name)
        self._parts.store.drop(name)
        self._parts.offsets.forget_topic(name)
        return incoming.answer()

    def _topics(self, incoming: IncomingRequest) -> Command:
        return incoming.json(self._parts.topics.all())

    def _create_group(self, incoming: IncomingRequest) -> Command:
        try:
            group = msgspec.json.decode(incoming.command.body, type=ConsumerGroup)
        except UNREADABLE as error:
            raise BadRequest(f"no group: {error}") from error
        self._parts.groups.create(group)
        return incoming.answer()

    def _delete_group(self, incoming: IncomingRequest) -> Command:
        name = incoming.fields.text("groupName")
        self._parts.groups.delete(name)
        if incoming.fields.flag("cleanOffset"):
            self._parts.offsets.forget_group(name)
        return incoming.answer()

    def _groups(self, incoming: IncomingRequest) -> Command:
        return incoming.json(self._parts.groups.all())

    def _offsets(self, incoming: IncomingRequest) -> Command:
        return incoming.answer(body=self._parts.offsets.all())

    def _delay_offsets(self, incoming: IncomingRequest) -> Command:
        return incoming.answer(body=self._delays.progress())

    def _configuration(self, incoming: IncomingRequest) -> Command:
        text = "".join(f"{name}={value}\n" for name, value in _properties(self._parts.config))
        return incoming.answer(body=text.encode())

    def _runtime(self, incoming: IncomingRequest) -> Command:
        log, meters = self._parts.store.log, self._parts.meters
        first = self._parts.store.record(log.start)
        table = {
            "bootTimestamp": self._booted_ms,
            "brokerVersion": incoming.answer().header.version,
            "brokerVersionDesc": VERSION_TEXT,
            "commitLogMinOffset": log.start,
            "commitLogMaxOffset": log.end,
            "commitLogFlushed": log.flushed,
            "earliestMessageTimeStamp": -1 if first is None else first.stored_ms,
            "putTps": meters.put.rates_text(),
            "getTransferedTps": meters.given.rates_text(),
            "msgPutTotalTodayNow": meters.put.total,
            "msgGetTotalTodayNow": meters.given.total,
            **_QUEUES,
        }
        return incoming.json({"table": {name: str(value) for name, value in table.items()}})

    def _consumers(self, incoming: IncomingRequest) -> Command:
        group = incoming.fields.text("consumerGroup")
        known = self._parts.clients.consumers.get(group)
        if known is None:
            remark = f"the consumer group[{group}] not online"
            return incoming.answer(Code.CONSUMER_NOT_ONLINE, remark)
        return incoming.json(
            {
                "connectionSet": [_connected(client) for client in known.clients.values()],
                "subscriptionTable": known.wants,
                "consumeType": known.consume_type,
                "messageModel": known.message_model,
                "consumeFromWhere": known.consume_from_where,
            }
        )

    def _producers(self, incoming: IncomingRequest) -> Command:
        table = {
            group: [_sending(client) for client in clients.values()]
            for group, clients in self._parts.clients.producers.items()
            if clients
        }
        return incoming.json({"data": table})


def _connected(client: ClientInfo) -> dict[str, object]:
    return {
        "clientId": client.name,
        "clientAddr": client.address,
        "language": client.language,
        "version": client.version,
    }


def _sending(client: ClientInfo) -> dict[str, object]:
    return {
        "clientId": client.name,
        "remoteIP": client.address,
        "language": client.language,
        "version": client.version,
    }


def _properties(config: BrokerSettings) -> list[tuple[str, str]]:
    """Return the configuration under the names of the real one; times without a name there are
    left out."""
    settings = msgspec.to_builtins(config)
    times = settings.pop("times")
    return [(name, _java(value)) for name, value in {**settings, **times}.items()]


def _java(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
