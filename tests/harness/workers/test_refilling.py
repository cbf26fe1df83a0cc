"""A load at maximum rate that its link sends by itself: on record as if the publisher did."""

import asyncio
import time
import zlib
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from harness.workers.protocol import WorkerConfig
from harness.workers.publisher import Publisher
from harness.workers.recorder import Recorder
from spark_analysis.files.log import LogWriter, check_closed, joined
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.harness.workers.test_bulk import WINDOW, settings_of, without_times
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.workers.loghand import BulkClient, RefillingClient
from tests.rigs.workers.rig import identities, publisher, rows, until

COUNT = 50


def confirm(client: BulkClient | RefillingClient, tags: range) -> None:
    assert client.publishing is not None
    client.publishing.all_confirmed(tags, [time.monotonic_ns()] * len(tags), "said")


def has_sent(client: BulkClient | RefillingClient, count: int) -> bool:
    return len(client.sent) == count


async def begun(worker: Publisher, client: RefillingClient) -> None:
    """After a window that the publisher sent itself."""
    await until(lambda: len(client.sent) == WINDOW)
    client.refuses = True
    confirm(client, range(1, WINDOW + 1))
    await until(lambda: len(client.sent) == 2 * WINDOW)
    client.refuses = False
    await until(lambda: client.load is not None)
    confirm(client, range(WINDOW + 1, 2 * WINDOW + 1))
    assert worker.status()["outstanding"] == 0


def test_what_a_link_sends_by_itself_is_on_record_as_in_bulk(tmp_path: Path) -> None:
    refilling, bulk = RefillingClient(), BulkClient()

    async def by_itself(settings: WorkerConfig) -> None:
        async with publisher(settings, refilling) as worker:
            await begun(worker, refilling)
            refilling.send(WINDOW)
            confirm(refilling, range(2 * WINDOW + 1, 3 * WINDOW + 1))
            worker.stop_load()
        worker._recorder.close()

    async def by_us(settings: WorkerConfig) -> None:
        async with publisher(settings, bulk) as worker:
            for window in range(3):
                await until(partial(has_sent, bulk, (window + 1) * WINDOW))
                if window == 2:
                    worker.stop_load()
                confirm(bulk, range(window * WINDOW + 1, (window + 1) * WINDOW + 1))

    first, second = settings_of(tmp_path / "itself"), settings_of(tmp_path / "us")
    asyncio.run(by_itself(first))
    asyncio.run(by_us(second))
    for table in (tables.ATTEMPTS, tables.SETTLEMENTS):
        assert without_times(rows(first, table)) == without_times(rows(second, table))
    check_closed(Path(first.log))
    attempts = rows(first, tables.ATTEMPTS)
    assert [(one.sequence, one.key, one.sent_ns) for one in identities(refilling.sent)] == [
        (row["sequence"], row["key"], row["sent_ns"]) for row in attempts
    ]


def test_counts_are_true_whether_answers_or_the_link_reported_first(tmp_path: Path) -> None:
    client = RefillingClient()

    async def story() -> None:
        async with publisher(settings_of(tmp_path), client) as worker:
            await begun(worker, client)
            before = worker.status()["sent"]
            client.send(5)
            confirm(client, range(2 * WINDOW + 3, 2 * WINDOW + 5))
            status = worker.status()
            assert (status["sent"], status["outstanding"]) == (before + 4, 2)
            worker.tick()
            status = worker.status()
            assert (status["sent"], status["outstanding"]) == (before + 5, 3)
            client.send(1)
            worker.stop_load()
            assert worker.status()["outstanding"] == 4

    asyncio.run(story())


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.REFUSED])
def test_a_send_that_fails_halts_the_link_and_is_retried_by_the_publisher(
    tmp_path: Path, outcome: Outcome
) -> None:
    settings, client = settings_of(tmp_path, retry="until_confirmed"), RefillingClient()

    async def story() -> None:
        async with publisher(settings, client) as worker:
            await begun(worker, client)
            client.send(2)
            client.refuses = True
            failed = 2 * WINDOW + 1
            client.answer(failed, outcome)
            assert client.halts == 1
            await until(lambda: len(client.sent) == 3 * WINDOW + 1)  # a full window, and one again
            worker.stop_load()
            confirm(client, range(failed + 1, 3 * WINDOW + 2))
            assert worker.status()["outstanding"] == 0
        attempts = rows(settings, tables.ATTEMPTS)
        assert [row["tag"] for row in attempts] == list(range(1, 3 * WINDOW + 2))
        again = [row["sequence"] for row in attempts if row["attempt"] == 2]
        assert again == [2 * WINDOW]
        assert {row["sequence"] for row in attempts} == set(range(3 * WINDOW))

    asyncio.run(story())


