"""Unmodified client libraries against a cluster of three nodes, one process each."""

import asyncio
import itertools
from collections.abc import Callable, Iterator

import aio_pika
import pika
import pytest
from kombu.connection import Connection
from pika import spec
from pika.adapters.asyncio_connection import AsyncioConnection
from pika.channel import Channel

from tests.reference_impl.nodes import Nodes, until

pytestmark = pytest.mark.slow

_names = itertools.count(1)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with Nodes(tmp_path_factory.mktemp("reference")) as cluster:
        yield cluster


@pytest.fixture
def queue() -> str:
    return f"orders-{next(_names)}"


def blocking(nodes: Nodes, name: str = "ref1", **options: object) -> pika.BlockingConnection:
    parameters = pika.ConnectionParameters(nodes.addresses[name], **options)
    return pika.BlockingConnection(parameters)


def test_pika_blocking_publishes_with_confirms_and_gets_it_back(nodes: Nodes, queue: str) -> None:
    with blocking(nodes) as connection:
        channel = connection.channel()
        channel.queue_declare(queue, durable=True)
        channel.confirm_delivery()
        for number in range(20):
            channel.basic_publish("", queue, b"%d" % number, mandatory=True)
        got = [channel.basic_get(queue, auto_ack=True)[2] for _ in range(20)]
    assert got == [b"%d" % number for number in range(20)]


def test_a_message_published_at_one_node_is_consumed_at_another(nodes: Nodes, queue: str) -> None:
    with blocking(nodes, "ref1") as here, blocking(nodes, "ref3") as there:
        publisher, consumer = here.channel(), there.channel()
        publisher.queue_declare(queue)
        publisher.basic_publish("", queue, b"hello")
        got = next(consumer.consume(queue, inactivity_timeout=5))
        consumer.basic_ack(got[0].delivery_tag)
        assert got[2] == b"hello"
        assert not got[0].redelivered


def test_unacknowledged_messages_are_redelivered_in_order_and_flagged(
    nodes: Nodes, queue: str
) -> None:
    with blocking(nodes) as connection:
        channel = connection.channel()
        channel.queue_declare(queue)
        for number in range(5):
            channel.basic_publish("", queue, b"%d" % number)
        other = blocking(nodes, "ref2")
        reading = other.channel()
        taken = [until(lambda: reading.basic_get(queue)[2]) for _ in range(5)]
        assert taken == [b"0", b"1", b"2", b"3", b"4"]
        other.close()
        until(lambda: channel.queue_declare(queue, passive=True).method.message_count == 5)
        again = [channel.basic_get(queue) for _ in range(5)]
    assert [body for _, _, body in again] == [b"0", b"1", b"2", b"3", b"4"]
    assert all(method.redelivered for method, _, _ in again)


def test_an_unroutable_mandatory_message_is_returned_before_its_confirm(nodes: Nodes) -> None:
    with blocking(nodes) as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        with pytest.raises(pika.exceptions.UnroutableError) as returned:
            channel.basic_publish("", "no-such-queue", b"lost?", mandatory=True)
        assert returned.value.messages[0].body == b"lost?"
        channel.basic_publish("", "no-such-queue", b"acked and dropped")


def test_a_wrong_password_and_an_unknown_vhost_are_distinguished(nodes: Nodes) -> None:
    with pytest.raises(pika.exceptions.ProbableAuthenticationError):
        blocking(nodes, credentials=pika.PlainCredentials("guest", "wrong"))
    with pytest.raises(pika.exceptions.ProbableAccessDeniedError, match="530"):
        blocking(nodes, virtual_host="elsewhere")


def test_a_queue_declared_with_other_properties_is_refused_with_406(
    nodes: Nodes, queue: str
) -> None:
    with blocking(nodes) as connection:
        connection.channel().queue_declare(queue, durable=True)
        with pytest.raises(pika.exceptions.ChannelClosedByBroker) as closed:
            connection.channel().queue_declare(queue, durable=False)
    assert closed.value.reply_code == 406
    assert "inequivalent arg 'durable'" in closed.value.reply_text


def test_an_exclusive_queue_goes_with_its_connection(nodes: Nodes, queue: str) -> None:
    with blocking(nodes) as connection:
        connection.channel().queue_declare(queue, exclusive=True)
    with (
        blocking(nodes, "ref2") as connection,
        pytest.raises(pika.exceptions.ChannelClosedByBroker) as closed,
    ):
        connection.channel().queue_declare(queue, passive=True)
    assert closed.value.reply_code == 404


def test_topics_route_by_words(nodes: Nodes, queue: str) -> None:
    with blocking(nodes) as connection:
        channel = connection.channel()
        exchange = f"{queue}-topics"
        channel.exchange_declare(exchange, "topic")
        channel.queue_declare(queue)
        channel.queue_bind(queue, exchange, "eu.*.orders.#")
        for key in ("eu.de.orders", "eu.de.orders.new.big", "us.ny.orders", "eu.orders"):
            channel.basic_publish(exchange, key, key.encode())
        until(lambda: channel.queue_declare(queue, passive=True).method.message_count == 2)
        assert channel.basic_get(queue, auto_ack=True)[2] == b"eu.de.orders"
        assert channel.basic_get(queue, auto_ack=True)[2] == b"eu.de.orders.new.big"


