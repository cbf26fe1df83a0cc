"""Kills the leader of a quorum queue: how long is a publisher refused that reconnects elsewhere?

Containers q1, q2 and q3 are a cluster, and 127.0.0.1:5671 to 5673 lead to their ports 5672. Each
trial publishes to the leader, kills it, and connects to the next node DELAY seconds after the
connection broke. It publishes there until a message is confirmed. DOWN seconds after the kill the
node starts again. The page beside this file has the steps and the results.

    pip install pika
    python quorum_leader_crash.py --delay 0 --down 20 --trials 3
"""

import argparse
import json
import subprocess
import threading
import time

import pika
from pika.adapters.blocking_connection import BlockingChannel
from pika.exceptions import AMQPError, NackError

NODES = ("q1", "q2", "q3")
QUEUE = "orders"
BODY = b"x" * 256
PERSISTENT = pika.BasicProperties(delivery_mode=2)
NEW_CHANNEL_AFTER_S = 3.0
LIMIT_S = 120.0


def connect(node: str) -> pika.BlockingConnection:
    port = 5670 + int(node[1:])
    return pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port))


def connect_to_any() -> pika.BlockingConnection:
    """Return a connection to the first node that answers: one may still be starting."""
    for node in NODES:
        try:
            return connect(node)
        except (AMQPError, OSError):
            continue
    raise SystemExit("no node accepts connections: do q1, q2 and q3 run?")


def open_channel(connection: pika.BlockingConnection) -> BlockingChannel:
    channel = connection.channel()
    channel.confirm_delivery()
    return channel


def is_confirmed(channel: BlockingChannel) -> bool:
    """Publish one message and wait for the broker's answer."""
    try:
        channel.basic_publish("", QUEUE, BODY, PERSISTENT)
    except NackError:
        return False
    return True


def look_up(item: str) -> str | list[str]:
    """Return `leader` or `online` of the queue."""
    command = ["rabbitmqctl", "-q", "list_queues", "name", item, "--formatter", "json"]
    for node in NODES:
        found = subprocess.run(["docker", "exec", node, *command], capture_output=True, text=True)
        if found.returncode == 0:
            (queue,) = json.loads(found.stdout)
            return queue[item]
    raise SystemExit("no node answers `rabbitmqctl list_queues`: do q1, q2 and q3 run?")


def wait_until_complete() -> None:
    until = time.monotonic() + LIMIT_S
    while len(look_up("online")) < len(NODES):
        if time.monotonic() > until:
            raise SystemExit("the queue has fewer than three members: see `docker logs`")
        time.sleep(1.0)  # noqa: TID251  it polls, with a limit


def later(seconds: float, *command: str) -> threading.Timer:
    options = {"check": True, "stdout": subprocess.DEVNULL}
    timer = threading.Timer(seconds, subprocess.run, (command,), options)
    timer.start()
    return timer


def publish_until_it_breaks(node: str) -> float:
    """Return when the connection to the leader broke."""
    channel = open_channel(connect(node))
    if not is_confirmed(channel):
        raise SystemExit("the queue refuses messages before anything is killed")
    try:
        while True:
            is_confirmed(channel)
    except (AMQPError, OSError):
        return time.monotonic()


def trial(delay: float, down: float) -> str:
    leader = str(look_up("leader")).removeprefix("rabbit@")
    other = NODES[(NODES.index(leader) + 1) % len(NODES)]
    kill = later(2.0, "docker", "kill", leader)
    start = later(2.0 + down, "docker", "start", leader)
    broke = publish_until_it_breaks(leader)
    time.sleep(delay)  # noqa: TID251  the delay is what is varied
    connection = connect(other)
    channel = open_channel(connection)
    nacks, fresh = 0, ""
    while not is_confirmed(channel) and time.monotonic() < broke + LIMIT_S:
        nacks += 1
        if not fresh and time.monotonic() > broke + delay + NEW_CHANNEL_AFTER_S:
            fresh = "confirmed" if is_confirmed(open_channel(connection)) else "nacked"
    took = time.monotonic() - broke
    connection.close()
    kill.join()
    start.join()
    text = f"delay {delay} s, down {down} s: {nacks} nacks, first confirm after {took:.2f} s"
    return text + (f"; on a new channel after {NEW_CHANNEL_AFTER_S} s: {fresh}" if fresh else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--down", type=float, default=20.0)
    parser.add_argument("--trials", type=int, default=3)
    options = parser.parse_args()
    connection = connect_to_any()
    connection.channel().queue_declare(QUEUE, durable=True, arguments={"x-queue-type": "quorum"})
    connection.close()
    for _ in range(options.trials):
        wait_until_complete()
        print(trial(options.delay, options.down), flush=True)


if __name__ == "__main__":
    main()
