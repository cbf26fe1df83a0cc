"""Messages as a broker stores them, and a queue of them that answers pulls, without a socket."""

import struct
import zlib
from dataclasses import dataclass, field
from ipaddress import ip_address

from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.records import MAGIC, StoredMessage
from harness.workers.remoting.requests import Code, Request, TopicQueue

QUEUE = TopicQueue("orders", 2)
FOUND, NOTHING, AGAIN, MOVED, SYSTEM_ERROR = 0, 19, 20, 21, 1


def message(offset: int, queue: TopicQueue = QUEUE) -> StoredMessage:
    topic, number = queue.topic, queue.number
    host = "127.0.0.1:1"
    return StoredMessage(topic, number, offset, 0, 0, 0, 0, host, 0, host, 0, 0, {}, b"x", True, 0)


def answer(code: int, fields: dict[str, int] | None = None, *messages: StoredMessage) -> Command:
    texts = {name: str(value) for name, value in (fields or {}).items()}
    body = b"".join(written(one) for one in messages)
    return Command(Header(code, 1, RESPONSE, fields=texts), body)


@dataclass
class Broker:
    """A queue as docs/behaviour/rocketmq.md 3.2 says that it answers; `holes` were removed with
    their files."""

    first: int
    end: int
    holes: frozenset[int] = frozenset()
    batch: int = 3
    codes: list[Code] = field(default_factory=list)

    def answer(self, request: Request) -> Command:
        self.codes.append(request.code)
        match request.code:
            case Code.GET_MIN_OFFSET:
                return answer(FOUND, {"offset": self.first})
            case Code.GET_MAX_OFFSET:
                return answer(FOUND, {"offset": self.end})
        return self._pulled(int(request.fields["queueOffset"]))

    def _pulled(self, at: int) -> Command:
        if at < self.first:
            return self._reply(MOVED, self.first)
        if at == self.end:
            return self._reply(NOTHING, at)
        if at > self.end:
            return self._reply(MOVED, self.end)
        if at in self.holes:
            return self._reply(AGAIN, at + 1)
        run: list[StoredMessage] = []
        while len(run) < self.batch and at < self.end and at not in self.holes:
            run.append(message(at))
            at += 1
        return self._reply(FOUND, at, *run)

    def _reply(self, code: int, goes_on: int, *messages: StoredMessage) -> Command:
        fields = {"nextBeginOffset": goes_on, "minOffset": self.first, "maxOffset": self.end}
        return answer(code, fields, *messages)


def written(message: StoredMessage, magic: int = MAGIC, ended: bool = True) -> bytes:
    """As a broker stores it. `ended`: the last property has a separator behind it, too."""
    pairs = "\x02".join(f"{name}\x01{value}" for name, value in message.properties.items())
    properties = (pairs + "\x02" * (ended and bool(pairs))).encode()
    topic = message.topic.encode()
    rest = b"".join(
        [
            struct.pack(
                ">iiqqi",
                message.queue,
                message.flag,
                message.offset,
                message.position,
                message.flags,
            ),
            struct.pack(">q", message.born_ms) + _octets(message.born_host),
            struct.pack(">q", message.stored_ms) + _octets(message.store_host),
            struct.pack(">iq", message.reconsumed, message.prepared_position),
            struct.pack(">i", len(message.body)) + message.body,
            struct.pack(">b" if magic == MAGIC else ">h", len(topic)) + topic,
            struct.pack(">h", len(properties)) + properties,
        ]
    )
    crc = zlib.crc32(message.body) & 0x7FFFFFFF
    return struct.pack(">iII", 12 + len(rest), magic, crc) + rest


def _octets(host: str) -> bytes:
    address, _, port = host.rpartition(":")
    return ip_address(address.strip("[]")).packed + struct.pack(">i", int(port))
