"""A worker process and the harness: greeting, load, closing, losing each other, a full disk."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.workers import protocol, session
from harness.workers.control import Control
from harness.workers.protocol import EXIT_CLOSED, EXIT_FAILED, EXIT_ORPHANED, Role
from spark_analysis.files.log import is_closed
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.machine.file_limit import child_with_small_files
from tests.rigs.workers.rig import QUEUE, Process, config, identities, rows, until


def play(story: Callable[[TinyBroker], Awaitable[None]]) -> None:
    async def with_broker() -> None:
        async with TinyBroker() as broker:
            await story(broker)

    asyncio.run(with_broker())


@pytest.mark.slow
def test_a_worker_greets_works_reports_and_closes(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = config(Role.PUBLISHER, tmp_path, broker, rate=200.0)
        worker = await Process.spawn(settings)
        hello = worker.heard[0]
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        assert (hello["pid"], hello["boot_id"]) == (worker.process.pid, boot_id)
        assert set(hello["versions"]) == {"python", "pika"}
        worker.say(do="start", at_ns=time.monotonic_ns())
        await until(lambda: len(broker.published) >= 20)
        os.kill(worker.process.pid, signal.SIGTERM)
        os.kill(worker.process.pid, signal.SIGINT)
        worker.say(do="ping")
        assert set(await worker.hear("pong")) == {"say", "monotonic_ns", "suspended_ns"}
        worker.say(do="stop_load")
        status = await worker.hear("status")
        names = {"sent", "confirmed", "unknown", "missed", "delivered", "outstanding"}
        names |= {"again", "waiting", "never_sent"}
        assert set(status) == {"say", "at_ns", "late_ns"} | names
        worker.say(do="break_off")
        worker.say(do="close")
        assert await worker.exit_code() == EXIT_CLOSED
        assert worker.heard[-1] == {"say": "closed"}
        assert is_closed(Path(settings.log))
        attempts = len(rows(settings, tables.ATTEMPTS))
        assert attempts == len(broker.published)
        seconds = [each for one in worker.heard for each in one.get("seconds", ())]
        assert sum(due for _, due, _ in seconds) == attempts
        assert sum(on_time for _, _, on_time in seconds) == attempts
        assert rows(settings, tables.LATENESS)

    play(story)


@pytest.mark.slow
def test_an_auditor_reads_only_the_place_it_was_sent_to(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        async with TinyBroker() as other:
            broker.refuse()
            other.put(QUEUE, b"")
            settings = config(Role.AUDITOR, tmp_path, broker, other, quiet_s=0.2, limit_s=0.5)
            worker = await Process.spawn()
            worker.say(do="configure", config=settings.to_json())
            assert not (await worker.hear("drained"))["complete"]
            await broker.listen()
            broker.put(QUEUE, b"")
            await until(lambda: broker.acknowledged == [(1, True)])
            worker.say(do="close")
            assert await worker.exit_code() == EXIT_CLOSED
            assert [row["broker"] for row in rows(settings, tables.DELIVERIES)] == ["broker1"]
            assert other.opened == 0

    play(story)


@pytest.mark.slow
def test_end_of_input_cuts_the_connection_and_closes_the_log(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        broker.hold = True
        settings = config(Role.PUBLISHER, tmp_path, broker, rate=200.0)
        worker = await Process.spawn(settings)
        worker.say(do="start", at_ns=time.monotonic_ns())
        await until(lambda: len(broker.published) >= 3)
        assert worker.process.stdin
        worker.process.stdin.close()
        assert await worker.exit_code() == EXIT_ORPHANED
        assert is_closed(Path(settings.log))
        outcomes = {row["outcome"] for row in rows(settings, tables.SETTLEMENTS)}
        assert outcomes == {Outcome.UNKNOWN}
        await until(lambda: not broker.connections)

    play(story)


@pytest.mark.slow
def test_worker_without_input_for_five_seconds_stops_by_itself(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = config(Role.CONSUMER, tmp_path, broker, acknowledge=1)
        worker = await Process.spawn(settings)
        began_s = time.monotonic()
        assert await worker.exit_code() == EXIT_ORPHANED
        assert 4.5 < time.monotonic() - began_s < 7.0
        assert is_closed(Path(settings.log))

    play(story)


@pytest.mark.slow
def test_thawed_worker_reads_waiting_input_before_judging_others_silent(
    tmp_path: Path,
) -> None:
    """Neither harness nor broker was silent: the worker was, for longer than both limits."""

    async def story(broker: TinyBroker) -> None:
        settings = config(Role.PUBLISHER, tmp_path, broker, rate=200.0, deadline_s=1.0)
        worker = await Process.spawn(settings)
        worker.say(do="start", at_ns=time.monotonic_ns())
        await until(lambda: len(broker.published) >= 20)
        broker.hold = True
        sent = len(broker.published)
        await until(lambda: len(broker.published) >= sent + 5)
        os.kill(worker.process.pid, signal.SIGSTOP)
        broker.release()
        for _ in range(12):
            worker.say(do="ping")
            await asyncio.sleep(0.5)  # the freeze
        os.kill(worker.process.pid, signal.SIGCONT)
        await worker.hear("pong")
        sent = len(broker.published)
        await until(lambda: len(broker.published) >= sent + 100)
        worker.say(do="close")
        assert await worker.exit_code() == EXIT_CLOSED
        assert "lost" not in {row["kind"] for row in rows(settings, tables.CLIENT_EVENTS)}
        assert max(row["late_ns"] for row in rows(settings, tables.LATENESS)) > 5e9

    play(story)


@pytest.mark.slow
def test_full_disk_ends_a_worker_with_a_final_report(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = config(Role.PUBLISHER, tmp_path, broker, rate=None, confirm_window=100)
        worker = await Process.spawn(settings, **child_with_small_files(20_000))
        worker.say(do="start", at_ns=time.monotonic_ns())
        assert await worker.exit_code() == EXIT_FAILED
        assert worker.heard[-1]["say"] == "failed"
        assert "File too large" in worker.heard[-1]["doubt"]
        await until(lambda: not broker.connections)
        assert not is_closed(Path(settings.log))
        attempts = {row["sequence"] for row in rows(settings, tables.ATTEMPTS)}
        assert {each.sequence for each in identities(broker.published)} <= attempts
        assert broker.published

    play(story)


@pytest.mark.slow
def test_worker_with_a_wrong_name_server_ends_and_names_it(
    tmp_path: Path,
) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = config(Role.PUBLISHER, tmp_path, broker)
        elsewhere = replace(settings.driver, client="tests.rigs.workers.loghand:Elsewhere")
        worker = await Process.spawn()
        worker.say(do="configure", config=replace(settings, driver=elsewhere).to_json())
        assert await worker.exit_code() == EXIT_FAILED
        doubt = "it asks host2, and not host1"
        assert worker.heard[-1] == {"say": "failed", "doubt": doubt}
        assert rows(settings, tables.ATTEMPTS) == []

    play(story)


@pytest.mark.slow
def test_an_unknown_request_ends_the_worker_with_a_reason(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        worker = await Process.spawn()
        worker.say(do="dance")
        assert await worker.exit_code() == EXIT_FAILED
        assert worker.heard[-1] == {"say": "failed", "doubt": "cannot 'dance' now"}
        settings = config(Role.PUBLISHER, tmp_path, broker)
        Path(settings.log).mkdir()
        worker = await Process.spawn()
        worker.say(do="configure", config=settings.to_json())
        assert await worker.exit_code() == EXIT_FAILED
        assert "File exists" in worker.heard[-1]["doubt"]

    play(story)


def test_thawed_worker_reads_waiting_input_before_judging_the_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "SILENCE_LIMIT_S", 0.3)
    (input_end, our_input), (our_output, output_end) = os.pipe(), os.pipe()
    heard: list[object] = []
    lost: list[str] = []

    async def story() -> None:
        with os.fdopen(input_end) as stdin, os.fdopen(output_end, "w") as stdout:
            monkeypatch.setattr("sys.stdin", stdin)
            monkeypatch.setattr("sys.stdout", stdout)
            control = Control(heard.append, lost.append, lost.append)
            await control.open()
            os.write(our_input, b'{"do": "ping"}\n')
            frozen_until_s = time.monotonic() + 0.5
            while time.monotonic() < frozen_until_s:  # the process does nothing else meanwhile
                pass
            await until(lambda: heard)
            assert lost == []
            await until(lambda: lost)
            assert lost == ["nothing heard for 0.3 s"]

    asyncio.run(story())
    os.close(our_input)
    os.close(our_output)


def test_pause_between_two_clock_readings_is_no_suspend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late_ns = 8_000_000
    readings = iter([(0, late_ns, late_ns + 10), (20, 30, 40), (50, 60 + late_ns, 70 + late_ns)])
    monkeypatch.setattr(session, "_readings", lambda: next(readings))
    monkeypatch.setattr(session, "READINGS", 3)
    assert session._clock() == {"monotonic_ns": 40, "suspended_ns": 0}
