"""A client in a test: it says methods, and hears methods and contents, on a FakeNode."""

from dataclasses import dataclass, field
from typing import Any

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.frames import BODY, HEADER, HEARTBEAT, METHOD, FrameReader, frame
from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.methods import decode, method_frame
from reference_impl.amqp.handshake import PROTOCOL_HEADER
from reference_impl.metadata.tables import Queue
from reference_impl.pid import Pid
from reference_impl.process import Effect
from tests.reference_impl.amqp.fake_node import FakeNode

CAPABILITIES = {"consumer_cancel_notify": True, "authentication_failure_close": True}
NO_PROPERTIES = b"\0\0"
PERSISTENT = b"\x10\x00\x02"


@dataclass(frozen=True)
class Content:
    """A method with a message."""

    method: Any  # with the fields of its kind: a delivery, a get or a return
    properties: bytes
    body: bytes


@dataclass
class Recorder:
    """A process that keeps its events, and has the effects that a test gives it."""

    heard: list[Any] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)

    def handle(self, event: Any) -> list[Effect]:
        self.heard.append(event)
        effects, self.effects = self.effects, []
        return effects

    def take(self) -> list[Any]:
        heard, self.heard = self.heard, []
        return heard


def start_ok(
    capabilities: dict[str, bool] | None = None,
    response: bytes = b"\0guest\0guest",
    mechanism: str = "PLAIN",
    **properties: Any,
) -> s.ConnectionStartOk:
    has = CAPABILITIES if capabilities is None else capabilities
    return s.ConnectionStartOk({"capabilities": has, **properties}, mechanism, response, "en_US")


def handshake(
    capabilities: dict[str, bool] | None = None,
    frame_max: int = 131_072,
    heartbeat_s: int = 0,
    channel_max: int = 2047,
) -> bytes:
    said = (
        start_ok(capabilities),
        s.ConnectionTuneOk(channel_max, frame_max, heartbeat_s),
        s.ConnectionOpen("/", "", False),
    )
    return PROTOCOL_HEADER + b"".join(method_frame(0, method) for method in said)


class Client:
    """Connected, with a channel. `channel` is the process of the channel opened last."""

    def __init__(self, node: FakeNode, name: str = "127.0.0.1:1 -> 127.0.0.1:2", **tuned: Any):
        self.node = node
        self.pid = node.accept(name)
        self._reader = FrameReader()
        self._reader.frame_max = 131_072
        node.octets(self.pid, handshake(**tuned))
        self.hear()
        self.channel = self.open(1)

    def open(self, number: int) -> Pid:
        before = set(self.node.processes)
        assert self.say(s.ChannelOpen(""), number) == [s.ChannelOpenOk()]
        (self.channel,) = set(self.node.processes) - before
        return self.channel

    def say(self, method: Method, number: int = 1) -> list[Any]:
        """What comes back at once."""
        return self.send(method_frame(number, method))

    def send(self, octets: bytes) -> list[Any]:
        self.node.octets(self.pid, octets)
        return self.hear()

    def publish(self, key: str, body: bytes = b"", **options: Any) -> list[Any]:
        return self.send(published(key, body, **options))

    def hear(self) -> list[Any]:
        """Everything since the last time, of all channels."""
        frames = list(self._reader.read(bytes(self.node.sent.pop(self.pid, b""))))
        heard: list[Any] = []
        for kind, _, payload in frames:
            if kind == METHOD:
                heard.append(decode(payload))
            elif kind == HEADER:
                heard[-1] = Content(heard[-1], payload[12:], b"")
            elif kind == BODY:
                content = heard[-1]
                heard[-1] = Content(content.method, content.properties, content.body + payload)
            else:
                assert kind == HEARTBEAT
                heard.append("heartbeat")
        return heard

    @property
    def is_hung_up_on(self) -> bool:
        return self.pid in self.node.hung_up


def published(
    key: str,
    body: bytes = b"",
    exchange: str = "",
    mandatory: bool = False,
    immediate: bool = False,
    properties: bytes = NO_PROPERTIES,
    number: int = 1,
) -> bytes:
    """Frames of a publish."""
    method = method_frame(number, q.BasicPublish(0, exchange, key, mandatory, immediate))
    header = b"\0\x3c\0\0" + len(body).to_bytes(8, "big") + properties
    content = frame(BODY, number, body) if body else b""
    return method + frame(HEADER, number, header) + content


def declare(name: str = "q", **options: Any) -> q.QueueDeclare:
    fields = ("passive", "durable", "exclusive", "auto_delete", "nowait")
    values = [options.pop(each, False) for each in fields]
    arguments = options.pop("arguments", {})
    assert not options, options
    passive, durable, exclusive, auto_delete, nowait = values
    return q.QueueDeclare(0, name, passive, durable, exclusive, auto_delete, nowait, arguments)


def consume(name: str = "q", tag: str = "c", **options: Any) -> q.BasicConsume:
    values = [options.pop(each, False) for each in ("no_ack", "exclusive", "nowait")]
    arguments = options.pop("arguments", {})
    assert not options, options
    no_ack, exclusive, nowait = values
    return q.BasicConsume(0, name, tag, False, no_ack, exclusive, nowait, arguments)


def record(name: str, master: Pid | None, *mirrors: Pid, **options: Any) -> Queue:
    return Queue(
        name,
        options.get("durable", True),
        False,
        options.get("owner"),
        {},
        options.get("home", "ref1"),
        master,
        mirrors,
        (),
        (),
    )
