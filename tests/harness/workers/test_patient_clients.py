"""Workers with a client that fails over by itself: never given up, and what it says counts."""

import asyncio
import time
from pathlib import Path
from typing import Any

from harness.plan.clients.rocketmq_terms import terms
from harness.workers.clients.port import Fetched
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from harness.workers.rocketmq.ways import RETRY_TOPIC
from spark_analysis.schema import tables
from spark_analysis.schema.body import Identity, encode
from spark_analysis.schema.words import Outcome, Redelivered, Strength, Via
from tests.rigs.workers.loghand import PatientClient
from tests.rigs.workers.rig import (
    RUN_NUMBER,
    config,
    consumer,
    identities,
    publisher,
    rows,
    until,
)


def settings_of(role: Role, folder: Path, **rest: Any) -> WorkerConfig:
    servers = tuple(Endpoint(f"host{number}", "127.0.0.1", number) for number in (1, 2))
    return config(role, folder, **{"endpoints": servers, **rest})


def settled(settings: WorkerConfig) -> list[tuple[int, int, int, str]]:
    return [
        (row["sequence"], row["outcome"], row["strength"], row["raw"])
        for row in rows(settings, tables.SETTLEMENTS)
    ]


def test_each_answer_settles_its_own_attempt_with_its_own_strength(tmp_path: Path) -> None:
    settings = settings_of(Role.PUBLISHER, tmp_path, rate=200.0, confirm_window=4)

    async def story() -> None:
        client = PatientClient()
        async with publisher(settings, client) as worker:
            await until(lambda: len(client.sent) == 4)
            client.answer(2, Outcome.CONFIRMED, None, "SEND_OK")
            client.answer(
                4, Outcome.CONFIRMED, Strength.FLUSH_SLAVE_TIMEOUT, "FLUSH_SLAVE_TIMEOUT"
            )
            client.answer(1, Outcome.REFUSED, None, "MQBrokerException 17")
            client.answer(3, Outcome.UNKNOWN, None, "RemotingTooMuchRequestException")
            worker.stop_load()
            client.answer(2, Outcome.UNKNOWN, None, "a late copy")
            worker._recorder.flush()
            assert settled(settings) == [
                (1, Outcome.CONFIRMED, Strength.STORED, "SEND_OK"),
                (3, Outcome.CONFIRMED, Strength.FLUSH_SLAVE_TIMEOUT, "FLUSH_SLAVE_TIMEOUT"),
                (0, Outcome.REFUSED, 0, "MQBrokerException 17"),
                (2, Outcome.UNKNOWN, 0, "RemotingTooMuchRequestException"),
            ]

    asyncio.run(story())


def test_a_late_answer_still_confirms_and_keeps_the_link(
    tmp_path: Path,
) -> None:
    settings = settings_of(Role.PUBLISHER, tmp_path, rate=100.0, confirm_window=1, deadline_s=0.05)

    async def story() -> None:
        client = PatientClient()
        async with publisher(settings, client) as worker:
            await until(lambda: worker.status()["missed"] >= 5)
            client.answer(1, Outcome.CONFIRMED)
            await until(lambda: worker.status()["sent"] >= 2)
            assert worker.status()["confirmed"] == 1
        assert client.links == 1
        assert settled(settings)[0] == (0, Outcome.CONFIRMED, Strength.STORED, "said")
        kinds = [row["kind"] for row in rows(settings, tables.CLIENT_EVENTS)]
        assert kinds == ["connecting", "connected", "closed"]

    asyncio.run(story())


def test_fire_and_forget_is_unconfirmed_after_the_library_sent_it(
    tmp_path: Path,
) -> None:
    settings = settings_of(Role.PUBLISHER, tmp_path, rate=100.0, confirms=False, confirm_window=2)

    async def story() -> None:
        client = PatientClient()
        async with publisher(settings, client) as worker:
            await until(lambda: len(client.sent) == 2)
            client.answer(1, Outcome.UNCONFIRMED, None, "handed over")
            client.answer(2, Outcome.REFUSED, None, "RemotingConnectException")
            worker.stop_load()
            worker._recorder.flush()
            assert worker.status()["missed"] >= 1
        assert settled(settings)[:2] == [
            (0, Outcome.UNCONFIRMED, 0, "handed over"),
            (1, Outcome.REFUSED, 0, "RemotingConnectException"),
        ]

    asyncio.run(story())


