"""Messages handed to a real broker without a client library, for captures and audits."""

import json

from harness.workers.remoting.requests import Request, TopicQueue
from harness.workers.rocketmq.connection import Connection

LIMIT_S = 60.0  # a machine that has other things to do
SEND_MESSAGE = 10
UPDATE_CONSUMER_OFFSET = 15
UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200


async def send(
    connection: Connection,
    queue: TopicQueue,
    body: bytes,
    properties: dict[str, str] | None = None,
    flags: int = 0,
) -> int:
    """The offset in the queue that the broker gave it."""
    pairs = "".join(f"{name}\x01{value}\x02" for name, value in (properties or {}).items())
    fields = {
        "producerGroup": "mqproof_tests",
        "topic": queue.topic,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": str(queue.number),
        "sysFlag": str(flags),
        "bornTimestamp": "1700000000000",
        "flag": "0",
        "properties": pairs,
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "false",
    }
    answer = await connection.ask(_request(SEND_MESSAGE, fields, body), LIMIT_S)
    assert answer.header.code in (0, 10, 11, 12), answer.header
    return int(answer.header.fields["queueOffset"])


async def commit(connection: Connection, group: str, queue: TopicQueue, offset: int) -> None:
    """A group that is not known is made first: 5.3.3 takes an offset of no other."""
    made = json.dumps({"groupName": group}).encode()
    answer = await connection.ask(_request(UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, made), LIMIT_S)
    assert answer.header.code == 0, answer.header
    await commit_of_known(connection, group, queue, offset)


async def commit_of_known(
    connection: Connection, group: str, queue: TopicQueue, offset: int
) -> None:
    """A slave makes no groups; one of 4.9.7 takes the offset of any."""
    fields = {
        "consumerGroup": group,
        "topic": queue.topic,
        "queueId": str(queue.number),
        "commitOffset": str(offset),
    }
    answer = await connection.ask(_request(UPDATE_CONSUMER_OFFSET, fields), LIMIT_S)
    assert answer.header.code == 0, answer.header


def _request(code: int, fields: dict[str, str], body: bytes = b"") -> Request:
    return Request(code, f"code {code}", fields, body)  # type: ignore[arg-type]  # not ours to ask
