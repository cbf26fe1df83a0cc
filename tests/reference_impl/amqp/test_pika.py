"""pika, unmodified, on the socket of a real node."""

from collections.abc import Iterator

import pika
import pytest
from pika.adapters.blocking_connection import BlockingChannel as Channel

from tests.reference_impl.nodes import Nodes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Nodes(tmp_path_factory.mktemp("reference"), count=1) as alone:
        yield alone.addresses["ref1"]


@pytest.fixture
def channel(address: str) -> Iterator[Channel]:
    parameters = pika.ConnectionParameters(address, heartbeat=1)
    with pika.BlockingConnection(parameters) as connection:
        yield connection.channel()


def test_confirmed_messages_are_consumed_in_order(channel: Channel) -> None:
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.confirm_delivery()
    properties = pika.BasicProperties(delivery_mode=2, headers={"k": [1, "two", None]})
    for number in range(100):
        channel.basic_publish("", queue, b"%d" % number, properties, mandatory=True)
    got = []
    for method, read, body in channel.consume(queue, inactivity_timeout=5):
        assert read == properties
        got.append(body)
        channel.basic_ack(method.delivery_tag)
        if len(got) == 100:
            break
    assert got == [b"%d" % number for number in range(100)]
    assert channel.cancel() == 0


def test_a_body_of_many_frames_comes_back(channel: Channel) -> None:
    queue = channel.queue_declare("", exclusive=True).method.queue
    body = bytes(range(256)) * 8_192
    channel.basic_publish("", queue, body)
    assert channel.basic_get(queue, auto_ack=True)[2] == body


def test_an_unroutable_mandatory_message_raises(channel: Channel) -> None:
    channel.confirm_delivery()
    with pytest.raises(pika.exceptions.UnroutableError):
        channel.basic_publish("", "missing", b"x", mandatory=True)
    channel.basic_publish("", "missing", b"x")


def test_a_queue_that_is_not_there_closes_the_channel(channel: Channel) -> None:
    with pytest.raises(pika.exceptions.ChannelClosedByBroker) as closed:
        channel.queue_declare("missing", passive=True)
    assert closed.value.reply_code == 404
    assert channel.connection.channel().queue_declare("", exclusive=True)


def test_a_connection_that_only_waits_lives_by_heartbeats(channel: Channel) -> None:
    channel.connection.process_data_events(time_limit=3.5)
    assert channel.queue_declare("", exclusive=True).method.message_count == 0


def test_a_transaction_is_visible_only_after_its_commit(channel: Channel) -> None:
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.tx_select()
    channel.basic_publish("", queue, b"taken back")
    channel.tx_rollback()
    channel.basic_publish("", queue, b"kept")
    assert channel.queue_declare(queue, passive=True).method.message_count == 0
    channel.tx_commit()
    method, _, body = channel.basic_get(queue)
    assert (body, method.message_count) == (b"kept", 0)
    channel.basic_ack(method.delivery_tag)
    channel.tx_rollback()
    channel.basic_ack(method.delivery_tag)
    channel.tx_commit()


def test_unroutable_messages_take_the_alternate_headers_exchange(channel: Channel) -> None:
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.exchange_declare("by-headers", "headers", auto_delete=True)
    channel.queue_bind(queue, "by-headers", arguments={"kind": "order", "x-match": "all"})
    alternate = {"alternate-exchange": "by-headers"}
    channel.exchange_declare("first", "direct", arguments=alternate)
    for kind in ("order", "bill"):
        channel.basic_publish(
            "first", "", kind.encode(), pika.BasicProperties(headers={"kind": kind})
        )
    method, _, body = channel.basic_get(queue, auto_ack=True)
    assert (body, method.message_count) == (b"order", 0)
    channel.exchange_delete("first")


def test_dead_letters_go_where_their_queue_declares(channel: Channel) -> None:
    graves = channel.queue_declare("", exclusive=True).method.queue
    arguments = {
        "x-max-length": 1,
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": graves,
    }
    queue = channel.queue_declare("", exclusive=True, arguments=arguments).method.queue
    for body in (b"one", b"two"):
        channel.basic_publish("", queue, body)
    method, _, _ = channel.basic_get(queue)
    channel.basic_reject(method.delivery_tag, requeue=False)
    found: list[tuple[bytes, str]] = []
    while len(found) < 2:
        method, properties, body = channel.basic_get(graves, auto_ack=True)
        if method is not None:
            found.append((body, properties.headers["x-death"][0]["reason"]))
    assert found == [(b"one", "maxlen"), (b"two", "rejected")]


def test_a_message_with_ttl_zero_is_dead_lettered_at_once(channel: Channel) -> None:
    graves = channel.queue_declare("", exclusive=True).method.queue
    arguments = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": graves}
    queue = channel.queue_declare("", exclusive=True, arguments=arguments).method.queue
    channel.basic_publish("", queue, b"late", pika.BasicProperties(expiration="0"))
    method = None
    while method is None:
        method, properties, body = channel.basic_get(graves, auto_ack=True)
    death = properties.headers["x-death"][0]
    assert (body, death["reason"], properties.expiration) == (b"late", "expired", None)
    assert channel.queue_declare(queue, passive=True).method.message_count == 0