def test_refused_publishes_are_retried_if_the_workload_says_so(tmp_path: Path) -> None:
    settings = settings_of(
        Role.PUBLISHER, tmp_path, rate=100.0, confirm_window=1, retry="until_confirmed"
    )

    async def story() -> None:
        client = PatientClient()
        async with publisher(settings, client):
            await until(lambda: len(client.sent) == 1)
            client.answer(1, Outcome.REFUSED)
            await until(lambda: len(client.sent) == 2)
            client.answer(2, Outcome.CONFIRMED)
        sent = identities(client.sent[:2])
        assert [(each.sequence, each.attempt) for each in sent] == [(0, 1), (0, 2)]

    asyncio.run(story())


def test_refused_rollback_is_done_and_other_refusals_are_retried(
    tmp_path: Path,
) -> None:
    fated = RocketOptions(transactional_percent=100, fates=("rollback", "commit"))
    settings = settings_of(
        Role.PUBLISHER,
        tmp_path,
        rate=100.0,
        confirm_window=2,
        retry="until_confirmed",
    )

    async def story() -> None:
        client = PatientClient(terms(fated))
        async with publisher(settings, client):
            await until(lambda: len(client.sent) == 2)
            client.answer(1, Outcome.REFUSED, None, "SEND_OK ROLLBACK_MESSAGE")
            client.answer(2, Outcome.REFUSED, None, "FLUSH_SLAVE_TIMEOUT ROLLBACK_MESSAGE")
            await until(lambda: any(each.attempt == 2 for each in identities(client.sent)))
        again = [each.sequence for each in identities(client.sent) if each.attempt > 1]
        assert again == [1]

    asyncio.run(story())


def test_batch_is_recorded_before_it_is_acknowledged_as_whole(tmp_path: Path) -> None:
    settings = settings_of(Role.CONSUMER, tmp_path, acknowledge=100)
    on_record: list[list[int]] = []

    class Looking(PatientClient):
        def give_out(self, *messages: Fetched) -> None:
            super().give_out(*messages)
            on_record.append([row["tag"] for row in rows(settings, tables.DELIVERIES)])

    def message(tag: int, place: str, offset: int, redelivered: bool, way: int | None) -> Fetched:
        body = encode(Identity(RUN_NUMBER, 1, tag, 1, 0, 5), 100)
        return Fetched(tag, body, place, offset, redelivered, way, time.monotonic_ns())

    async def story() -> None:
        client = Looking()
        async with consumer(settings, client) as worker:
            client.give_out(
                message(1, "broker-a/0", 41, False, None),
                message(2, "broker-a/0", 42, False, None),
            )
            assert client.acknowledged == [2]
            client.give_out(message(3, "broker-a/retry/0", 7, True, RETRY_TOPIC.number))
            assert client.acknowledged == [2, 3]
            assert worker.status()["delivered"] == 3
        assert on_record == [[1, 2], [1, 2, 3]]
        columns = ("sequence", "broker", "offset", "redelivered", "via")
        assert [
            tuple(row[each] for each in columns) for row in rows(settings, tables.DELIVERIES)
        ] == [
            (1, "broker-a/0", 41, Redelivered.NOT_REPORTED, Via.LOAD),
            (2, "broker-a/0", 42, Redelivered.NOT_REPORTED, Via.LOAD),
            (3, "broker-a/retry/0", 7, Redelivered.YES, RETRY_TOPIC.number),
        ]
        frames = [
            (row["first_tag"], row["last_tag"]) for row in rows(settings, tables.ACKNOWLEDGEMENTS)
        ]
        assert frames == [(1, 2), (3, 3)]

    asyncio.run(story())
