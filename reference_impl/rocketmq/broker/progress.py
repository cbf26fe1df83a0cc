"""The lag of a group, for `consumerProgress` of the tools.

1. Topics that the group ever committed an offset of; where it is connected, those that it wants.
2. A queue that it never committed anything of counts from its beginning.
"""

from collections.abc import Iterator

import msgspec

from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.serving import IncomingRequest

_RATE_S = 60  # of what is reported as a group's rate


class Progress:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def handle(self, incoming: IncomingRequest) -> Command:
        """The real one writes a document in which names of a table are documents themselves."""
        group, topic = incoming.fields.text("consumerGroup"), incoming.fields.text("topic", "")
        topics = [one for one in self._topics(group, topic) if self._is_wanted(group, one)]
        rows = ",".join(row for one in topics for row in self._rows(group, one))
        meters = self._parts.meters.by_group
        rate = sum(meters[group, one].per_s(_RATE_S) for one in topics if (group, one) in meters)
        text = f'{{"consumeTps":{rate:.2f},"offsetTable":{{{rows}}}}}'
        return incoming.answer(body=text.encode())

    def _topics(self, group: str, topic: str) -> list[str]:
        return [topic] if topic else self._parts.offsets.topics(group)

    def _is_wanted(self, group: str, topic: str) -> bool:
        known = self._parts.clients.consumers.get(group)
        return known is None or not known.wants or topic in known.wants

    def _rows(self, group: str, topic: str) -> Iterator[str]:
        """`{queue}:{offsets}` of each queue."""
        parts = self._parts
        config = parts.topics.get(topic)
        for number in range(0 if config is None else config.read_queue_nums):
            queue = {"brokerName": parts.config.broker_name, "queueId": number, "topic": topic}
            consumed = parts.offsets.get(group, topic, number) or 0
            last = parts.store.at(topic, number, consumed - 1)
            tables = {
                "brokerOffset": parts.store.ends(topic, number)[1],
                "consumerOffset": consumed,
                "lastTimestamp": 0 if last is None else last.stored_ms,
            }
            yield f"{msgspec.json.encode(queue).decode()}:{msgspec.json.encode(tables).decode()}"
