"""What one broker tells of its topics, its consumers' offsets and itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.workers.remoting import json_text
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.requests import TopicQueue

_TOPIC_AND_GROUP = "@"


@dataclass(frozen=True, slots=True, order=True)
class Topic:
    """As its broker has it configured."""

    name: str
    read_queues: int
    write_queues: int
    perm: int

    @property
    def queues(self) -> tuple[TopicQueue, ...]:
        """Every queue that may hold something: fewer may be written than read, or the reverse."""
        count = max(self.read_queues, self.write_queues)
        return tuple(TopicQueue(self.name, number) for number in range(count))


def read_topics(body: bytes) -> tuple[Topic, ...]:
    """Of GET_ALL_TOPIC_CONFIG, by name. Raises WireError."""
    try:
        table = json_text.read_object(body)["topicConfigTable"]
        return tuple(sorted(_topic(one) for one in table.values()))
    except (KeyError, TypeError, AttributeError) as error:
        raise WireError(f"no topic configurations: {error!r} in {body[:200]!r}") from error


def read_offsets(body: bytes) -> dict[tuple[str, TopicQueue], int]:
    """Of GET_ALL_CONSUMER_OFFSET: by group and queue. Raises WireError."""
    try:
        return dict(_offsets(json_text.read_object(body)["offsetTable"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WireError(f"no consumer offsets: {error!r} in {body[:200]!r}") from error


def read_members(body: bytes) -> list[str]:
    """Of GET_CONSUMER_LIST_BY_GROUP. Raises WireError."""
    try:
        return [str(one) for one in json_text.read_object(body)["consumerIdList"]]
    except (KeyError, TypeError) as error:
        raise WireError(f"no members: {error!r} in {body[:200]!r}") from error


def read_locked(body: bytes) -> bool:
    """Of LOCK_BATCH_MQ of one queue. Raises WireError."""
    try:
        return bool(json_text.read_object(body)["lockOKMQSet"])
    except (KeyError, TypeError) as error:
        raise WireError(f"no locks: {error!r} in {body[:200]!r}") from error


def read_runtime(body: bytes) -> dict[str, str]:
    """Of GET_BROKER_RUNTIME_INFO. Raises WireError."""
    try:
        table = json_text.read_object(body)["table"]
        return {str(name): str(value) for name, value in table.items()}
    except (KeyError, AttributeError) as error:
        raise WireError(f"no runtime info: {error!r} in {body[:200]!r}") from error


def _topic(one: dict[str, Any]) -> Topic:
    return Topic(one["topicName"], one["readQueueNums"], one["writeQueueNums"], one["perm"])


def _offsets(table: dict[str, dict[str, int]]) -> Iterator[tuple[tuple[str, TopicQueue], int]]:
    for key, by_queue in table.items():
        topic, _, group = key.partition(_TOPIC_AND_GROUP)
        for number, offset in by_queue.items():
            yield (group, TopicQueue(topic, int(number))), int(offset)
