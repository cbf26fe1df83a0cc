"""The reference of RocketMQ against the real one: the same Java client, in pairs.

    python -m tests.benchmarks.rocketmq_speed [--pairs 5] [--threads 1,16,64] [--seconds 5]
        [--messages 200000] [--backlog 1000000]

1. Each has a name server, and a master that waits for its slave (SYNC_MASTER, ASYNC_FLUSH), all on
   this machine. Both stand; one idles while the other is measured, in alternating order.
2. Threads send, and each waits for its answer; a push consumer consumes,
   what lies there, from its first message to its last. Messages have 256 bytes.
3. A pair's figure is reference / real.
4. `--backlog`: so many messages are put into the reference alone, and consumed; what memory its
   master has before, at the end of the one and of the other is reported.
5. The real one's JVMs have both compilers here, which its tests go without.
"""

import argparse
import asyncio
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.workers.clients.jars import class_path
from harness.workers.clients.rocketmq.java import FLAGS
from tests.rigs.rocketmq import clusters, launcher
from tests.rigs.rocketmq.clusters import Cluster
from tests.rigs.rocketmq.launcher import REFERENCE

REAL, CLIENT = "4.9.7", "rocketmq-java-4.9.8"
TOPIC, QUEUES = "speed", 8
LIMIT_S = 900.0
WARM_S = 3.0
_QUICK_START = "-XX:TieredStopAtLevel=1"
_PAGE = 4096


@dataclass(frozen=True, slots=True)
class Standing:
    cluster: Cluster

    @property
    def name_servers(self) -> str:
        return ";".join(f"127.0.0.1:{one.port}" for one in self.cluster.name_servers)

    def java_rate(self, what: str, topic: str, *words: object) -> float:
        """A rate, by the Java client."""
        source = Path(__file__).with_name("BareSpeed.java")
        flags = [flag for flag in FLAGS if flag != _QUICK_START]
        command = ["java", *flags, "-cp", ":".join(class_path(CLIENT)), str(source)]
        command += [what, self.name_servers, topic, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        return float(done.stdout.split()[-1])

    def topic(self, name: str) -> str:
        asyncio.run(self.cluster.create_topic(name, QUEUES))
        return name

    def resident_mib(self) -> int:
        process = self.cluster["broker-a-0"].process
        assert process is not None
        pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
        return int(pages) * _PAGE >> 20


@contextmanager
def standing(kind: str, folder: Path) -> Iterator[Standing]:
    made = Cluster(kind)
    clusters.pair_of(made, folder, kind, kind)
    for server in made.servers.values():
        settings = dict(server.settings)
        if server.is_master:
            settings["brokerRole"] = "SYNC_MASTER"
        if server.is_broker:
            settings["mappedFileSizeCommitLog"] = str(1 << 28)
        server.settings = settings
    try:
        asyncio.run(made.start())
        yield Standing(made)
    finally:
        made.kill()


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--pairs", type=int, default=5)
    words.add_argument("--threads", default="1,16,64")
    words.add_argument("--seconds", type=float, default=5.0)
    words.add_argument("--messages", type=int, default=200_000)
    words.add_argument("--backlog", type=int, default=0)
    options = words.parse_args()
    launcher._JVM = tuple(flag for flag in launcher._JVM if flag != _QUICK_START)
    with tempfile.TemporaryDirectory(prefix="speed-") as place:
        folder = Path(place)
        with (
            standing(REAL, folder / "real") as real,
            standing(REFERENCE, folder / "reference") as reference,
        ):
            both = (reference, real)
            for one in both:
                one.topic(TOPIC)
            for threads in map(int, options.threads.split(",")):
                sends = _sends(threads, options.seconds)
                _compare(f"sync send, {threads} threads", both, sends, options.pairs)
            for one in both:
                one.java_rate("fill", one.topic("consumed"), options.messages)
            consumes = _consumes("consumed", options.messages)
            _compare("push consume", both, consumes, options.pairs)
            if options.backlog:
                _backlog(reference, options.backlog)


def _sends(threads: int, seconds: float) -> Callable[[Standing], float]:
    return lambda one: one.java_rate("send", TOPIC, threads, WARM_S, seconds)


def _consumes(topic: str, messages: int) -> Callable[[Standing], float]:
    return lambda one: one.java_rate("consume", topic, messages)


def _compare(
    what: str, both: Sequence[Standing], rate: Callable[[Standing], float], pairs: int
) -> None:
    found: list[list[float]] = [[], []]
    for number in range(pairs):
        for place in (0, 1) if number % 2 else (1, 0):
            found[place].append(rate(both[place]))
    ratios = sorted(ours / real for ours, real in zip(*found, strict=True))
    rates = [statistics.median(one) for one in found]
    print(
        f"{what}: {statistics.median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}] in {pairs} "
        f"pairs; reference {rates[0]:,.0f}/s, real {rates[1]:,.0f}/s",
        flush=True,
    )


def _backlog(reference: Standing, messages: int) -> None:
    topic = reference.topic("backlog")
    notes = [f"{reference.resident_mib()} MiB before"]
    put = reference.java_rate("fill", topic, messages)
    notes.append(f"{reference.resident_mib()} MiB when {messages:,} lay there ({put:,.0f}/s)")
    taken = reference.java_rate("consume", topic, messages)
    notes.append(f"{reference.resident_mib()} MiB when all were consumed ({taken:,.0f}/s)")
    print(f"the reference's master: {'; '.join(notes)}", flush=True)


if __name__ == "__main__":
    main()
