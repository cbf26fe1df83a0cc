"""BrokerClients of a broker: producers and consumers by group, and subscriptions of consumers
(docs/behaviour/rocketmq.md 3.2).

1. A heartbeat identifies a client. It is gone when it says so, or when its connection ends.
2. When the members of a group change, or the topics that they want do, all of them get a notice,
   and query. The newest version of a subscription to a topic counts.
3. Java writes names where the native client writes numbers; nothing here depends on them, and they
   are given back as they came.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from reference_impl.rocketmq.remoting.fields import UNREADABLE, BadRequest
from reference_impl.rocketmq.store.properties import tags_code

ALL = "*"
_TAG = "TAG"


class Subscription(msgspec.Struct, frozen=True, rename="camel"):
    """A group's subscription to a topic."""

    topic: str
    sub_string: str = ALL
    code_set: list[int | str] | None = None
    tags_set: list[str] | None = None
    sub_version: int | str = 0
    expression_type: str | None = _TAG
    class_filter_mode: bool | int = False

    @property
    def version(self) -> int:
        """Java's milliseconds of when it was made or changed; the native client writes a text."""
        return int(self.sub_version)

    def wants(self, code: int) -> bool:
        codes = self.code_set or ()
        return self.sub_string in (ALL, "") or code in codes or str(code) in codes


class _Consumer(msgspec.Struct, rename="camel"):
    group_name: str
    consume_type: Any = None
    message_model: Any = None
    consume_from_where: Any = None
    subscription_data_set: list[Subscription] = []


class _Producer(msgspec.Struct, rename="camel"):
    group_name: str


class _Heartbeat(msgspec.Struct):
    clientID: str
    producerDataSet: list[_Producer] = []
    consumerDataSet: list[_Consumer] = []


class ClientInfo(msgspec.Struct, frozen=True):
    name: str
    address: str
    language: str
    version: int


class Members(msgspec.Struct):
    """The consumers of one group, by connection."""

    clients: dict[int, ClientInfo]
    wants: dict[str, Subscription]  # by topic
    consume_type: Any = None
    message_model: Any = None
    consume_from_where: Any = None


class BrokerClients:
    def __init__(self) -> None:
        self.producers: dict[str, dict[int, ClientInfo]] = {}  # by group and connection
        self.consumers: dict[str, Members] = {}  # by group

    def heard(self, body: bytes, connection: int, who: ClientInfo) -> tuple[list[str], list[str]]:
        """Return the groups of consumers in a heartbeat; those whose members need a notice.

        `who`: all but its name, which the heartbeat has. Raises BadRequest.
        """
        try:
            heartbeat = msgspec.json.decode(body, type=_Heartbeat)
            _check(heartbeat)
        except (*UNREADABLE, ValueError) as error:
            raise BadRequest(f"no heartbeat: {error}") from error
        client = msgspec.structs.replace(who, name=heartbeat.clientID)
        for producer in heartbeat.producerDataSet:
            self.producers.setdefault(producer.group_name, {})[connection] = client
        changed = [
            one.group_name
            for one in heartbeat.consumerDataSet
            if self._joined(one, connection, client)
        ]
        return [one.group_name for one in heartbeat.consumerDataSet], changed

    def left(self, connection: int, producers: str, consumers: str) -> list[str]:
        """Return groups whose members need a notice. "": none."""
        self.producers.get(producers, {}).pop(connection, None)
        return self._left(connection, [consumers])

    def closed(self, connection: int) -> list[str]:
        for clients in self.producers.values():
            clients.pop(connection, None)
        return self._left(connection, [*self.consumers])

    def members(self, group: str) -> dict[int, ClientInfo]:
        known = self.consumers.get(group)
        return {} if known is None else known.clients

    def wanted(self, group: str, topic: str) -> Subscription | None:
        known = self.consumers.get(group)
        return None if known is None else known.wants.get(topic)

    def _joined(self, consumer: _Consumer, connection: int, client: ClientInfo) -> bool:
        known = self.consumers.setdefault(consumer.group_name, Members({}, {}))
        wants = {one.topic: one for one in consumer.subscription_data_set}
        is_new = known.clients.get(connection) is None
        is_other = known.wants.keys() != wants.keys()
        known.clients[connection] = client
        known.wants = {topic: _newer(known.wants.get(topic), one) for topic, one in wants.items()}
        known.consume_type = consumer.consume_type
        known.message_model = consumer.message_model
        known.consume_from_where = consumer.consume_from_where
        return is_new or is_other

    def _left(self, connection: int, groups: list[str]) -> list[str]:
        return [*self._those_who_lost(connection, groups)]

    def _those_who_lost(self, connection: int, groups: list[str]) -> Iterator[str]:
        for group in groups:
            known = self.consumers.get(group)
            if known is not None and known.clients.pop(connection, None) is not None:
                if not known.clients:
                    del self.consumers[group]
                yield group


def _check(heartbeat: _Heartbeat) -> None:
    """Raises ValueError where a version is no number."""
    for consumer in heartbeat.consumerDataSet:
        for one in consumer.subscription_data_set:
            int(one.sub_version)


def _newer(known: Subscription | None, heard: Subscription) -> Subscription:
    return heard if known is None or heard.version > known.version else known


def subscription(topic: str, text: str, kind: str) -> Subscription:
    """Of a pull's own words. Raises BadRequest."""
    if kind not in (_TAG, ""):
        raise BadRequest(f"The broker does not support consumer to filter message by {kind}")
    tags = [tag.strip() for tag in text.split("||") if tag.strip()]
    if text.strip() in (ALL, ""):
        return Subscription(topic)
    return Subscription(topic, text, [tags_code(tag) for tag in tags], tags)