def test_it_begins_only_when_a_whole_tick_has_passed_without_a_failure(tmp_path: Path) -> None:
    client = RefillingClient()

    async def story() -> None:
        async with publisher(settings_of(tmp_path), client) as worker:
            await begun(worker, client)
            client.answer(0, Outcome.UNKNOWN)  # of none that is out
            worker.tick()
            assert client.load is None
            worker.tick()
            assert client.load is not None
            worker.stop_load()
            worker.tick()
            assert (client.load, client.halts) == (None, 2)

    asyncio.run(story())


def test_what_was_sent_and_not_heard_is_unknown_when_the_worker_closes(tmp_path: Path) -> None:
    settings, client = settings_of(tmp_path), RefillingClient()

    async def story() -> None:
        async with publisher(settings, client) as worker:
            await begun(worker, client)
            client.send(3)
        worker._recorder.close()
        check_closed(Path(settings.log))
        settled = rows(settings, tables.SETTLEMENTS)[2 * WINDOW :]
        assert [(row["sequence"], row["outcome"]) for row in settled] == [
            (2 * WINDOW + each, Outcome.UNKNOWN) for each in range(3)
        ]

    asyncio.run(story())


def test_a_record_that_cannot_be_written_ends_the_worker(tmp_path: Path) -> None:
    client = RefillingClient()

    class Died(Exception):
        pass

    def die(why: str) -> NoReturn:
        raise Died(why)

    async def story() -> None:
        settings = settings_of(tmp_path)
        worker = Publisher(settings, Recorder(settings, die), client, lambda: None)
        running = asyncio.create_task(worker.run())
        await until(lambda: client.publishing is not None)
        worker.start(time.monotonic_ns())
        await until(lambda: len(client.sent) == WINDOW)
        confirm(client, range(1, WINDOW + 1))
        worker.tick()
        worker.tick()
        assert client.load is not None
        client.full = True
        with pytest.raises(Died, match="the log cannot be written: No space left on device"):
            worker.tick()
        running.cancel()

    asyncio.run(story())


@pytest.mark.parametrize("length", [0, 1, COUNT, (1 << 20) + 1])
def test_a_checksum_of_two_parts_is_that_of_the_whole(length: int) -> None:
    first, second = b"the first part", bytes(each % 251 for each in range(length))
    found = joined(zlib.crc32(first), zlib.crc32(second), length)
    assert found == zlib.crc32(first + second)


def test_a_file_that_was_lent_is_closed_as_a_whole(tmp_path: Path) -> None:
    table, log = tables.LATENESS, LogWriter(tmp_path / "log")
    log.append_numbered(table, 4, 1, 9)
    record: Any = table.record.pack(4, 2, 9)
    with log.lend(table).open("ab") as another:
        another.write(record)
    log.written_by_another(table, 1, zlib.crc32(record))
    log.append_numbered(table, 4, 3, 9)
    log.close()
    check_closed(tmp_path / "log")
    assert [row["at_ns"] for row in read_rows(tmp_path / "log", table)] == [1, 2, 3]
