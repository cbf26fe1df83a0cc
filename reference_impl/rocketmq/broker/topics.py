"""The topics of a broker, as name servers and slaves get them (docs/behaviour/rocketmq.md 3.2).

1. They are kept on its disk, and have a version that is another after every change.
2. The first message to an unknown topic makes it, if that is allowed: with the rights
   and at most the queues of the one that it is to be made after (TBW102).
"""

import random
from collections.abc import Mapping

import msgspec

from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.registration import DataVersion, Registration, Topic, Topics
from reference_impl.rocketmq.remoting.fields import BadRequest
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.store.disk import Disk

DOCUMENT = "config/topics.json"
TEMPLATE = "TBW102"
SCHEDULED = "SCHEDULE_TOPIC_XXXX"
HALF, DECIDED, GIVEN_UP = (
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
)
RETRY_PREFIX, DEAD_PREFIX = "%RETRY%", "%DLQ%"
READ, WRITE, INHERIT = 4, 2, 1
_ALL_RIGHTS = READ | WRITE | INHERIT
_LEVELS = 18
_NAME_MAX = 127
_NAME_EXTRA = frozenset("%|-_")
NOT_FOR_CLIENTS = frozenset({SCHEDULED, HALF, DECIDED, GIVEN_UP, "SELF_TEST_TOPIC"})


class BrokerTopics:
    """`changed`: whether name servers have to hear of it at once."""

    def __init__(self, disk: Disk, clock: Clock, config: BrokerSettings) -> None:
        self._disk = disk
        self._clock = clock
        self._config = config
        kept = disk.document(DOCUMENT)
        stored = Topics() if kept is None else msgspec.json.decode(kept, type=Topics)
        self._table = {**_own(config), **stored.topic_config_table}
        self._version = stored.data_version
        self.changed = False

    def get(self, name: str) -> Topic | None:
        return self._table.get(name)

    def create(self, topic: Topic) -> Topic:
        if self._table.get(topic.topic_name) != topic:
            self._table[topic.topic_name] = topic
            self._keep()
        return topic

    def like(self, name: str, template: str, queues: int) -> Topic | None:
        """Made after another one, which has to allow it."""
        pattern = self._table.get(template)
        if pattern is None or not pattern.perm & INHERIT:
            return None
        if template == TEMPLATE and not self._config.auto_create_topic_enable:
            return None
        count = max(0, min(queues, pattern.write_queue_nums))
        return self.create(Topic(name, count, count, pattern.perm & ~INHERIT))

    def own(self, name: str, queues: int = 1) -> Topic:
        """One that the broker has need of itself."""
        return self._table.get(name) or self.create(Topic(name, queues, queues, READ | WRITE))

    def delete(self, name: str) -> None:
        if self._table.pop(name, None) is not None:
            self._keep()

    def copy(self, topics: Topics) -> None:
        """Copy the topics of a slave's master, if their version is another."""
        if topics.data_version != self._version:
            self._table = dict(topics.topic_config_table)
            self._version = topics.data_version
            self._disk.keep(DOCUMENT, self.table())

    @property
    def version(self) -> DataVersion:
        return self._version

    def table(self) -> bytes:
        """Return all of them, as a slave gets them."""
        return msgspec.json.encode(self.all())

    def take(self, table: bytes) -> None:
        """Take a master's table. Raises ValueError for what is none."""
        self.copy(msgspec.json.decode(table, type=Topics))

    def all(self) -> Topics:
        return Topics(self._table, self._version)

    def registration(self) -> bytes:
        return msgspec.json.encode(Registration(self.all()))

    def _keep(self) -> None:
        self._version = DataVersion(self._version.counter + 1, self._clock.wall_ms())
        self._disk.keep(DOCUMENT, self.table())
        self.changed = True


def is_clients(name: str) -> bool:
    """One of clients' own, and none that a broker keeps for them."""
    return name not in NOT_FOR_CLIENTS and not name.startswith((RETRY_PREFIX, DEAD_PREFIX))


def wrong_name(name: str) -> str:
    """Return why no message goes to a topic of that name; "" if one may."""
    if not name.strip():
        return "The specified topic is blank."
    if len(name) > _NAME_MAX:
        return f"The specified topic is longer than topic max length {_NAME_MAX}."
    if not all(one.isascii() and (one.isalnum() or one in _NAME_EXTRA) for one in name):
        return "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
    return ""


def _own(config: BrokerSettings) -> Mapping[str, Topic]:
    """Return the topics that every broker has from its start."""
    topics = [
        Topic("SELF_TEST_TOPIC", 1, 1),
        Topic("BenchmarkTest", 1024, 1024),
        Topic(config.broker_cluster_name, perm=_ALL_RIGHTS),
        Topic(config.broker_name, 1, 1, _ALL_RIGHTS),
        Topic("OFFSET_MOVED_EVENT", 1, 1),
        Topic(SCHEDULED, _LEVELS, _LEVELS),
        Topic(f"{config.broker_cluster_name}_REPLY_TOPIC", 1, 1),
    ]
    if config.auto_create_topic_enable:
        count = config.default_topic_queue_nums
        topics.append(Topic(TEMPLATE, count, count, _ALL_RIGHTS))
    return {topic.topic_name: topic for topic in topics}


def any_queue(topic: Topic, dice: random.Random) -> int:
    """To write to. Raises BadRequest where it has none: the real broker divides by zero then, and
    answers so."""
    if topic.write_queue_nums <= 0:
        raise BadRequest(f"topic[{topic.topic_name}] has no queue to write to")
    return dice.randrange(topic.write_queue_nums)
