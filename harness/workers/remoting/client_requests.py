"""What a client asks of brokers: sends, pulls that wait, who is of a group, offsets."""

import json
from collections.abc import Mapping
from typing import Any

from harness.workers.remoting.requests import Code, Request, TopicQueue

HOLD_MS = 15_000  # so long a broker holds a pull that finds nothing
_SUSPENDS_AND_SUBSCRIBES = 6  # bits of sysFlag
_TEMPLATE = "TBW102"
IN_TRANSACTION = "TRAN_MSG"  # the property of a half
_PREPARED = 4  # a bit of sysFlag
_NAME, _PAIR = "\x01", "\x02"


def send(
    group: str, queue: TopicQueue, body: bytes, properties: Mapping[str, str], born_ms: int
) -> Request:
    """As the Java client of 4.9 names its fields."""
    fields = {
        "a": group,
        "b": queue.topic,
        "c": _TEMPLATE,
        "d": "4",
        "e": str(queue.number),
        "f": str(_PREPARED if IN_TRANSACTION in properties else 0),
        "g": str(born_ms),
        "h": "0",
        "i": _PAIR.join(f"{name}{_NAME}{value}" for name, value in properties.items()),
        "j": "0",
        "k": "false",
        "m": "false",
    }
    return Request(Code.SEND_MESSAGE_V2, f"to send to {queue.topic}/{queue.number}", fields, body)


def end_transaction(group: str, decision: int, fields: Mapping[str, str]) -> Request:
    """`fields`: which half it is."""
    all_fields = {"producerGroup": group, "commitOrRollback": str(decision), **fields}
    return Request(Code.END_TRANSACTION, f"to end a transaction of {group}", all_fields)


def consumer_heartbeat(client: str, group: str, topic: str) -> Request:
    """Of a group that wants all of one topic."""
    wants = {
        "topic": topic,
        "subString": "*",
        "tagsSet": [],
        "codeSet": [],
        "subVersion": 0,
        "expressionType": "TAG",
        "classFilterMode": False,
    }
    consumer = {
        "groupName": group,
        "consumeType": "CONSUME_PASSIVELY",
        "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
        "unitMode": False,
        "subscriptionDataSet": [wants],
    }
    return _heartbeat(client, consumerDataSet=[consumer])


def producer_heartbeat(client: str, group: str) -> Request:
    return _heartbeat(client, producerDataSet=[{"groupName": group}])


def _heartbeat(client: str, **groups: list[Any]) -> Request:
    document = {"clientID": client, "producerDataSet": [], "consumerDataSet": []} | groups
    return Request(Code.HEART_BEAT, f"a heartbeat of {client}", body=json.dumps(document).encode())


def consumer_farewell(client: str, group: str) -> Request:
    return _farewell(client, consumerGroup=group)


def producer_farewell(client: str, group: str) -> Request:
    return _farewell(client, producerGroup=group)


def _farewell(client: str, **group: str) -> Request:
    return Request(Code.UNREGISTER_CLIENT, f"{client} leaves", {"clientID": client, **group})


def members(group: str) -> Request:
    return Request(Code.GET_CONSUMER_LIST_BY_GROUP, f"who is of {group}", {"consumerGroup": group})


def long_pull(group: str, queue: TopicQueue, offset: int, most: int) -> Request:
    """What stands in the queue from `offset` on; held for HOLD_MS where nothing does."""
    fields = {
        "consumerGroup": group,
        "topic": queue.topic,
        "queueId": str(queue.number),
        "queueOffset": str(offset),
        "maxMsgNums": str(most),
        "sysFlag": str(_SUSPENDS_AND_SUBSCRIBES),
        "commitOffset": "0",
        "suspendTimeoutMillis": str(HOLD_MS),
        "subscription": "*",
        "subVersion": "0",
        "expressionType": "TAG",
    }
    words = f"messages of {queue.topic}/{queue.number} from {offset} on"
    return Request(Code.PULL_MESSAGE, words, fields)


def commit(group: str, queue: TopicQueue, offset: int) -> Request:
    fields = {
        "consumerGroup": group,
        "topic": queue.topic,
        "queueId": str(queue.number),
        "commitOffset": str(offset),
    }
    words = f"{offset} as the offset of {group} in {queue.topic}/{queue.number}"
    return Request(Code.UPDATE_CONSUMER_OFFSET, words, fields)


def lock(client: str, group: str, topic: str, broker: str, number: int) -> Request:
    """The lock of one queue, for a client of a group."""
    body = _queue_of(client, group, topic, broker, number)
    return Request(Code.LOCK_BATCH_MQ, f"the lock of {topic}/{number} for {client}", body=body)


def unlock(client: str, group: str, topic: str, broker: str, number: int) -> Request:
    body = _queue_of(client, group, topic, broker, number)
    return Request(Code.UNLOCK_BATCH_MQ, f"to unlock {topic}/{number} for {client}", body=body)


def _queue_of(client: str, group: str, topic: str, broker: str, number: int) -> bytes:
    queue = {"topic": topic, "brokerName": broker, "queueId": number}
    document = {"consumerGroup": group, "clientId": client, "mqSet": [queue]}
    return json.dumps(document).encode()
