"""What a message costs in the reference's AMQP part, in microseconds of CPU.

`python -m tests.benchmarks.reference_publish_path`: persistent messages of 256 octets, a queue
with two mirrors, confirms on. publish: decoding, routing, three Delivers. confirm: three Confirms,
one ack. deliver: to a consumer. ack: the consumer's, one frame each. `--profile` shows where the
time goes.
"""

import cProfile
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.methods import method_frame
from reference_impl.process import Octets
from reference_impl.protocol.queues import Confirm, Done, Message, QueueDelivery
from tests.reference_impl.amqp.client import Client, Recorder, consume, published, record
from tests.reference_impl.amqp.fake_node import FakeNode

MESSAGES, BATCH = 20_000, 50
PROPERTIES = b"\x10\x80\x02\x03m-1"  # delivery_mode 2, message_id "m-1"
BODY = bytes(256)


class Meter:
    def __init__(self) -> None:
        self.spent_ns: dict[str, int] = {}

    def run(self, what: str, work: Callable[[], Any]) -> Any:
        started_ns = time.process_time_ns()
        result = work()
        spent_ns = time.process_time_ns() - started_ns
        self.spent_ns[what] = self.spent_ns.get(what, 0) + spent_ns
        return result


def main() -> None:
    node, meter = FakeNode(), Meter()
    replicas = [node.add(Recorder()) for _ in range(3)]
    node.put(record("orders", *replicas))
    client = Client(node)
    client.say(s.ConfirmSelect(True))
    connection, channel = node.processes[client.pid], node.processes[client.channel]
    octets = Octets(published("orders", BODY, mandatory=True, properties=PROPERTIES) * BATCH)
    for first in range(1, MESSAGES, BATCH):
        (effects,) = meter.run("publish", lambda: connection.handle(octets))
        assert len(effects.effects) >= 3 * BATCH
        for replica in replicas:
            confirm = Confirm("orders", replica, tuple(range(first, first + BATCH)))
            sent = meter.run("confirm", partial(channel.handle, confirm))
        assert len(sent) == 1
    consume_all(node, client, meter)
    for what, spent_ns in meter.spent_ns.items():
        print(f"{what:8} {spent_ns / MESSAGES / 1000:6.1f} us a message")


def consume_all(node: FakeNode, client: Client, meter: Meter) -> None:
    master = node.tables.queues["orders"].master
    assert master is not None
    client.say(consume("orders", nowait=True))
    node.post(client.channel, Done(node.processes[master].heard[-1].request, 0))
    connection, channel = node.processes[client.pid], node.processes[client.channel]
    message = Message(b"id", "", "orders", PROPERTIES, BODY, True)
    for first in range(1, MESSAGES, BATCH):
        tags = range(first, first + BATCH)
        for tag in tags:
            delivery = QueueDelivery("orders", master, "c", tag, False, message)
            meter.run("deliver", partial(channel.handle, delivery))
        acks = Octets(b"".join(method_frame(1, q.BasicAck(tag, False)) for tag in tags))
        (effects,) = meter.run("ack", partial(connection.handle, acks))
        assert len(effects.effects) == 1


if __name__ == "__main__":
    if "--profile" in sys.argv:
        cProfile.run("main()", sort="tottime")
    else:
        main()
