"""A client's connection, from its first octet to its last."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.frames import (
    BODY,
    HEADER,
    HEARTBEAT_FRAME,
    METHOD,
    FrameReader,
    frame,
)
from reference_impl.amqp.codec.methods import decode, method_frame
from reference_impl.amqp.handshake import PROTOCOL_HEADER
from reference_impl.amqp.rules.features import announced
from reference_impl.amqp.settings import Settings
from reference_impl.process import NO_CONNECTION, NORMAL, Down, Send, Watch
from reference_impl.protocol.connections import CloseConnection, Described
from reference_impl.protocol.queues import Delete, Done, Looked
from tests.reference_impl.amqp.client import (
    CAPABILITIES,
    Client,
    Recorder,
    consume,
    declare,
    handshake,
    published,
    record,
    start_ok,
)
from tests.reference_impl.amqp.fake_node import FakeNode

OPEN_CHANNEL = method_frame(1, s.ChannelOpen(""))
CLOSE = s.ConnectionClose(200, "bye", 0, 0)
SCRIPT = (
    handshake()
    + OPEN_CHANNEL
    + method_frame(1, declare("q"))
    + method_frame(1, s.ConfirmSelect(False))
    + published("q", b"one")
    + published("missing", b"two", mandatory=True)
    + method_frame(1, q.BasicGet(0, "q", False))
    + method_frame(1, q.BasicAck(1, False))
    + method_frame(1, consume("q"))
    + method_frame(0, CLOSE)
)


def heard(octets: bytes) -> list[Any]:
    reader = FrameReader()
    reader.frame_max = 131_072
    return [decode(payload) for kind, _, payload in reader.read(octets) if kind == METHOD]


def greeted(*said: Any) -> tuple[FakeNode, list[Any], bool]:
    """What a client hears that says this, and whether it is hung up on."""
    node = FakeNode()
    pid = node.accept()
    octets = b"".join(each if isinstance(each, bytes) else method_frame(0, each) for each in said)
    node.octets(pid, octets)
    return node, heard(bytes(node.sent[pid])), pid in node.hung_up


def test_a_session_is_the_same_wherever_its_octets_are_split() -> None:
    """Only acks may go out earlier, or as one, by what came together."""
    whole = session(SCRIPT)
    assert [type(each) for each in whole[0]][-4:] == [
        q.BasicReturn,
        q.BasicGetOk,
        q.BasicConsumeOk,
        s.ConnectionCloseOk,
    ]
    assert whole[1] == {1, 2}
    for cut in range(0, len(SCRIPT), 3):
        assert session(SCRIPT[:cut], SCRIPT[cut:]) == whole, cut


def session(*pieces: bytes) -> tuple[list[object], set[int]]:
    """Return what a client hears except acks, and which publishes are acked."""
    node = FakeNode()
    pid = node.accept()
    for piece in pieces:
        node.octets(pid, piece)
    said: list[object] = []
    acked: set[int] = set()
    for method in heard(bytes(node.sent[pid])):
        if isinstance(method, q.BasicAck):
            first = min(acked, default=1) if method.multiple else method.delivery_tag
            acked |= set(range(first, method.delivery_tag + 1))
        else:
            said.append(method)
    return said, acked


# --- the handshake


def test_another_protocol_is_answered_with_ours_and_hung_up_on() -> None:
    node = FakeNode()
    pid = node.accept()
    node.octets(pid, b"GET / HTTP/1.1\r\n")
    assert bytes(node.sent[pid]) == PROTOCOL_HEADER
    assert pid in node.hung_up
    assert pid not in node.processes


def test_the_server_announces_rabbitmq_3_10_8_and_its_capabilities() -> None:
    _, said, _ = greeted(PROTOCOL_HEADER)
    assert len(said) == 1
    properties = said[0].server_properties
    assert (properties["product"], properties["version"]) == ("RabbitMQ", "3.10.8")
    assert set(properties["capabilities"]) == set(announced())
    assert all(properties["capabilities"].values())
    assert said[0].mechanisms == b"PLAIN AMQPLAIN"


def test_a_login_by_amqplain_is_as_good() -> None:
    table = b"\x05LOGINS\0\0\0\x05guest\x08PASSWORDS\0\0\0\x05guest"
    _, said, _ = greeted(PROTOCOL_HEADER, start_ok(None, table, "AMQPLAIN"))
    assert said[-1] == s.ConnectionTune(2047, 131_072, 60)


@pytest.mark.parametrize(
    ("response", "mechanism"),
    [(b"\0guest\0wrong", "PLAIN"), (b"\0nobody\0guest", "PLAIN"), (b"", "AMQPLAIN")],
)
def test_a_wrong_login_is_403_for_clients_with_the_capability(
    response: bytes, mechanism: str
) -> None:
    _, said, hung_up = greeted(PROTOCOL_HEADER, start_ok(None, response, mechanism))
    assert (said[-1].code, hung_up) == (403, False)
    assert said[-1].text.startswith("ACCESS_REFUSED - Login was refused")
    _, said, hung_up = greeted(PROTOCOL_HEADER, start_ok({}, response, mechanism))
    assert (len(said), hung_up) == (1, True)


@pytest.mark.parametrize(
    ("tuned", "text"),
    [
        ((0, 131_072, 0), "negotiated channel_max = 0 (no limit) is higher than the maximum"),
        ((2048, 131_072, 0), "negotiated channel_max = 2048 is higher than the maximum"),
        ((10, 131_073, 0), "negotiated frame_max = 131073 is higher than the maximum"),
        ((10, 4095, 0), "negotiated frame_max = 4095 is lower than the minimum"),
    ],
)
def test_a_negotiated_value_out_of_range_is_530(tuned: tuple[int, int, int], text: str) -> None:
    _, said, _ = greeted(PROTOCOL_HEADER, start_ok(), s.ConnectionTuneOk(*tuned))
    assert (said[-1].code, text in said[-1].text) == (530, True)


def test_an_unknown_virtual_host_is_530() -> None:
    tuned = s.ConnectionTuneOk(10, 4096, 0)
    opened = s.ConnectionOpen("elsewhere", "", False)
    _, said, _ = greeted(PROTOCOL_HEADER, start_ok(), tuned, opened)
    assert (said[-1].code, said[-1].text) == (530, "NOT_ALLOWED - vhost elsewhere not found")


def test_a_client_that_skips_a_step_is_hung_up_on() -> None:
    _, said, hung_up = greeted(PROTOCOL_HEADER, s.ConnectionOpen("/", "", False))
    assert (len(said), hung_up) == (1, True)


def test_a_handshake_frame_above_4096_octets_closes_the_connection() -> None:
    _, _, hung_up = greeted(PROTOCOL_HEADER, start_ok(None, bytes(5000)))
    assert hung_up


def test_an_unfinished_handshake_is_closed_after_the_timeout() -> None:
    node = FakeNode()
    pid = node.accept()
    node.octets(pid, PROTOCOL_HEADER)
    assert node.armed[pid, "handshake"] == 10_000
    node.fire("handshake")
    assert pid in node.hung_up


def test_an_open_connection_has_no_time_limit_and_is_described() -> None:
    node = FakeNode()
    pid = node.accept("client:1 -> server:2")
    node.octets(pid, PROTOCOL_HEADER)
    assert node.processes[pid].described() is None
    named = handshake()[len(PROTOCOL_HEADER) :].replace(
        method_frame(0, start_ok()), method_frame(0, start_ok(connection_name="shop"))
    )
    node.octets(pid, named)
    assert node.processes[pid].described() == Described(pid, "client:1 -> server:2", "shop")
    assert (pid, "handshake") not in node.armed


# --- heartbeats


def test_half_an_interval_of_silence_is_ended_with_a_heartbeat() -> None:
    node = FakeNode()
    client = Client(node, heartbeat_s=10)
    assert node.armed[client.pid, "heartbeat speak"] == 5_000
    node.fire("heartbeat speak")
    assert client.hear() == []  # the handshake had spoken
    node.fire("heartbeat speak")
    assert client.hear() == ["heartbeat"]
    client.say(declare("q"))
    node.fire("heartbeat speak")
    assert client.hear() == []


def test_two_silent_looks_end_the_connection_and_any_octet_counts() -> None:
    node = FakeNode()
    client = Client(node, heartbeat_s=10)
    node.fire("heartbeat listen")
    node.fire("heartbeat listen")
    assert not client.is_hung_up_on
    client.send(HEARTBEAT_FRAME[:1])
    node.fire("heartbeat listen")
    node.fire("heartbeat listen")
    assert not client.is_hung_up_on
    node.fire("heartbeat listen")
    assert client.is_hung_up_on
    assert client.channel not in node.processes


def test_heartbeat_zero_is_none() -> None:
    node = FakeNode()
    client = Client(node, heartbeat_s=0)
    assert [name for pid, name in node.armed if pid == client.pid] == []


# --- the end


def test_channels_end_before_close_ok_and_queues_are_notified() -> None:
    node = FakeNode()
    client = Client(node)
    watcher = Recorder()
    pid = node.add(watcher)
    watcher.effects = [Watch(client.channel)]
    node.post(pid, "watch")
    assert client.say(CLOSE, 0) == [s.ConnectionCloseOk()]
    assert watcher.heard[1:] == [Down(client.channel, NORMAL)]
    assert client.is_hung_up_on
    assert client.pid not in node.processes


@pytest.mark.parametrize("how", ["answered", "gone"])
def test_exclusive_queues_are_deleted_before_close_ok(how: str) -> None:
    node = FakeNode()
    client = Client(node)
    master = Recorder()
    pid = node.add(master)
    node.put(record("mine", pid, owner=client.pid))
    node.put(record("another's", pid, owner=node.add(Recorder())))
    assert client.say(CLOSE, 0) == []
    assert master.heard == [Delete(client.pid, 1, if_unused=False, if_empty=False)]
    if how == "gone":
        node.end(pid, NO_CONNECTION)
    else:
        master.effects = [Send(client.pid, Done(1, 0))]
        node.post(pid, "answer")
    assert client.hear() == [s.ConnectionCloseOk()]
    assert client.is_hung_up_on


def test_every_exclusive_queue_is_waited_for() -> None:
    node = FakeNode()
    client = Client(node)
    masters = [node.add(Recorder()) for _ in range(2)]
    for name, pid in zip(("one", "two"), masters, strict=True):
        node.put(record(name, pid, owner=client.pid))
    assert client.say(CLOSE, 0) == []
    node.end(masters[0], NO_CONNECTION)
    assert client.hear() == []
    node.end(masters[1], NO_CONNECTION)
    assert client.hear() == [s.ConnectionCloseOk()]


def test_requests_before_a_close_are_carried_out() -> None:
    node = FakeNode()
    client = Client(node)
    other = Recorder()
    pid = node.add(other)
    node.put(record("slow", pid))
    node.start_queue("q")
    client.send(
        method_frame(1, declare("slow", passive=True))
        + published("q", b"behind a method that waits")
        + method_frame(0, CLOSE)
    )
    assert client.hear() == []
    other.effects = [Send(client.channel, Looked(other.heard[0].request, 0, 0, 0))]
    node.post(pid, "answer")
    assert client.hear() == [q.QueueDeclareOk("slow", 0, 0), s.ConnectionCloseOk()]
    queue = node.processes[node.tables.queues["q"].master]
    assert [message.body for message in queue.ready.values()] == [b"behind a method that waits"]


def test_a_waiting_channel_does_not_outlive_its_closed_connection() -> None:
    node = FakeNode()
    client = Client(node)
    node.put(record("slow", node.add(Recorder())))
    client.say(declare("slow", passive=True))
    node.hang_up(client.pid)
    assert client.channel in node.processes
    node.fire("closing")
    assert client.channel not in node.processes
    assert client.pid not in node.processes


def test_an_exclusive_queue_of_a_closed_connection_is_gone() -> None:
    node = FakeNode()
    client = Client(node)
    client.say(declare("mine", exclusive=True))
    assert client.say(CLOSE, 0) == [s.ConnectionCloseOk()]
    assert "mine" not in node.tables.queues


def test_a_client_that_is_gone_takes_its_channels_along() -> None:
    node = FakeNode()
    client = Client(node)
    node.hang_up(client.pid)
    assert client.pid not in node.processes
    assert client.channel not in node.processes


def test_the_broker_closes_with_320_and_waits_for_close_ok() -> None:
    node = FakeNode()
    client = Client(node)
    reason = "broker forced connection closure with reason 'shutdown'"
    node.post(client.pid, CloseConnection(reason))
    closed = s.ConnectionClose(320, f"CONNECTION_FORCED - {reason}", 0, 0)
    assert client.hear() == [closed]
    assert client.say(declare("q")) == []
    assert not client.is_hung_up_on
    client.say(s.ConnectionCloseOk(), 0)
    assert client.is_hung_up_on


def test_closes_that_cross_are_both_answered() -> None:
    node = FakeNode()
    client = Client(node)
    node.post(client.pid, CloseConnection("why not"))
    client.hear()
    assert client.say(CLOSE, 0) == [s.ConnectionCloseOk()]
    assert client.is_hung_up_on


def test_a_client_that_never_sends_close_ok_is_disconnected() -> None:
    node = FakeNode()
    client = Client(node, heartbeat_s=7)
    node.post(client.pid, CloseConnection("why not"))
    assert node.armed[client.pid, "closing"] == 7_000
    node.fire("closing")
    assert client.is_hung_up_on


def test_update_secret_is_taken() -> None:
    client = Client(FakeNode())
    update = s.ConnectionUpdateSecret(b"new", "renewed")
    assert client.say(update, 0) == [s.ConnectionUpdateSecretOk()]


# --- a client's mistakes


@pytest.mark.parametrize(
    ("octets", "code", "index"),
    [
        (method_frame(2, declare("q")), 504, (50, 10)),
        (OPEN_CHANNEL, 504, (20, 10)),
        (method_frame(1, q.QueueDeclareOk("q", 0, 0)), 503, (50, 11)),
        (method_frame(0, declare("q")), 503, (50, 10)),
        (frame(METHOD, 1, b"\0\x3c\0\xc8"), 503, (60, 200)),
        (frame(METHOD, 1, b"\0\x32\0\x0a\0"), 502, (50, 10)),
        (frame(METHOD, 1, b"\0"), 502, (0, 0)),
        (frame(HEADER, 1, bytes(14)), 505, (0, 0)),
        (frame(BODY, 0, b"x"), 505, (0, 0)),
        (published("q", b"x")[:-9] + OPEN_CHANNEL, 505, (60, 40)),
        (published("q", b"xyz")[:-11] + frame(BODY, 1, b"wxyz"), 501, (60, 40)),
        (frame(METHOD, 1, b"\0\x0a\0\x0b"), 502, (10, 11)),
        (method_frame(1, s.ChannelFlow(False)), 540, (20, 20)),
        (published("q", immediate=True), 540, (60, 40)),
        (method_frame(1, q.BasicQos(1, 0, False)), 540, (60, 10)),
        (method_frame(1, q.BasicRecover(False)), 540, (60, 110)),
        (method_frame(1, consume("amq.rabbitmq.reply-to")), 540, (60, 20)),
    ],
)
def test_a_hard_error_closes_the_connection(
    octets: bytes, code: int, index: tuple[int, int]
) -> None:
    node = FakeNode()
    client = Client(node)
    (closed,) = client.send(octets)
    assert isinstance(closed, s.ConnectionClose)
    assert (closed.code, closed.class_id, closed.method_id) == (code, *index)
    assert client.channel not in node.processes
    client.say(s.ConnectionCloseOk(), 0)
    assert client.is_hung_up_on


def test_a_malformed_frame_is_501_and_ends_the_connection() -> None:
    node = FakeNode()
    client = Client(node)
    (closed,) = client.send(published("q", b"x")[:-1] + b"!")
    assert (closed.code, closed.class_id) == (501, 0)
    assert node.armed[client.pid, "closing"] == 3_000
    node.fire("closing")
    assert client.is_hung_up_on


def test_a_hard_error_of_a_pipelined_command_closes_the_connection() -> None:
    node = FakeNode()
    client = Client(node)
    node.start_queue("q")
    pipelined = method_frame(1, declare("q", passive=True)) + method_frame(
        1, q.BasicRecover(False)
    )
    said = client.send(pipelined)
    assert said[0] == q.QueueDeclareOk("q", 0, 0)
    assert (said[1].code, said[1].class_id) == (540, 60)
    assert client.channel not in node.processes


def test_a_soft_error_closes_the_channel_and_nothing_else() -> None:
    node = FakeNode()
    client = Client(node)
    first, second = client.channel, client.open(2)
    (closed,) = client.say(declare("missing", passive=True), 1)
    text = "NOT_FOUND - no queue 'missing' in vhost '/'"
    assert closed == s.ChannelClose(404, text, 50, 10)
    assert first not in node.processes
    assert second in node.processes


def test_a_closed_channel_ignores_everything_except_close_ok() -> None:
    node = FakeNode()
    client = Client(node)
    client.say(declare("missing", passive=True))
    assert client.say(declare("q")) == []
    assert client.publish("q", b"body") == []
    assert client.say(s.ChannelClose(200, "", 0, 0)) == [s.ChannelCloseOk()]
    assert client.say(s.ChannelCloseOk()) == []
    client.open(1)
    assert client.say(declare("q")) == [q.QueueDeclareOk("q", 0, 0)]


def test_a_closed_channel_number_can_be_opened_again_at_once() -> None:
    client = Client(FakeNode())
    said = client.send(method_frame(1, s.ChannelClose(200, "", 0, 0)) + OPEN_CHANNEL)
    assert said == [s.ChannelCloseOk(), s.ChannelOpenOk()]
    assert client.say(declare("q")) == [q.QueueDeclareOk("q", 0, 0)]


def test_more_channels_than_negotiated_are_530() -> None:
    client = Client(FakeNode(Settings(channel_max=2)), channel_max=2)
    client.open(2)
    (closed,) = client.say(s.ChannelOpen(""), 3)
    assert closed.code == 530


def test_an_oversized_message_is_406_before_its_body_is_read() -> None:
    client = Client(FakeNode(Settings(message_octets_max=10)))
    (closed,) = client.publish("q", bytes(11))
    assert (type(closed), closed.code) == (s.ChannelClose, 406)


@given(st.data())
def test_no_octets_of_a_client_harm_the_node(data: st.DataObject) -> None:
    """The script with some octets changed, left out or put in, in two pieces."""
    octets = bytearray(SCRIPT)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(octets) - 1))
        octets[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    cut = data.draw(st.integers(0, len(octets)))
    node = FakeNode()
    pid = node.accept()
    node.octets(pid, bytes(octets[:cut]))
    node.octets(pid, bytes(octets[cut:]))
    node.hang_up(pid)
    assert pid not in node.processes
    left = [each for each in node.processes.values() if type(each).__name__ == "Channel"]
    assert left == []


def test_capabilities_that_are_no_table_are_none() -> None:
    _, said, hung_up = greeted(
        PROTOCOL_HEADER, s.ConnectionStartOk({"capabilities": 7}, "PLAIN", b"\0a\0b", "en_US")
    )
    assert (len(said), hung_up) == (1, True)
    assert CAPABILITIES["authentication_failure_close"]
