"""Real nodes under attack, with a client beside it that goes on: how long its confirms take.

    python -m tests.benchmarks.reference_under_attack [SECONDS [ATTACK...]]

In turn, each for so long (60): nothing; AMQP frames of chance (fuzzing.py); octets of chance at
the port of peers; 2,000 connections that stay; a flood of 64 KiB messages without a consumer, of
37 MiB a second and as fast as it goes. Under an alarm the client is blocked as all are. The client
sits on another node, and waits for the confirm of each persistent message in a mirrored
queue.
"""

import math
import multiprocessing
import random
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from threading import Event

import pika

from tests.reference_impl.amqp.client import handshake
from tests.reference_impl.fuzzing import Fuzzer
from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes, until

ATTACKED, CANARYS = "ref1", "ref2"
AMQP_PORT, PEER_PORT = 5672, 25672
LIMIT = 256 << 20  # octets of a node that make an alarm
PIECES, CONNECTIONS = 40, 2_000
PAUSE_S = 0.02
BODY, STEADY = 64 << 10, 37 << 20  # octets of a message; of a steady flood's second
Attack = Callable[[str, "Synchronized[int]"], None]


def amqp_frames(address: str, count: "Synchronized[int]") -> None:
    fuzzer = Fuzzer(11)
    while True:
        with suppress(OSError), socket.create_connection((address, AMQP_PORT), 5) as client:
            for piece in fuzzer.client(PIECES):
                client.sendall(piece)
                count.value += 1


def peer_octets(address: str, count: "Synchronized[int]") -> None:
    draw = random.Random(11)
    while True:
        with suppress(OSError), socket.create_connection((address, PEER_PORT), 5) as peer:
            octets = draw.randbytes(draw.randint(1, 200))
            length = draw.choice((len(octets), 0, 2**31, draw.randrange(1 << 16)))
            peer.sendall(length.to_bytes(4, "big") + octets)
            count.value += 1


def many_connections(address: str, count: "Synchronized[int]") -> None:
    with ExitStack() as held:
        for _ in range(CONNECTIONS):
            client = held.enter_context(socket.create_connection((address, AMQP_PORT), 30))
            client.sendall(handshake())
            count.value += 1
        Event().wait()


def flood(address: str, count: "Synchronized[int]", octets_per_s: float = math.inf) -> None:
    connection = pika.BlockingConnection(pika.ConnectionParameters(address, heartbeat=0))
    channel = connection.channel()
    channel.queue_declare("flooded")
    every_s, due_s = BODY / octets_per_s, time.monotonic()
    while True:
        channel.basic_publish("", "flooded", bytes(BODY))
        count.value += 1
        due_s += every_s
        if (early_s := due_s - time.monotonic()) > 0:
            connection.sleep(early_s)


def steady_flood(address: str, count: "Synchronized[int]") -> None:
    flood(address, count, STEADY)


ATTACKS: dict[str, Attack | None] = {
    "nothing": None,
    "AMQP frames": amqp_frames,
    "octets at the peers' port": peer_octets,
    "connections": many_connections,
    "37 MiB a second": steady_flood,
    "messages of 64 KiB": flood,
}


def resident_mib(nodes: Nodes, name: str) -> int:
    status = Path(f"/proc/{nodes.processes[name].pid}/statm").read_text()
    return int(status.split()[1]) * 4096 >> 20


def confirms_s(nodes: Nodes, seconds: float) -> tuple[list[float], int]:
    """How long each took; and the most MiB that the attacked node had."""
    parameters = pika.ConnectionParameters(nodes.addresses[CANARYS], heartbeat=0)
    connection = pika.BlockingConnection(parameters)
    channel = connection.channel()
    channel.queue_declare("canary", durable=True)
    channel.confirm_delivery()
    persistent = pika.BasicProperties(delivery_mode=2)
    took, most, until_s = [], 0, time.monotonic() + seconds
    while time.monotonic() < until_s:
        began = time.monotonic()
        channel.basic_publish("", "canary", b"tweet", persistent)
        took.append(time.monotonic() - began)
        most = max(most, resident_mib(nodes, ATTACKED))
        connection.sleep(PAUSE_S)
    connection.close()
    return took, most


def attacked(nodes: Nodes, name: str, seconds: float) -> str:
    attack, count = ATTACKS[name], multiprocessing.Value("Q", 0)
    process = None
    if attack is not None:
        process = multiprocessing.Process(
            target=attack, args=(nodes.addresses[ATTACKED], count), daemon=True
        )
        process.start()
    took, most = confirms_s(nodes, seconds)
    if process is not None:
        process.kill()
        process.join()
    took.sort()
    median, worst = took[len(took) // 2], took[-1]
    crashed = "crashed" in (nodes.folder / f"{ATTACKED}.log").read_text()
    return (
        f"{name}: {count.value:,}; {len(took):,} confirms, median {median * 1e3:.1f} ms, "
        f"worst {worst * 1e3:.0f} ms; at most {most} MiB{'; A PROCESS CRASHED' * crashed}"
    )


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with (
        tempfile.TemporaryDirectory() as folder,
        Nodes(Path(folder), memory_high_octets=LIMIT) as nodes,
    ):
        management = Management(nodes.addresses[CANARYS])
        until(lambda: len(management.call("GET", "/api/nodes")) == 3)
        management.policy("canary", "^canary$", ha_mode="all")
        for name in sys.argv[2:] or ATTACKS:
            print(attacked(nodes, name, seconds), flush=True)


if __name__ == "__main__":
    main()
