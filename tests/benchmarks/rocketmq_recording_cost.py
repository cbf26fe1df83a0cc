"""What recording costs with RocketMQ's clients: our publisher against a bare loop, in pairs.

1. Bare, of a Java client: BareProducer.java, async, 256-byte messages, at most W unanswered, no
   Python at all. Bare, of the native one: its package's own send_sync in as many threads as ours.
2. Ours: the worker process with the same library, mode, window and rate; what its log says was
   confirmed within the same span.
3. Both are scheduled alike: in real time where the machine lets them and the load is paced.
4. Both count from their first confirm, after the same time to warm up.
5. Each pair runs both of one client, one right after the other, in alternating order; clients take
   turns within a round. One bare run of each client comes first and does not count: a broker that
   has just started is slower. A pair's figure is ours / bare, printed with both rates that were
   reached: where neither reaches what was asked, a ratio says little of recording.
6. All clients have the same window, 128: as many as the native one can have, which blocks a thread
   for each send. Where more is asked, that one alone stays below, and its line says so.

`python -m tests.benchmarks.rocketmq_recording_cost [--clients rocketmq-java-5.3.3,...]
[--servers 4.9.7] [--rate 5000|max] [--window 128] [--pairs 5] [--seconds 4]`. It stands up a name
server and a broker of its own. Java's needs a JDK. Exit code 1 if a median is below 0.9.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.plan.clients.registry import named
from harness.run.drivers import driver
from harness.workers.clients.jars import class_path
from harness.workers.clients.rocketmq.java import FLAGS, PREFIX
from harness.workers.clients.rocketmq.options import LANES_MAX
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.rigs.rocketmq.clusters import pair
from tests.rigs.runs.log_rows import read_rows

ROOT = Path(__file__).parents[2]
TOPIC = "T"
BODY_BYTES = 256
LEAST = 0.9
ENDS_S = 60.0
BARE_LIMIT_S = 120.0


@dataclass(frozen=True)
class Setup:
    name_servers: str
    topic: str
    window: int
    rate: float  # 0: max
    warm_s: float
    seconds: float


@dataclass(frozen=True)
class Pair:
    """Confirmed messages a second."""

    recorded: float
    bare: float

    @property
    def ratio(self) -> float:
        return self.recorded / self.bare

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.recorded:,.0f} recorded, {self.bare:,.0f} bare a second)"


def bare(client: str, setup: Setup) -> float:
    """Confirms a second."""
    window = window_of(client, setup.window)
    words = [setup.name_servers, setup.topic, window, int(setup.rate)]
    numbers = [str(word) for word in (*words, setup.warm_s, setup.seconds)]
    if client.startswith(PREFIX):
        path = ":".join(class_path(client))
        source = Path(__file__).with_name("BareProducer.java")
        command = ["java", *FLAGS, "-cp", path, str(source), *numbers]
    else:
        command = [sys.executable, "-m", "tests.benchmarks.rocketmq_recording_cost", "--bare"]
        command += numbers
    if setup.rate:
        command = [*_hurry(), *command]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, timeout=BARE_LIMIT_S
    )
    return float(done.stdout.split()[-1])


def window_of(client: str, window: int) -> int:
    """How many sends of a client may be unanswered, recorded or bare."""
    return window if client.startswith(PREFIX) else min(window, LANES_MAX)


def _hurry() -> list[str]:
    """What a worker of a paced load asks for, too (harness/workers/priority.py)."""
    words = ["chrt", "--rr", "1"]
    allowed = subprocess.run([*words, "true"], capture_output=True).returncode == 0
    return words if allowed else []


def bare_native(words: list[str]) -> float:
    """The package's own calls, in as many threads as the window has places."""
    from rocketmq.client import Message, Producer

    name_servers, topic, window, rate, warm_s, seconds = words
    producer = Producer("bare")
    producer.set_namesrv_addr(name_servers)
    producer.start()
    producer.set_timeout(30_000)
    first = Message(topic)
    first.set_body("x" * BODY_BYTES)
    producer.send_sync(first)  # the way is open from here
    ends_s = time.monotonic() + float(warm_s) + float(seconds)
    counts = [0] * int(window)

    def send(lane: int) -> None:
        began_s, step_s = time.monotonic(), int(window) / float(rate) if float(rate) else 0.0
        while (now_s := time.monotonic()) < ends_s:
            if step_s and (early_s := began_s + counts[lane] * step_s - now_s) > 0:
                threading.Event().wait(early_s)
            message = Message(topic)
            message.set_body("x" * BODY_BYTES)
            producer.send_sync(message)
            counts[lane] += 1

    threads = [threading.Thread(target=send, args=(lane,)) for lane in range(int(window))]
    for thread in threads:
        thread.start()
    threading.Event().wait(float(warm_s))
    before, began_s = sum(counts), time.monotonic()
    threading.Event().wait(float(seconds))
    return (sum(counts) - before) / (time.monotonic() - began_s)


