"""Requests to name servers and brokers: a code, fields, and words for messages.

1. No request changes anything, except `create_topic` and `delete_...`.
2. Messages are read in the name of TOOLS_CONSUMER, a group that every broker knows from its start:
   nothing is created by reading, and no offset is committed.
3. A read never waits for new messages: readers of a log want the stored ones.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

READERS_GROUP = "TOOLS_CONSUMER"
PULL_MAX = 32  # more is never given at once
PERM_READ, PERM_WRITE = 4, 2
_HAS_SUBSCRIPTION = 4  # a bit of sysFlag; without 1 nothing is committed, without 2 no pull waits
_HOLD_MS = 15_000  # required, without effect: no pull waits


class Code(IntEnum):
    """Of requests."""

    PULL_MESSAGE = 11
    QUERY_CONSUMER_OFFSET = 14
    UPDATE_CONSUMER_OFFSET = 15
    UPDATE_AND_CREATE_TOPIC = 17
    GET_ALL_TOPIC_CONFIG = 21
    GET_BROKER_CONFIG = 26
    GET_BROKER_RUNTIME_INFO = 28
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    VIEW_MESSAGE_BY_ID = 33
    HEART_BEAT = 34
    UNREGISTER_CLIENT = 35
    END_TRANSACTION = 37
    GET_CONSUMER_LIST_BY_GROUP = 38
    CHECK_TRANSACTION_STATE = 39  # from a broker
    LOCK_BATCH_MQ = 41
    UNLOCK_BATCH_MQ = 42
    GET_ALL_CONSUMER_OFFSET = 43
    PUT_KV_CONFIG = 100
    GET_KV_CONFIG = 101
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    GET_ALL_SUBSCRIPTION_GROUPS = 201
    GET_CONSUMER_CONNECTIONS = 203
    DELETE_SUBSCRIPTION_GROUP = 207
    DELETE_TOPIC_IN_BROKER = 215
    DELETE_TOPIC_IN_NAME_SERVER = 216
    GET_NAMESRV_CONFIG = 319
    SEND_MESSAGE_V2 = 310
    GET_ALL_PRODUCERS = 328
    CONTROLLER_GET_METADATA_INFO = 1005  # of RocketMQ 5
    CONTROLLER_GET_SYNC_STATE_DATA = 1006
    DLEDGER_METADATA = 50000
    DLEDGER_HEART_BEAT = 51002


class RemotingAnswer(IntEnum):
    """Codes of answers that say something to us."""

    SUCCESS = 0
    DLEDGER_SUCCESS = 200
    SYSTEM_ERROR = 1
    SYSTEM_BUSY = 2
    FLUSH_DISK_TIMEOUT = 10
    SLAVE_NOT_AVAILABLE = 11
    FLUSH_SLAVE_TIMEOUT = 12
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    PULL_NOT_FOUND = 19
    PULL_RETRY_IMMEDIATELY = 20
    PULL_OFFSET_MOVED = 21
    QUERY_NOT_FOUND = 22


@dataclass(frozen=True, slots=True)
class Request:
    """A request; the sender numbers it. `words`: its name in errors."""

    code: Code
    words: str
    fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, order=True)
class TopicQueue:
    """One queue of a topic on one broker."""

    topic: str
    number: int


def route(topic: str) -> Request:
    fields = {"topic": topic, "acceptStandardJsonOnly": "true"}
    return Request(Code.GET_ROUTEINFO_BY_TOPIC, f"the route of {topic}", fields)


def cluster_info() -> Request:
    return Request(Code.GET_BROKER_CLUSTER_INFO, "cluster info")


def runtime_info() -> Request:
    return Request(Code.GET_BROKER_RUNTIME_INFO, "runtime info")


def topic_configs() -> Request:
    return Request(Code.GET_ALL_TOPIC_CONFIG, "all topic configurations")


def consumer_offsets() -> Request:
    return Request(Code.GET_ALL_CONSUMER_OFFSET, "all consumer offsets")


def max_offset(queue: TopicQueue) -> Request:
    words = f"the max offset of {queue.topic}/{queue.number}"
    return Request(Code.GET_MAX_OFFSET, words, _of(queue))


def min_offset(queue: TopicQueue) -> Request:
    words = f"the min offset of {queue.topic}/{queue.number}"
    return Request(Code.GET_MIN_OFFSET, words, _of(queue))


def consumer_offset(group: str, queue: TopicQueue) -> Request:
    """A group without an offset may be given 0 by a broker whose queue begins at 0 (3.2)."""
    words = f"the offset of {group} in {queue.topic}/{queue.number}"
    return Request(Code.QUERY_CONSUMER_OFFSET, words, {"consumerGroup": group, **_of(queue)})


def pull(queue: TopicQueue, offset: int, most: int = PULL_MAX) -> Request:
    """What stands in the queue from `offset` on, at most so many messages."""
    fields = {
        "consumerGroup": READERS_GROUP,
        **_of(queue),
        "queueOffset": str(offset),
        "maxMsgNums": str(most),
        "sysFlag": str(_HAS_SUBSCRIPTION),
        "commitOffset": "0",
        "suspendTimeoutMillis": str(_HOLD_MS),
        "subscription": "*",
        "subVersion": "0",
        "expressionType": "TAG",
    }
    words = f"messages of {queue.topic}/{queue.number} from {offset} on"
    return Request(Code.PULL_MESSAGE, words, fields)


def view(position: int) -> Request:
    """What stands at a position of the log: a record, or the blank at the end of a file."""
    words = f"what stands at {position} of the log"
    return Request(Code.VIEW_MESSAGE_BY_ID, words, {"offset": str(position)})


def create_topic(topic: str, queues: int) -> Request:
    """Readable and writable, with as many read as write queues."""
    fields = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": str(queues),
        "writeQueueNums": str(queues),
        "perm": str(PERM_READ | PERM_WRITE),
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }
    return Request(Code.UPDATE_AND_CREATE_TOPIC, f"to create topic {topic}", fields)


def subscription_groups() -> Request:
    return Request(Code.GET_ALL_SUBSCRIPTION_GROUPS, "all subscription groups")


def consumers(group: str) -> Request:
    """Who of a group is connected."""
    words = f"the consumers of {group}"
    return Request(Code.GET_CONSUMER_CONNECTIONS, words, {"consumerGroup": group})


def producers() -> Request:
    """Who is connected to send, whatever his group."""
    return Request(Code.GET_ALL_PRODUCERS, "all producers")


def delete_topic(topic: str) -> Request:
    """Of a broker: with all that it holds, in the background."""
    return Request(Code.DELETE_TOPIC_IN_BROKER, f"to delete topic {topic}", {"topic": topic})


def delete_route(topic: str) -> Request:
    """Of a name server, which forgets no topic by itself."""
    words = f"to forget topic {topic}"
    return Request(Code.DELETE_TOPIC_IN_NAME_SERVER, words, {"topic": topic})


def delete_group(group: str) -> Request:
    """With its offsets, where the broker knows how (4.9.4 and later)."""
    fields = {"groupName": group, "cleanOffset": "true"}
    return Request(Code.DELETE_SUBSCRIPTION_GROUP, f"to delete group {group}", fields)


def controllers() -> Request:
    """Of a controller: who leads them."""
    return Request(Code.CONTROLLER_GET_METADATA_INFO, "who leads the controllers")


def sync_states(groups: Iterable[str]) -> Request:
    """Of the controllers' leader: the master of each group, and its SyncStateSet."""
    body = json.dumps(list(groups)).encode()
    return Request(Code.CONTROLLER_GET_SYNC_STATE_DATA, "the SyncStateSets", body=body)


def dledger_leader(group: str, member: str) -> Request:
    """Of a member of a DLedger group, by its id: whom it takes for the leader."""
    return _of_dledger(Code.DLEDGER_METADATA, f"whom {member} of {group} follows", group, member)


def dledger_term(group: str, member: str, other: str) -> Request:
    """As `other`, its peer, the heartbeat of a term that ended long ago: it is refused with the
    term that there is, and nothing comes of it."""
    words = f"the term of {member} of {group}"
    fields = {"leaderId": other, "localId": other, "term": -1}
    return _of_dledger(Code.DLEDGER_HEART_BEAT, words, group, member, fields)


def _of_dledger(
    code: Code, words: str, group: str, member: str, fields: Mapping[str, object] | None = None
) -> Request:
    document = {"group": group, "remoteId": member, **(fields or {})}
    return Request(code, words, body=json.dumps(document).encode())


def _of(queue: TopicQueue) -> dict[str, str]:
    return {"topic": queue.topic, "queueId": str(queue.number)}
