"""A load at maximum rate whose client takes many bodies at once: on record as one by one."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from harness.workers.core.publishes import Book
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.files.log import LogWriter
from spark_analysis.schema import tables
from spark_analysis.schema.body import Identity, encode, encode_all
from spark_analysis.schema.words import NO_INTENT, Outcome
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.workers.loghand import BulkClient, PatientClient
from tests.rigs.workers.rig import config, identities, publisher, rows, until

WINDOW, KEYS = 20, 3
TIMES = ("sent_ns", "settled_ns")


def settings_of(folder: Path, **rest: Any) -> WorkerConfig:
    servers = (Endpoint("host1", "127.0.0.1", 1),)
    values = {"rate": None, "confirm_window": WINDOW, "keys": KEYS, "endpoints": servers, **rest}
    return config(Role.PUBLISHER, folder, **values)


def without_times(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: one[name] for name in one if name not in TIMES} for one in found]


def played(folder: Path, client: PatientClient) -> WorkerConfig:
    """Two windows of messages; the answers come last first."""
    settings = settings_of(folder)

    async def story() -> None:
        async with publisher(settings, client) as worker:
            await until(lambda: len(client.sent) == WINDOW)
            worker.stop_load()
            assert client.publishing is not None
            tags = range(WINDOW, 0, -1)
            if isinstance(client, BulkClient):
                clocks = [time.monotonic_ns()] * WINDOW
                client.publishing.all_confirmed(tags, clocks, "said")
            else:
                for tag in tags:
                    client.answer(tag, Outcome.CONFIRMED)
            assert worker.status()["confirmed"] == WINDOW
            assert worker.status()["outstanding"] == 0

    asyncio.run(story())
    return settings


def test_a_load_in_bulk_is_on_record_as_one_by_one(tmp_path: Path) -> None:
    clients = PatientClient(), BulkClient()
    one_by_one, bulk = (
        played(tmp_path / name, client)
        for name, client in zip(("one", "bulk"), clients, strict=True)
    )
    for table in (tables.ATTEMPTS, tables.SETTLEMENTS):
        assert without_times(rows(bulk, table)) == without_times(rows(one_by_one, table))
    attempts = rows(bulk, tables.ATTEMPTS)
    assert [one.sent_ns for one in identities(clients[1].sent)] == [
        row["sent_ns"] for row in attempts
    ]
    assert [one.key for one in identities(clients[1].sent)] == [row["key"] for row in attempts]


def test_a_paced_load_is_not_sent_in_bulk(tmp_path: Path) -> None:
    async def story() -> None:
        client = BulkClient()
        settings = settings_of(tmp_path, rate=500.0)
        async with publisher(settings, client):
            await until(lambda: len(client.sent) >= 5)
        attempts = rows(settings, tables.ATTEMPTS)
        assert all(row["intended_ns"] != NO_INTENT for row in attempts)

    asyncio.run(story())


def test_bodies_made_together_are_those_made_one_by_one() -> None:
    first = Identity(9, 2, 7, 1, 0, 123)
    bodies = encode_all(first, KEYS, 5, 100)
    assert bodies == [
        encode(Identity(9, 2, sequence, 1, sequence % KEYS, 123), 100) for sequence in range(7, 12)
    ]


def test_a_confirm_that_comes_twice_settles_once() -> None:
    book = Book(retrying=True)
    book.connected()
    assert book.send_all(range(5, 8), 10) == range(1, 4)
    attempts, times_ns = book.all_confirmed([3, 3, 1], [20, 21, 22])
    assert [sequence for sequence, *_ in attempts] == [7, 5]
    assert times_ns == [20, 22]
    assert (book.sent, book.confirmed, book.out) == (3, 2, 1)


def test_records_by_columns_are_those_by_rows(tmp_path: Path) -> None:
    for name in ("rows", "columns"):
        with LogWriter(tmp_path / name) as log:
            if name == "rows":
                for at_ns in (1, 2):
                    log.append_numbered(tables.LATENESS, 4, at_ns, 9)
            else:
                log.append_columns(tables.LATENESS, 2, (4, 4), (1, 2), (9, 9))
    by_rows, by_columns = (
        [dict(row) for row in read_rows(tmp_path / name, tables.LATENESS)]
        for name in ("rows", "columns")
    )
    assert by_columns == by_rows
    with pytest.raises(AssertionError), LogWriter(tmp_path / "short") as log:
        log.append_columns(tables.LATENESS, 3, (4, 4), (1, 2), (9, 9))
