"""What a consumer that never reads takes with it: the reference beside real RabbitMQ.

usage: python -m tests.benchmarks.deaf_consumer [--messages 20000] [--octets 1024] [--repeats 3]
A consumer without acknowledgements subscribes to an empty queue and reads no more; then so many
messages come. Those that the queue lacks once it has come to rest are lost when that consumer
ends. Each system in turn stands under Compose (unmirrored@T=60), and is asked over AMQP from this
machine, without a proxy.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pika
from pika.adapters.blocking_connection import BlockingChannel

from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout

LAYOUT = "unmirrored@T=60"
SYSTEMS = ("rabbitmq-mirrored", "reference-mirrored")
LOOKS, LOOK_S = 10, 0.5  # alike, until it counts as being at rest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--octets", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for system in SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measured(system, Path(folder), options))


async def measured(system: str, folder: Path, options: argparse.Namespace) -> None:
    cluster = await ComposeDeployment(equip).up(load_layout(system, LAYOUT), folder, print)
    try:
        address = cluster.layout.hosts[0].address
        for repeat in range(options.repeats):
            queue = f"mqproof.deaf-{repeat}"
            taken = await asyncio.to_thread(
                taken_with_it, address, queue, options.messages, bytes(options.octets)
            )
            print(f"{system}: {taken} of {options.messages}", flush=True)
    finally:
        await cluster.down()


def taken_with_it(address: str, queue: str, messages: int, body: bytes) -> int:
    with channel(address) as deaf, channel(address) as other:
        deaf.queue_declare(queue)
        deaf.basic_consume(queue, lambda *_: None, auto_ack=True)
        other.confirm_delivery()
        for _ in range(messages):
            other.basic_publish("", queue, body)
        return messages - at_rest(other, queue)


def at_rest(asking: BlockingChannel, queue: str) -> int:
    """How many are ready once that was the same for a while."""
    alike: list[int] = []
    while len(alike) < LOOKS:
        ready = asking.queue_declare(queue, passive=True).method.message_count
        alike = [*alike, ready] if alike[-1:] == [ready] else [ready]
        asking.connection.sleep(LOOK_S)
    return alike[-1]


@contextmanager
def channel(address: str) -> Iterator[BlockingChannel]:
    connection = pika.BlockingConnection(pika.ConnectionParameters(address, heartbeat=0))
    try:
        yield connection.channel()
    finally:
        connection.close()


if __name__ == "__main__":
    main()