def ours(client: str, setup: Setup) -> float:
    """Confirms a second, as the log says."""
    with tempfile.TemporaryDirectory() as folder:
        config = configuration(client, setup, folder)
        run_worker(config, setup)
        settled_ns = [
            int(row["settled_ns"] or 0)
            for row in read_rows(Path(config.log), tables.SETTLEMENTS)
            if row["outcome"] == Outcome.CONFIRMED
        ]
    first_ns = min(settled_ns) + int(setup.warm_s * 1e9)
    last_ns = first_ns + int(setup.seconds * 1e9)
    return sum(first_ns <= at_ns < last_ns for at_ns in settled_ns) / setup.seconds


def configuration(client: str, setup: Setup, folder: str) -> WorkerConfig:
    addresses = (each.rpartition(":") for each in setup.name_servers.split(";"))
    mode = "async" if client.startswith(PREFIX) else "sync"
    return WorkerConfig(
        role=Role.PUBLISHER,
        number=1,
        run="cost",
        run_number=1,
        origin_ns=time.monotonic_ns(),
        log=f"{folder}/log",
        client=client,
        driver=driver(named(client)),
        queue=setup.topic,
        queue_word="cost",
        endpoints=tuple(Endpoint(host, host, int(port)) for host, _, port in addresses),
        connection_name="mqproof.cost",
        rate=setup.rate or None,
        confirm_window=window_of(client, setup.window),
        deadline_s=30.0,
        body_bytes=BODY_BYTES,
        own={"producer": mode},
    )


def run_worker(config: WorkerConfig, setup: Setup) -> None:
    """Until it has sent for the whole span after its first confirm."""
    command = [sys.executable, "-m", "harness.workers", "cost"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT, text=True) as worker:
        assert worker.stdin and worker.stdout
        lines = worker.stdout

        def say(**message: object) -> None:
            assert worker.stdin
            worker.stdin.write(json.dumps(message) + "\n")
            worker.stdin.flush()

        def hear(word: str) -> dict[str, Any]:
            for line in lines:
                if (said := json.loads(line))["say"] == word:
                    return dict(said)
            raise AssertionError(f"it never said {word}")

        say(do="hello")
        hear("hello")
        say(do="configure", config=config.to_json())
        ended = threading.Event()

        def ping() -> None:
            while not ended.wait(1.0):
                say(do="ping")

        threading.Thread(target=ping, daemon=True).start()
        hear("ready")
        say(do="start", at_ns=time.monotonic_ns())
        ends_s = time.monotonic() + ENDS_S
        while not hear("status")["confirmed"]:
            assert time.monotonic() < ends_s, f"nothing was confirmed in {ENDS_S} s"
        threading.Event().wait(setup.warm_s + setup.seconds)
        ended.set()
        say(do="close")
        hear("closed")
        worker.wait(ENDS_S)


def pairs(clients: list[str], setup: Setup, count: int) -> Iterator[tuple[str, float, float]]:
    for client in clients:
        bare(client, setup)
    for number in range(count):
        for client in clients:
            if number % 2:
                recorded, plain = ours(client, setup), bare(client, setup)
            else:
                plain, recorded = bare(client, setup), ours(client, setup)
            yield client, recorded, plain


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", default="rocketmq-java-5.3.3")
    parser.add_argument("--servers", default="4.9.7")
    parser.add_argument("--rate", type=rate, default=5000.0)
    parser.add_argument("--window", type=positive, default=LANES_MAX)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--warm", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=4.0)
    given = parser.parse_args()
    numbers = (given.window, given.rate, given.warm, given.seconds)
    with (
        tempfile.TemporaryDirectory(prefix="cost-") as folder,
        pair(given.servers, Path(folder) / "servers") as standing,
    ):
        asyncio.run(standing.create_topic(TOPIC))
        setup = Setup(f"127.0.0.1:{standing['ns1'].port}", TOPIC, *numbers)
        return _compare(given.clients.split(","), setup, given.pairs)


def _compare(clients: list[str], setup: Setup, count: int) -> int:
    """Prints every pair as it comes, and each client's median."""
    found: dict[str, list[Pair]] = {client: [] for client in clients}
    print(f"asked: {f'{setup.rate:,.0f} a second' if setup.rate else 'max'}", flush=True)
    for client, recorded, plain in pairs(clients, setup, count):
        found[client].append(Pair(recorded, plain))
        print(f"{client}: {found[client][-1]}", flush=True)
    for client, own in found.items():
        print(describe(client, window_of(client, setup.window), own))
    return int(any(median(own) < LEAST for own in found.values()))


def describe(client: str, window: int, found: Sequence[Pair]) -> str:
    """A client's median, and each of its pairs with the rates that it reached."""
    each = "; ".join(str(pair) for pair in sorted(found, key=lambda pair: pair.ratio))
    return f"{client}, window {window}: median {median(found):.2f} of {each}"


def median(found: Sequence[Pair]) -> float:
    return statistics.median(pair.ratio for pair in found)


def rate(word: str) -> float:
    """Messages a second; 0.0 for `max`."""
    if word == "max":
        return 0.0
    return positive(word)


def positive(word: str) -> int:
    """Raises ValueError, for which argparse names the option and the word."""
    if (number := int(word)) < 1:
        raise ValueError(f"{number} is not positive")
    return number


if __name__ == "__main__":
    if sys.argv[1:2] == ["--bare"]:
        print(bare_native(sys.argv[2:]), flush=True)
        # The library's threads do not end by themselves.
        import os

        os._exit(0)
    sys.exit(main())