def test_pika_select_connection_publishes_and_consumes(nodes: Nodes, queue: str) -> None:
    got: list[bytes] = []
    confirmed: list[int] = []

    def opened(connection: pika.SelectConnection) -> None:
        connection.channel(on_open_callback=ready)

    def ready(channel: Channel) -> None:
        channel.confirm_delivery(lambda frame: confirmed.append(frame.method.delivery_tag))
        channel.queue_declare(queue, callback=lambda _: begin(channel))

    def begin(channel: Channel) -> None:
        channel.basic_consume(queue, lambda c, m, p, body: taken(c, m, body))
        for number in range(10):
            channel.basic_publish("", queue, b"%d" % number)

    def taken(channel: Channel, method: spec.Basic.Deliver, body: bytes) -> None:
        got.append(body)
        channel.basic_ack(method.delivery_tag)
        if len(got) == 10:
            channel.connection.close()

    connection = pika.SelectConnection(
        pika.ConnectionParameters(nodes.addresses["ref2"]),
        on_open_callback=opened,
        on_close_callback=lambda c, _: c.ioloop.stop(),
    )
    connection.ioloop.call_later(10, connection.ioloop.stop)
    connection.ioloop.start()
    assert got == [b"%d" % number for number in range(10)]
    assert max(confirmed, default=0) <= 10


def test_pika_asyncio_connection_opens_publishes_and_closes(nodes: Nodes, queue: str) -> None:
    async def talk() -> bytes:
        loop = asyncio.get_running_loop()
        opened, closed, body = loop.create_future(), loop.create_future(), loop.create_future()
        connection = AsyncioConnection(
            pika.ConnectionParameters(nodes.addresses["ref3"]),
            on_open_callback=opened.set_result,
            on_close_callback=lambda c, reason: closed.set_result(reason),
            custom_ioloop=loop,
        )
        await opened
        channel_open = loop.create_future()
        channel = connection.channel(on_open_callback=channel_open.set_result)
        await channel_open
        declared = loop.create_future()
        channel.queue_declare(queue, callback=declared.set_result)
        await declared
        channel.basic_consume(queue, lambda c, m, p, b: body.set_result(b), auto_ack=True)
        channel.basic_publish("", queue, b"by asyncio")
        got = await body
        connection.close()
        await closed
        return bytes(got)

    assert asyncio.run(asyncio.wait_for(talk(), 10)) == b"by asyncio"


def test_aio_pika_works_unmodified(nodes: Nodes, queue: str) -> None:
    async def talk() -> list[bytes]:
        connection = await aio_pika.connect_robust(host=nodes.addresses["ref1"])
        async with connection:
            channel = await connection.channel()
            declared = await channel.declare_queue(queue, durable=True)
            for number in range(10):
                sent = aio_pika.Message(b"%d" % number, delivery_mode=2)
                await channel.default_exchange.publish(sent, routing_key=queue)
            got = []
            async with declared.iterator() as messages:
                async for message in messages:
                    async with message.process():
                        got.append(message.body)
                    if len(got) == 10:
                        return got
        raise AssertionError("the iterator ended")

    assert asyncio.run(asyncio.wait_for(talk(), 15)) == [b"%d" % number for number in range(10)]


def test_kombu_works_unmodified(nodes: Nodes, queue: str) -> None:
    with Connection(f"pyamqp://guest:guest@{nodes.addresses['ref2']}//") as connection:
        channel = connection.SimpleQueue(queue)
        for number in range(5):
            channel.put({"number": number})
        got = [channel.get(timeout=5) for _ in range(5)]
        for message in got:
            message.ack()
        channel.close()
    assert [message.payload["number"] for message in got] == [0, 1, 2, 3, 4]


def test_a_client_that_reads_nothing_takes_only_some_hundred_messages(
    nodes: Nodes, queue: str
) -> None:
    body, count = bytes(16 << 10), 3000
    with blocking(nodes) as deaf, blocking(nodes, "ref2") as other:
        channel = deaf.channel()
        channel.queue_declare(queue)
        channel.basic_consume(queue, lambda *_: None, auto_ack=True)  # and never looks again
        publisher = other.channel()
        for _ in range(count):
            publisher.basic_publish("", queue, body)
        left = settled(lambda: publisher.queue_declare(queue, passive=True).method.message_count)
        # 200 of the channel, and what two sockets hold: some 10 MiB at most.
        assert count - 200 - 1000 <= left <= count - 200
        got = [publisher.basic_get(queue, auto_ack=True)[2] for _ in range(left)]
        assert got == [body] * left


def settled(look: Callable[[], int]) -> int:
    """What it comes to when it has stood still for ten looks."""
    seen: list[int] = []

    def stands_still() -> bool:
        seen.append(look())
        return len(seen) > 10 and len(set(seen[-10:])) == 1

    until(stands_still)
    return seen[-1]


def test_a_killed_node_loses_transient_messages(nodes: Nodes, queue: str) -> None:
    with blocking(nodes, "ref3") as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        channel.queue_declare(queue, durable=True)
        transient = pika.BasicProperties(delivery_mode=1)
        persistent = pika.BasicProperties(delivery_mode=2)
        for number in range(10):
            channel.basic_publish("", queue, b"memory %d" % number, transient)
            channel.basic_publish("", queue, b"disk %d" % number, persistent)
    nodes.kill("ref3")
    nodes.start("ref3")
    with blocking(nodes, "ref3") as connection:
        channel = connection.channel()
        count = channel.queue_declare(queue, durable=True).method.message_count
        got = [channel.basic_get(queue, auto_ack=True)[2] for _ in range(count)]
    assert got == [b"disk %d" % number for number in range(10)]
