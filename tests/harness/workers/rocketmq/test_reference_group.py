"""Unmodified clients in worker processes, against a DLedger group of the reference."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.plan.clients.rocketmq import CLIENT_PYTHON
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Role
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.rigs.rocketmq.clusters import Cluster, group
from tests.rigs.rocketmq.needs import require_client
from tests.rigs.workers.rig import rows, until
from tests.rigs.workers.rocketmq_worlds import (
    LIMIT_S,
    World,
    delivered,
    publish,
    sequences,
    worker,
)

pytestmark = pytest.mark.slow

JAVA = "rocketmq-java-"
NATIVE = "rocketmq-native"
CLIENTS = (
    *(f"{JAVA}{version}" for version in ("4.9.0", "4.9.8", "5.2.0", "5.3.3")),
    NATIVE,
    CLIENT_PYTHON.name,
)
# The C++ library asks name servers every 30 s; no setting changes that.
POLL = (("pollNameServerInterval", "1000"),)
SENT, SENT_LATER = 40, 20


def each_client(*every_commit: str) -> pytest.MarkDecorator:
    """Those of every commit, and the others nightly."""
    return pytest.mark.parametrize(
        "client",
        [
            pytest.param(each, marks=() if each in every_commit else (pytest.mark.nightly,))
            for each in CLIENTS
        ],
    )


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with group(tmp_path_factory.mktemp("group")) as made:
        yield made


@each_client(f"{JAVA}5.3.3", NATIVE)
def test_every_confirmed_message_of_a_group_is_consumed_once(
    tmp_path: Path, shared: Cluster, client: str
) -> None:
    require_client(client)
    here = World.make(shared, client, tmp_path)
    options = RocketOptions(producer="sync", send_timeout_ms=20_000)
    sending = here.settings(Role.PUBLISHER, options, rate=50.0, confirm_window=8)
    reading = here.settings(Role.CONSUMER, RocketOptions(), acknowledge=1)

    async def story() -> None:
        await publish(sending, SENT)
        async with worker(reading) as process:
            await delivered(process, len(rows(sending, tables.SETTLEMENTS)))

    asyncio.run(story())
    settled = rows(sending, tables.SETTLEMENTS)
    assert {(row["outcome"], row["raw"]) for row in settled} == {(Outcome.CONFIRMED, "SEND_OK")}
    assert len(settled) >= SENT
    assert sequences(reading) == sorted(row["sequence"] for row in settled)


@pytest.mark.nightly
@each_client()
def test_clients_find_the_next_leader_and_lose_no_confirmed_message(
    tmp_path: Path, client: str
) -> None:
    require_client(client)
    with group(tmp_path / "group") as servers:
        here = World.make(servers, client, tmp_path)
        settings = () if client in (NATIVE, CLIENT_PYTHON.name) else POLL
        options = RocketOptions(producer="sync", settings=settings)
        sending = here.settings(Role.PUBLISHER, options, rate=20.0, confirm_window=4)
        reading = here.settings(Role.CONSUMER, RocketOptions(settings=settings), acknowledge=1)

        def confirmed() -> set[int]:
            settled = rows(sending, tables.SETTLEMENTS)
            return {row["sequence"] for row in settled if row["outcome"] == Outcome.CONFIRMED}

        async def story() -> None:
            async with worker(reading), worker(sending) as publishing:
                publishing.say(do="start", at_ns=time.monotonic_ns())
                await until(lambda: len(confirmed()) >= SENT, "the first leader", LIMIT_S)
                servers[servers.leader].kill()
                before = len(confirmed())
                await until(
                    lambda: len(confirmed()) >= before + SENT_LATER, "the next leader", LIMIT_S
                )
                publishing.say(do="stop_load")
                with contextlib.suppress(TimeoutError):
                    await until(lambda: confirmed() <= {*sequences(reading)}, "all of it", LIMIT_S)

        asyncio.run(story())
        assert confirmed() - {*sequences(reading)} == set()
