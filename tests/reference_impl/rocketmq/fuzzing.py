"""What no client, slave or broker would say to servers of RocketMQ, by chance from a seed.

1. Requests of every number, most of them nearly right, with one thing or another that is not, so
   that they come far; noise; and all of it changed in places.
"""

import json
import random
import struct
import zlib
from collections.abc import Callable
from typing import Any

from reference_impl.rocketmq.remoting.codes import RequestCode
from reference_impl.rocketmq.remoting.command import Command, Form, encode, request
from reference_impl.rocketmq.store import properties
from reference_impl.rocketmq.store.records import Draft, host, write

CHANGED = 0.05  # of the pieces, by one to four octets: it is the end of most connections
CUT = 0.01  # of them, somewhere
NOISE = 0.03
WILD = 0.3  # of the requests have a field, and as many a body, that is not right
CODES = (*RequestCode, 9999, -1, 2**31 - 1)
NUMBERS = (-1, 0, 1, 2, 7, 32, 200, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**70)
TEXTS = ("", "q", "TBW102", "%RETRY%g", "%DLQ%g", "SCHEDULE_TOPIC_XXXX", "ü", "\x00", "null")
TEXTS += ("RMQ_SYS_TRANS_HALF_TOPIC", "TRUE", "*", "A || B", "n" * 300, "1.5", "0x1", "nan", "-0")
TEXTS += ("SQL92", "a0:10911", "../x", "a/b", "@", "%", "１", "\x01", "\x02", "a\x01b")
FIELDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("topic", "originTopic", "b"), ("orders", "orders", "%RETRY%g", "others")),
    **dict.fromkeys(("consumerGroup", "producerGroup", "group", "groupName", "a"), ("g", "h")),
    **dict.fromkeys(("queueId", "e", "brokerId", "sysFlag", "f"), ("0", "0", "1", "2", "4", "8")),
    **dict.fromkeys(("queueOffset", "commitOffset", "tranStateTableOffset"), ("0", "1", "3")),
    **dict.fromkeys(("offset", "commitLogOffset"), ("0", "0", "157", "314", "1000")),
    **dict.fromkeys(("readQueueNums", "writeQueueNums", "d"), ("1", "4")),
    **dict.fromkeys(("delayLevel", "j", "l", "maxReconsumeTimes", "h"), ("0", "1", "3", "16")),
    **dict.fromkeys(("timestamp", "g", "suspendTimeoutMillis"), ("0", "1", "1700000000000")),
    **dict.fromkeys(("bornTimestamp", "flag", "reconsumeTimes", "defaultTopicQueueNums"), ("1",)),
    **dict.fromkeys(("order", "compressed", "cleanOffset", "m", "k", "batch"), ("true", "false")),
    **dict.fromkeys(("cluster", "clusterName", "namespace", "key", "value"), ("c", "k")),
    "perm": ("6", "6", "6", "4"),
    "maxMsgNums": ("1", "32"),
    "subscription": ("*", "A || B"),
    "expressionType": ("TAG",),
    "topicFilterType": ("SINGLE_TAG",),
    "topicSysFlag": ("0",),
    "commitOrRollback": ("0", "8", "12"),
    "brokerName": ("broker-a", "broker-b"),
    "brokerAddr": ("b0:10911", "b1:10911"),
    "haServerAddr": ("b0:10912",),
    "bodyCrc32": ("0", "0", "5"),
    "clientID": ("client@1",),
    "c": ("TBW102",),
}
PROPERTIES = ("DELAY", "TRAN_MSG", "PGROUP", "REAL_TOPIC", "REAL_QID", "UNIQ_KEY", "TAGS", "WAIT")
PROPERTIES += ("TRANSACTION_CHECK_TIMES", "RETRY_TOPIC", "ORIGIN_MESSAGE_ID", "KEYS")
VALUES = ("1", "3", "18", "19", "true", "g", "orders", "A")
_QUEUE = {"topic": "orders", "brokerName": "broker-a", "queueId": 0}
_SUBSCRIPTION = {
    "topic": "orders",
    "subString": "*",
    "codeSet": [],
    "tagsSet": [],
    "subVersion": 1,
}
_TOPIC = {"topicName": "orders", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
_TOPICS = {"topicConfigTable": {"orders": _TOPIC}, "dataVersion": {"counter": 1, "timestamp": 2}}
_LOCKS = {"consumerGroup": "g", "clientId": "client@1", "mqSet": [_QUEUE]}
BODIES: dict[int, Any] = {
    RequestCode.HEART_BEAT: {
        "clientID": "client@1",
        "producerDataSet": [{"groupName": "g"}],
        "consumerDataSet": [
            {
                "groupName": "g",
                "consumeType": "CONSUME_PASSIVELY",
                "messageModel": "CLUSTERING",
                "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
                "subscriptionDataSet": [_SUBSCRIPTION],
            }
        ],
    },
    RequestCode.LOCK_BATCH_MQ: _LOCKS,
    RequestCode.UNLOCK_BATCH_MQ: _LOCKS,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP: {"groupName": "g", "retryMaxTimes": 3},
    RequestCode.REGISTER_BROKER: {"topicConfigSerializeWrapper": _TOPICS, "filterServerList": []},
    RequestCode.QUERY_DATA_VERSION: {"counter": 1, "timestamp": 2},
}


_HERE = host(bytes((127, 0, 0, 1)), 10911)
DRAFT = Draft(
    topic="orders",
    queue=0,
    flag=0,
    sys_flag=0,
    born_ms=1,
    born_host=_HERE,
    store_host=_HERE,
    body=b"here",
    props_text=properties.write({"TAGS": "A"}),
)


class Fuzzer:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._number = 0
        self._names = list(FIELDS)

    def client(self, pieces: int) -> list[bytes]:
        """What one says on one connection."""
        return [self._piece() for _ in range(self._draw.randint(1, pieces))]

    def slave(self, pieces: int) -> list[bytes]:
        """What one says to a master."""
        return [self._copied() for _ in range(self._draw.randint(1, pieces))]

    def master(self, pieces: int, end: int) -> list[bytes]:
        """Return what a master sends to a slave whose log ends there: fitting parts, records that
        are mostly nearly right, and other octets."""
        said = []
        for number in range(self._draw.randint(1, pieces)):
            octets = bytearray(write(DRAFT, number, end, 1))
            if self._draw.random() < WILD:
                octets[self._draw.randrange(len(octets))] = self._draw.randrange(256)
            said.append(struct.pack(">qi", end, len(octets)) + octets)
            end += len(octets)
        return said if self._draw.random() < 0.5 else [*said, self._copied()]

    def _piece(self) -> bytes:
        draw = self._draw
        if draw.random() < NOISE:
            return draw.randbytes(draw.randrange(60))
        return self._changed(bytearray(encode(self._command())))

    def _copied(self) -> bytes:
        draw = self._draw
        position = draw.choice((*NUMBERS[:-1], draw.randrange(1 << 17)))
        if draw.random() < 0.5:
            return self._changed(bytearray(struct.pack(">q", position)))
        body = draw.randbytes(draw.choice((0, 1, 40, 400)))
        octets = draw.choice((len(body), len(body), 0, -1, 2**31 - 1))
        return self._changed(bytearray(struct.pack(">qi", position, octets) + body))

    def _changed(self, octets: bytearray) -> bytes:
        draw = self._draw
        if octets and draw.random() < CHANGED:
            for _ in range(draw.randint(1, 4)):
                octets[draw.randrange(len(octets))] = draw.randrange(256)
        if draw.random() < CUT:
            del octets[draw.randint(0, len(octets)) :]
        return bytes(octets)

    def _command(self) -> Command:
        draw = self._draw
        self._number += 1
        code = int(draw.choice(CODES))
        made = request(code, self._number, self._fields(), self._body(code), draw.random() < 0.1)
        short = code in range(-(2**15), 2**15)  # the other form has no room for more
        form = draw.choice((Form.JSON, Form.BITS)) if short else Form.JSON
        return Command(made.header, made.body, form)

    def _fields(self) -> dict[str, str]:
        draw = self._draw
        fields = {name: values[draw.randrange(len(values))] for name, values in FIELDS.items()}
        fields["i"] = fields["properties"] = self._properties()
        while draw.random() < WILD:
            name = draw.choice(self._names)
            fields[name] = str(draw.choice((*NUMBERS, *TEXTS)))
            if draw.random() < 0.3:
                del fields[name]
        return fields

    def _properties(self) -> str:
        draw = self._draw
        chosen = draw.sample(PROPERTIES, draw.randint(0, 3))
        fields = {name: draw.choice(VALUES) for name in chosen}
        if chosen and draw.random() < WILD:
            fields[chosen[0]] = str(draw.choice((*NUMBERS, *TEXTS)))
        return properties.write(fields) if draw.random() > 0.02 else draw.choice(TEXTS)

    def _body(self, code: int) -> bytes:
        """Right, or nearly, of a request that has a document; of others anything."""
        draw = self._draw
        document = BODIES.get(code)
        if document is None or draw.random() < 0.1:
            return draw.choice(OTHERS)(draw)
        text = json.dumps(self._spoilt(document) if draw.random() < 2 * WILD else document)
        return zlib.compress(text.encode()) if draw.random() < 0.1 else text.encode()

    def _spoilt(self, document: Any) -> Any:
        """With another value somewhere in it, or without one."""
        draw = self._draw
        if isinstance(document, dict) and document and draw.random() < 0.8:
            name = draw.choice(list(document))
            others = {key: value for key, value in document.items() if key != name}
            spoilt = {name: self._spoilt(document[name])} if draw.random() < 0.85 else {}
            return others | spoilt
        if isinstance(document, list) and document and draw.random() < 0.8:
            return [self._spoilt(document[0]), *document[1:]]
        return draw.choice((*TEXTS, *NUMBERS, None, True, 1.5, [], {}, [[]], {"": 1}))


Anything = Callable[[random.Random], bytes]
OTHERS: tuple[Anything, ...] = (
    lambda _: b"",
    lambda draw: draw.randbytes(draw.choice((1, 10, 300))),
    lambda draw: b"[" * draw.choice((1, 100, 20_000)),
    lambda draw: zlib.compress(draw.randbytes(40)),
    lambda draw: zlib.compress(struct.pack(">i", draw.choice(NUMBERS[:8])) + draw.randbytes(20)),
    lambda draw: zlib.compress(bytes(draw.choice((100, 100_000)))),
)
