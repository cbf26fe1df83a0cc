"""What recording costs: our publisher against a bare pika loop, in pairs, against one broker.

1. Bare: one AsyncioConnection, persistent 256-byte messages, at most W without a confirm.
2. Ours: the worker process at rate max with the same window; what its log says was confirmed.
3. Each pair runs both, one right after the other, in alternating order; its figure is ours / bare.
   The median comes with a distribution-free interval (order statistics, at least 95 %).

`python tests/benchmarks/recording_cost.py --port 5672 [--host H] [--queue Q] [--seconds 5]
[--pairs 10] [--windows 1,100,1000]`; the queue must exist. Exit code 1 if a median is below 0.9.
"""

import argparse
import asyncio
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pika
from pika.adapters.asyncio_connection import AsyncioConnection

from harness.workers.protocol import Driver, Endpoint, Role, WorkerConfig
from spark_analysis.files.log import read_records
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome

ROOT = Path(__file__).parents[2]
WARM_S = 0.5
BODY = bytes(256)
LEAST = 0.9


@dataclass(frozen=True)
class Setup:
    host: str
    port: int
    queue: str
    window: int
    seconds: float
    driver: str = ""  # a Driver as JSON, which ours needs


class Bare:
    """The least that a confirming publisher must do."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.confirmed = 0
        self.low = self.tag = 0
        self.out: set[int] = set()
        self.properties = pika.BasicProperties(delivery_mode=2)
        self.ready = asyncio.Event()
        parameters = pika.ConnectionParameters(setup.host, setup.port)
        self.connection = AsyncioConnection(parameters, on_open_callback=self.on_open)

    def on_open(self, connection: Any) -> None:
        connection.channel(on_open_callback=self.on_channel)

    def on_channel(self, channel: Any) -> None:
        self.channel = channel
        channel.confirm_delivery(self.on_settled, lambda _: self.ready.set())

    def on_settled(self, frame: Any) -> None:
        tag = frame.method.delivery_tag
        before = len(self.out)
        if frame.method.multiple:
            self.out.difference_update(range(self.low, tag + 1))
            self.low = tag + 1
        else:
            self.out.discard(tag)
        self.confirmed += before - len(self.out)
        self.fill()

    def fill(self) -> None:
        publish, properties = self.channel.basic_publish, self.properties
        while len(self.out) < self.setup.window:
            self.tag += 1
            self.out.add(self.tag)
            publish("", self.setup.queue, BODY, properties, True)


async def bare(setup: Setup) -> float:
    """Confirms a second."""
    loop = Bare(setup)
    await loop.ready.wait()
    loop.fill()
    await asyncio.sleep(WARM_S)
    confirmed, began = loop.confirmed, time.monotonic()
    await asyncio.sleep(setup.seconds)
    return (loop.confirmed - confirmed) / (time.monotonic() - began)


def run_bare(setup: Setup) -> float:
    command = [sys.executable, __file__, "--bare", json.dumps(asdict(setup))]
    answer = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return float(answer.stdout)


def run_ours(setup: Setup) -> float:
    with tempfile.TemporaryDirectory() as folder:
        origin_ns = time.monotonic_ns()
        config = WorkerConfig(
            role=Role.PUBLISHER,
            number=1,
            run="cost",
            run_number=1,
            origin_ns=origin_ns,
            log=f"{folder}/log",
            client="pika",
            driver=Driver(**json.loads(setup.driver)),
            queue=setup.queue,
            queue_word="cost",
            endpoints=(Endpoint(setup.host, setup.host, setup.port),),
            connection_name="mqproof.cost",
            confirm_window=setup.window,
            deadline_s=30.0,
        )
        start_ns = drive(config, WARM_S + setup.seconds)
        return confirms_a_second(Path(config.log), start_ns - origin_ns, setup.seconds)


def drive(config: WorkerConfig, seconds: float) -> int:
    """Runs a worker so long; when its load began."""
    command = [sys.executable, "-m", "harness.workers", "cost"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as worker:
        assert worker.stdin
        assert worker.stdout

        def say(**message: Any) -> None:
            worker.stdin.write(json.dumps(message).encode() + b"\n")
            worker.stdin.flush()

        def hear(word: str) -> None:
            for line in worker.stdout:
                if json.loads(line)["say"] == word:
                    return
            raise SystemExit(f"the worker ended before it said {word}")

        say(do="configure", config=config.to_json())
        hear("ready")
        start_ns = time.monotonic_ns()
        say(do="start", at_ns=start_ns)
        end_s = time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            say(do="ping")
            hear("pong")
            try:
                worker.wait(min(1.0, left_s))
            except subprocess.TimeoutExpired:
                continue
            raise SystemExit("the worker ended too early")
        say(do="close")
        hear("closed")
        return start_ns


def confirms_a_second(log: Path, start_ns: int, seconds: float) -> float:
    names = tables.SETTLEMENTS.names
    settled, outcome = names.index("settled_ns"), names.index("outcome")
    first_ns = start_ns + int(WARM_S * 1e9)
    rows = tables.SETTLEMENTS.record.iter_unpack(read_records(log, tables.SETTLEMENTS))
    return (
        sum(
            row[outcome] == Outcome.CONFIRMED and 0 <= row[settled] - first_ns < seconds * 1e9
            for row in rows
        )
        / seconds
    )


def interval(values: list[float]) -> tuple[float, float, float]:
    """Order statistics around the median, and how sure they are."""
    ordered, count = sorted(values), len(values)
    tail, rank = 0.0, 0
    while rank < count // 2 and tail + math.comb(count, rank) / 2**count <= 0.025:
        tail += math.comb(count, rank) / 2**count
        rank += 1
    rank = max(rank, 1)
    sure = 1 - 2 * sum(math.comb(count, below) for below in range(rank)) / 2**count
    return ordered[rank - 1], ordered[count - rank], sure


def compare(setup: Setup, pairs: int) -> float:
    ratios: list[float] = []
    rates: dict[Callable[[Setup], float], list[float]] = {run_bare: [], run_ours: []}
    for pair in range(pairs):
        for run in (run_bare, run_ours) if pair % 2 else (run_ours, run_bare):
            rates[run].append(run(setup))
        ratios.append(rates[run_ours][-1] / rates[run_bare][-1])
    low, high, sure = interval(ratios)
    median = statistics.median(ratios)
    print(
        f"window {setup.window:5}: ours/bare median {median:.3f}"
        f" [{low:.3f}, {high:.3f}] ({sure:.0%}, {pairs} pairs);"
        f" bare {statistics.median(rates[run_bare]):.0f}/s,"
        f" ours {statistics.median(rates[run_ours]):.0f}/s",
        flush=True,
    )
    return median


def driver_here() -> str:
    """As JSON. A worker's container has no registry of clients: there it is reported."""
    from harness.plan.clients.registry import named
    from harness.run.drivers import driver

    return json.dumps(asdict(driver(named("pika"))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5672)
    parser.add_argument("--queue", default="mqproof.cost")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--windows", default="1,100,1000")
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    parser.add_argument("--driver", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        print(asyncio.run(bare(Setup(**json.loads(options.bare)))))
        return 0
    driver = options.driver or driver_here()
    where = options.host, options.port, options.queue
    medians = [
        compare(Setup(*where, int(window), options.seconds, driver), options.pairs)
        for window in options.windows.split(",")
    ]
    return 0 if min(medians) >= LEAST else 1


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
