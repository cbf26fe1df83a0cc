"""A load at maximum rate that Java sends by itself, against a real name server and broker."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import EXIT_FAILED, Role, WorkerConfig
from spark_analysis.files.log import check_closed, is_closed
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.rigs.machine.file_limit import child_with_small_files
from tests.rigs.rocketmq.clusters import Cluster, pair
from tests.rigs.rocketmq.needs import require_client, require_servers
from tests.rigs.workers.rig import Process, rows, until
from tests.rigs.workers.rocketmq_worlds import LIMIT_S, World, drain, sequences, worker

pytestmark = [pytest.mark.slow, pytest.mark.long]

SERVERS, WINDOW, KEYS = "4.9.7", 32, 3
CLIENTS = [
    "rocketmq-java-4.9.8",
    pytest.param("rocketmq-java-4.9.0", marks=pytest.mark.nightly),
    pytest.param("rocketmq-java-5.2.0", marks=pytest.mark.nightly),
    pytest.param("rocketmq-java-5.3.3", marks=pytest.mark.nightly),
]
MANY = 5_000
FULL_BYTES = 500_000
HEADER_BYTES = 12  # of a log's file


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require_servers(SERVERS)
    with pair(SERVERS, tmp_path_factory.mktemp("rocketmq")) as standing:
        yield standing


def sending(here: World, timeout_ms: int = 20_000) -> WorkerConfig:
    options = RocketOptions(producer="async", send_timeout_ms=timeout_ms)
    load = {"rate": None, "confirm_window": WINDOW, "keys": KEYS, "confirms": True}
    return here.settings(Role.PUBLISHER, options, retry="until_confirmed", **load)


def sends_by_itself(process: Process) -> bool:
    """Whether the thread of Refill.java runs."""
    found = []
    for task in Path(f"/proc/{process.process.pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            found.append((task / "comm").read_text().strip())
    return "mqproof refill" in found


async def confirmed(process: Process, count: int) -> None:
    while (await process.hear("status"))["confirmed"] < count:
        pass


async def ended(process: Process) -> None:
    process.say(do="stop_load")
    while (await process.hear("status"))["outstanding"]:
        pass


def most_at_once(attempts: list[dict[str, Any]], settled: list[dict[str, Any]]) -> int:
    """The most sends that were unanswered at one time; an answer comes before a send that it
    made room for."""
    changes = [(row["sent_ns"], 1) for row in attempts]
    changes += [(row["settled_ns"], -1) for row in settled]
    now = most = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


@pytest.mark.parametrize("client", CLIENTS)
def test_each_send_is_on_record_with_its_answer_and_within_the_window(
    tmp_path: Path, servers: Cluster, client: str
) -> None:
    require_client(client)
    settings = sending(World.make(servers, client, tmp_path))

    async def story() -> None:
        async with worker(settings) as process:
            process.say(do="start", at_ns=time.monotonic_ns())
            await until(lambda: sends_by_itself(process))
            await confirmed(process, MANY)
            await ended(process)
            assert not sends_by_itself(process)

    asyncio.run(story())
    check_closed(Path(settings.log))
    attempts, settled = rows(settings, tables.ATTEMPTS), rows(settings, tables.SETTLEMENTS)
    assert [(row["sequence"], row["key"], row["tag"]) for row in attempts] == [
        (each, each % KEYS, each + 1) for each in range(len(attempts))
    ]
    assert sorted(row["sequence"] for row in settled) == list(range(len(attempts)))
    assert {(row["outcome"], row["raw"]) for row in settled} == {(Outcome.CONFIRMED, "SEND_OK")}
    assert most_at_once(attempts, settled) <= WINDOW


def test_after_kill_9_the_log_has_every_message_that_a_broker_has(
    tmp_path: Path, servers: Cluster
) -> None:
    client = "rocketmq-java-4.9.8"
    require_client(client)
    here = World.make(servers, client, tmp_path)
    settings = sending(here)
    reading = here.settings(Role.DRAINER, RocketOptions(), acknowledge=1)

    async def story() -> None:
        with contextlib.suppress(AssertionError):  # it cannot say goodbye
            async with worker(settings) as process:
                process.say(do="start", at_ns=time.monotonic_ns())
                await until(lambda: sends_by_itself(process))
                await confirmed(process, MANY)
                process.process.kill()
        assert (await drain(reading))["doubt"] == ""

    asyncio.run(story())
    assert not is_closed(Path(settings.log))
    columns = ("sequence", "attempt", "key", "sent_ns")
    attempts, stored = (
        {tuple(row[column] for column in columns) for row in rows(one, table)}
        for one, table in ((settings, tables.ATTEMPTS), (reading, tables.DELIVERIES))
    )
    assert len(stored) >= MANY
    assert stored <= attempts
    settled = {(row["sequence"], row["attempt"]) for row in rows(settings, tables.SETTLEMENTS)}
    assert settled <= {(sequence, attempt) for sequence, attempt, *_ in stored}


def test_a_full_disk_ends_the_worker_and_leaves_whole_records(
    tmp_path: Path, servers: Cluster
) -> None:
    client = "rocketmq-java-4.9.8"
    require_client(client)
    here = World.make(servers, client, tmp_path)
    settings = sending(here)
    reading = here.settings(Role.DRAINER, RocketOptions(), acknowledge=1)

    async def story() -> None:
        limited = child_with_small_files(FULL_BYTES)
        with contextlib.suppress(AssertionError):  # it cannot say goodbye
            async with worker(settings, **limited) as process:
                process.say(do="start", at_ns=time.monotonic_ns())
                failed = await process.hear("failed", LIMIT_S)
                assert "the log cannot be written" in str(failed), failed
                assert await process.exit_code() == EXIT_FAILED
                ends.append(process)
        assert (await drain(reading))["doubt"] == ""

    ends: list[Process] = []
    asyncio.run(story())
    assert ends, "it went on"
    assert not is_closed(Path(settings.log))
    attempts = rows(settings, tables.ATTEMPTS)
    file = Path(settings.log) / f"{tables.ATTEMPTS.name}.log"
    assert (file.stat().st_size - HEADER_BYTES) == len(attempts) * tables.ATTEMPTS.record.size
    assert len(attempts) > MANY
    assert set(sequences(reading)) <= {row["sequence"] for row in attempts}


def test_a_broker_that_stands_still_halts_it_and_it_begins_again(
    tmp_path: Path, servers: Cluster
) -> None:
    client, broker = "rocketmq-java-4.9.8", servers["broker-a-0"]
    require_client(client)
    settings = sending(World.make(servers, client, tmp_path), timeout_ms=1_000)

    async def story() -> None:
        async with worker(settings) as process:
            process.say(do="start", at_ns=time.monotonic_ns())
            await until(lambda: sends_by_itself(process))
            broker.signal(signal.SIGSTOP)
            try:
                await until(lambda: not sends_by_itself(process))
            finally:
                broker.signal(signal.SIGCONT)
            await until(lambda: sends_by_itself(process))
            await ended(process)

    asyncio.run(story())
    check_closed(Path(settings.log))
    attempts, settled = rows(settings, tables.ATTEMPTS), rows(settings, tables.SETTLEMENTS)
    assert sorted(row["tag"] for row in attempts) == list(range(1, len(attempts) + 1))
    done = [row["sequence"] for row in settled if row["outcome"] == Outcome.CONFIRMED]
    assert sorted(done) == list(range(len(done)))
    assert {row["sequence"] for row in attempts} == {*done}
    again = {row["sequence"] for row in attempts if row["attempt"] > 1}
    assert again == {row["sequence"] for row in settled if row["outcome"] == Outcome.UNKNOWN}
    assert again
