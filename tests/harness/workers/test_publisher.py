"""The publisher with real pika against a tiny broker: every outcome, and what is on record."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from harness.workers.core.publishes import RETRY_PAUSE_NS
from harness.workers.protocol import Role, WorkerConfig
from harness.workers.publisher import PACED_BURST
from spark_analysis.schema import tables
from spark_analysis.schema.words import NEVER_SENT, NO_INTENT, Outcome, Strength
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import config, identities, publisher, rows, until

Story = Callable[[TinyBroker, Path], Awaitable[None]]


def play(story: Story, folder: Path) -> None:
    async def with_broker() -> None:
        async with TinyBroker() as broker:
            await story(broker, folder)

    asyncio.run(with_broker())


def settings_of(broker: TinyBroker, folder: Path, **rest: object) -> WorkerConfig:
    return config(Role.PUBLISHER, folder, broker, **{"rate": 500.0, **rest})


def outcomes(settings: WorkerConfig) -> dict[tuple[int, int], tuple[int, str]]:
    return {
        (row["sequence"], row["attempt"]): (row["outcome"], row["raw"])
        for row in rows(settings, tables.SETTLEMENTS)
    }


def events(settings: WorkerConfig) -> list[tuple[str, int]]:
    return [(row["kind"], row["connection"]) for row in rows(settings, tables.CLIENT_EVENTS)]


def test_steady_load_is_confirmed_and_recorded_as_sent(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, keys=3)
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["confirmed"] >= 50)
            worker.stop_load()
            await until(lambda: worker.status()["outstanding"] == 0)
        attempts = rows(settings, tables.ATTEMPTS)
        sent = identities(broker.published)
        assert [(each.sequence, each.key, each.sent_ns) for each in sent] == [
            (row["sequence"], row["key"], row["sent_ns"]) for row in attempts
        ]
        assert [row["sequence"] for row in attempts] == list(range(len(attempts)))
        assert [row["tag"] for row in attempts] == [row["sequence"] + 1 for row in attempts]
        steps = {
            later["intended_ns"] - row["intended_ns"]
            for row, later in itertools.pairwise(attempts)
        }
        assert steps == {2_000_000}
        assert all(row["sent_ns"] >= row["intended_ns"] for row in attempts)
        assert set(outcomes(settings).values()) == {(Outcome.CONFIRMED, "ack")}
        assert {row["strength"] for row in rows(settings, tables.SETTLEMENTS)} == {Strength.STORED}
        assert events(settings) == [("connecting", 1), ("connected", 1), ("closed", 1)]
        assert broker.names == ["mqproof.run.publisher"]

    play(story, tmp_path)


def test_lost_connection_makes_open_publishes_unknown_and_load_continues(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder)
        broker.hold = True
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) >= 5)
            broker.drop()
            broker.hold = False
            await until(lambda: worker.status()["confirmed"] >= 5)
        lost = [key for key, (_, raw) in outcomes(settings).items() if "connection lost" in raw]
        assert len(lost) >= 5
        assert all(outcomes(settings)[key][0] == Outcome.UNKNOWN for key in lost)
        assert events(settings)[:5] == [
            ("connecting", 1),
            ("connected", 1),
            ("lost", 1),
            ("connecting", 2),
            ("connected", 2),
        ]
        assert all(attempt == 1 for _, attempt in outcomes(settings))

    play(story, tmp_path)


def test_retries_after_a_lost_connection_are_sent_in_slices(
    tmp_path: Path,
) -> None:
    """Never send all of them in one turn of the event loop."""

    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, retry="until_confirmed", rate=5_000.0)
        broker.hold = True
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) >= 500)
            worker.stop_load()
            broker.drop()
            sent = [worker.status()["sent"]]
            while worker.status()["outstanding"]:
                await asyncio.sleep(0)
                sent.append(worker.status()["sent"])
                broker.hold = False
        slices = [later - earlier for earlier, later in itertools.pairwise(sent)]
        assert sum(slices) >= 500
        assert max(slices) <= PACED_BURST

    play(story, tmp_path)


def test_retries_wait_while_the_broker_does_not_read(
    tmp_path: Path,
) -> None:
    """All that had piled up would leave in one turn of the loop, which is a stall of our own."""

    async def story(broker: TinyBroker, folder: Path) -> None:
        large = 64 << 10  # a socket takes some 10 MiB
        settings = settings_of(
            broker,
            folder,
            retry="until_confirmed",
            rate=1_000.0,
            body_bytes=large,
            deadline_s=30.0,
        )
        broker.hold = True
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) >= 400)
            worker.stop_load()
            broker.deaf = True
            before, opened = worker.status()["sent"], broker.opened
            broker.drop()
            await until(lambda: broker.opened > opened)
            await asyncio.sleep(0.5)
            assert worker.status()["sent"] - before < 250
            broker.hold = False
            broker.hear()
            await until(lambda: worker.status()["outstanding"] == 0)
        sequences = {each.sequence for each in identities(broker.published)}
        assert len(sequences) >= before, "what was due when the load stopped may still be sent"
        assert sequences == set(range(len(sequences)))

    play(story, tmp_path)


def test_until_confirmed_retries_as_new_attempts_even_after_the_load(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, retry="until_confirmed")
        broker.nack = True
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) >= 10)
            worker.stop_load()
            broker.nack = False
            await until(lambda: worker.status()["outstanding"] == 0)
        assert worker.status()["confirmed"] == len({key[0] for key in outcomes(settings)})
        assert outcomes(settings)[0, 1] == (Outcome.UNKNOWN, "nack")
        retried = [row for row in rows(settings, tables.ATTEMPTS) if row["attempt"] > 1]
        assert retried
        assert {row["intended_ns"] for row in retried} == {NO_INTENT}

    play(story, tmp_path)


def test_a_publisher_that_is_broken_off_retries_nothing(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, retry="until_confirmed", deadline_s=30.0)
        broker.nack = True
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["unknown"] >= 30)
            worker.stop_load()
            worker.break_off()
            sent = worker.status()["sent"]
            await asyncio.sleep(3 * RETRY_PAUSE_NS / 1e9)
            assert worker.status()["outstanding"] > 0
            assert worker.status()["sent"] == sent
            broker.drop()  # what a new connection would send again at once
            await until(lambda: broker.opened > 1)
            await asyncio.sleep(RETRY_PAUSE_NS / 1e9)
            assert worker.status()["sent"] == sent

    play(story, tmp_path)


def test_a_returned_then_acked_message_is_returned(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder)
        broker.unroutable = True
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["sent"] >= 5)
            worker.stop_load()
            await until(lambda: worker.status()["outstanding"] == 0)
        raws = set(outcomes(settings).values())
        assert raws == {(Outcome.RETURNED, "return 312 NO_ROUTE")}

    play(story, tmp_path)


def test_without_mandatory_a_confirm_may_mean_routed_nowhere(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        worth = int(Strength.UNROUTED_POSSIBLE)
        settings = settings_of(broker, folder, own={"mandatory": False}, strength=worth)
        broker.unroutable = True
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["confirmed"] >= 5)
        strengths = {
            row["strength"]
            for row in rows(settings, tables.SETTLEMENTS)
            if row["outcome"] == Outcome.CONFIRMED
        }
        assert strengths == {Strength.UNROUTED_POSSIBLE}

    play(story, tmp_path)


def test_fire_and_forget_is_unconfirmed_when_handed_over(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, confirms=False, rate=None)
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) >= 500)
            worker.stop_load()
        assert set(outcomes(settings).values()) == {(Outcome.UNCONFIRMED, "handed over")}
        assert len(outcomes(settings)) == len(rows(settings, tables.ATTEMPTS))

    play(story, tmp_path)


def test_at_max_the_confirm_window_bounds_publishes_without_a_schedule(
    tmp_path: Path,
) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, rate=None, confirm_window=20)
        broker.hold = True
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) == 20)
            broker.release()
            await until(lambda: worker.status()["confirmed"] >= 400)
        assert {row["intended_ns"] for row in rows(settings, tables.ATTEMPTS)} == {NO_INTENT}

    play(story, tmp_path)


def test_publish_whose_deadline_passes_first_is_recorded_unsent(
    tmp_path: Path,
) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, rate=200.0, deadline_s=0.1)
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["confirmed"] >= 3)
            broker.refuse()
            await until(lambda: worker.status()["missed"] >= 10)
            await broker.listen()
            confirmed = worker.status()["confirmed"]
            await until(lambda: worker.status()["confirmed"] >= confirmed + 5)
        attempts = rows(settings, tables.ATTEMPTS)
        not_sent = {row["sequence"] for row in attempts if row["sent_ns"] == NEVER_SENT}
        assert not_sent
        assert all(row["attempt"] == 1 and row["intended_ns"] >= 0 for row in attempts)
        assert [row["sequence"] for row in attempts] == list(range(len(attempts)))
        assert not_sent.isdisjoint(each.sequence for each in identities(broker.published))
        assert not_sent.isdisjoint(sequence for sequence, _ in outcomes(settings))

    play(story, tmp_path)


def test_thawed_publisher_reads_confirms_before_dropping_its_connection(
    tmp_path: Path,
) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        broker.hold = True
        settings = config(Role.PUBLISHER, folder, broker, rate=100.0, deadline_s=2.0)
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) >= 5)
            # As after a freeze: time has passed, and nothing of this process ran meanwhile.
            worker._recorder._origin_ns -= 3_000_000_000
            broker.release()
            worker.tick()  # before the confirms are read
            sent = len(broker.published)
            await until(lambda: len(broker.published) >= sent + 20)
        assert "lost" not in {row["kind"] for row in rows(settings, tables.CLIENT_EVENTS)}

    play(story, tmp_path)


def test_watchdog_drops_a_silent_connection_and_tries_the_next_endpoint(
    tmp_path: Path,
) -> None:
    async def story(hung: TinyBroker, folder: Path) -> None:
        hung.hold = True
        async with TinyBroker() as other:
            settings = config(Role.PUBLISHER, folder, hung, other, rate=100.0, deadline_s=0.3)
            async with publisher(settings) as worker:
                await until(lambda: other.published)
                await until(lambda: not hung.connections, "the hung connection is closed")
                assert worker.status()["unknown"] >= 10
            raws = {raw for _, raw in outcomes(settings).values()}
            closed = (
                "closed by the publisher: its oldest attempt had no confirm for more than 0.3 s"
            )
            assert f"connection lost: {closed}" in raws
            details = [row["detail"] or "" for row in rows(settings, tables.CLIENT_EVENTS)]
            assert [each for each in details if each.startswith("broker")] == [
                "broker1",
                "broker1 pika 1.4.4",
                "broker2",
                "broker2 pika 1.4.4",
            ]

    play(story, tmp_path)


def test_reconnect_tries_the_bootstrap_endpoint_first_then_the_others(tmp_path: Path) -> None:
    async def story(entry: TinyBroker, folder: Path) -> None:
        async with TinyBroker() as other:
            settings = config(Role.PUBLISHER, folder, entry, other, rate=100.0)
            async with publisher(settings):
                await until(lambda: entry.published)
                entry.refuse()
                await until(lambda: other.published)
                await entry.listen()
                before = len(entry.published)
                other.drop()
                await until(lambda: len(entry.published) > before)

    play(story, tmp_path)


@pytest.mark.parametrize("rate", [100.0, None])
def test_endpoint_that_accepts_and_stays_silent_is_skipped_in_time(
    tmp_path: Path, rate: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.workers.clients.amqp.CONNECT_LIMIT_S", 0.2)

    async def story(silent: TinyBroker, folder: Path) -> None:
        silent.silent = True
        bugs: list[dict[str, object]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, bug: bugs.append(bug))
        async with TinyBroker() as other:
            settings = config(Role.PUBLISHER, folder, silent, other, rate=rate)
            began_s = time.monotonic()
            async with publisher(settings):
                await until(lambda: other.published)
            assert time.monotonic() - began_s < 1.5
            await until(lambda: not silent.connections, "the silent connection is closed")
        assert bugs == [], "in a worker, a callback that fails ends the process"

    play(story, tmp_path)


def test_messages_outstanding_at_the_close_are_unknown(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder)
        broker.hold = True
        async with publisher(settings):
            await until(lambda: len(broker.published) >= 5)
        attempts = rows(settings, tables.ATTEMPTS)
        assert outcomes(settings) == {
            (row["sequence"], 1): (Outcome.UNKNOWN, "closed before it was settled")
            for row in attempts
            if row["sent_ns"] != NEVER_SENT
        }

    play(story, tmp_path)


def test_publisher_of_several_queues_sends_to_each_in_turn(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        more = (("mqproof.run.parts", "parts"), ("mqproof.run.bills", "bills"))
        settings = settings_of(broker, folder, keys=2, more_queues=more)
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["confirmed"] >= 30)
            worker.stop_load()
            await until(lambda: worker.status()["outstanding"] == 0)
        attempts = rows(settings, tables.ATTEMPTS)
        for row in attempts:
            assert row["key"] == row["sequence"] % 6
            assert row["queue"] == ("orders", "parts", "bills")[row["sequence"] % 3]
        held = {name: len(messages) for name, messages in broker.queues.items()}
        sent = {
            name: sum(row["queue"] == word for row in attempts) for name, word in settings.queues
        }
        assert held == sent

    play(story, tmp_path)
