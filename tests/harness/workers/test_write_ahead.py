"""Nothing leaves a worker before it can be read in its log: at the socket, and after kill -9."""

import asyncio
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pika import frame, spec
from pika.adapters.utils import io_services_utils

from harness.workers.protocol import Role, WorkerConfig
from spark_analysis.files.log import is_closed, read_records
from spark_analysis.schema import tables
from spark_analysis.schema.body import decode
from spark_analysis.schema.tables import Table
from tests.harness.workers.test_consumer import fill
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import (
    QUEUE,
    Process,
    config,
    consumer,
    identities,
    publisher,
    rows,
    until,
)


class Spy:
    """Sits where pika hands bytes to a socket, and looks into the log at that moment.

    What it finds missing is kept for the test to see: pika would swallow an exception.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.worker: WorkerConfig | None = None
        self.attempts = self.acknowledged = 0
        self.missing: list[tuple[int, ...]] = []
        self._recorded: dict[Table, list[tuple[int, ...]]] = {}
        target = io_services_utils._AsyncTransportBase
        self._send = target._sigint_safe_send
        monkeypatch.setattr(target, "_sigint_safe_send", staticmethod(self.send))

    def send(self, socket: Any, chunk: bytes) -> int:
        _, value = frame.decode_frame(chunk)
        if isinstance(value, frame.Body):
            identity = decode(value.fragment).identity
            assert identity is not None
            self.attempts += 1
            wanted = (identity.sequence, identity.attempt, identity.sent_ns)
            columns = ("sequence", "attempt", "sent_ns")
            if wanted not in self.recorded(tables.ATTEMPTS, *columns):
                self.missing.append(wanted)
        elif isinstance(value, frame.Method) and isinstance(value.method, spec.Basic.Ack):
            self.acknowledged += 1
            tag = value.method.delivery_tag
            if (tag,) not in self.recorded(tables.DELIVERIES, "tag"):
                self.missing.append((tag,))
        return int(self._send(socket, chunk))

    def recorded(self, table: Table, *columns: str) -> list[tuple[int, ...]]:
        """What can be read in the log now; rows that were read before are not read again."""
        assert self.worker is not None
        known = self._recorded.setdefault(table, [])
        raw = read_records(Path(self.worker.log), table)[len(known) * table.record.size :]
        places = [table.names.index(column) for column in columns]
        known += [tuple(row[place] for place in places) for row in table.record.iter_unpack(raw)]
        return known


@pytest.mark.parametrize("load", [{"rate": None, "confirm_window": 7}, {"rate": 400.0}])
def test_every_attempt_is_recorded_before_its_bytes_reach_the_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: dict[str, Any]
) -> None:
    spy = Spy(monkeypatch)

    async def story() -> None:
        async with TinyBroker() as broker:
            spy.worker = config(Role.PUBLISHER, tmp_path, broker, retry="until_confirmed", **load)
            async with publisher(spy.worker) as worker:
                await until(lambda: worker.status()["confirmed"] >= 60)
                broker.drop()
                await until(lambda: worker.status()["confirmed"] >= 120)
            assert spy.missing == []
            assert spy.attempts >= 120

    asyncio.run(story())


def test_delivery_is_recorded_before_its_acknowledgement_reaches_the_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = Spy(monkeypatch)

    async def story() -> None:
        async with TinyBroker() as broker:
            spy.worker = config(
                Role.CONSUMER, tmp_path, broker, acknowledge=3, own={"prefetch": 10}
            )
            fill(broker, 100)
            async with consumer(spy.worker):
                await until(lambda: (100, True) in broker.acknowledged)
            assert spy.missing == []
            assert spy.acknowledged >= 30

    asyncio.run(story())


killing = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@killing
@given(published=st.integers(1, 3_000), window=st.sampled_from([1, 30, 1_000]))
def test_after_kill_9_the_log_holds_every_message_that_left(published: int, window: int) -> None:
    async def story(folder: Path) -> None:
        async with TinyBroker() as broker:
            wanted = published if window > 1 else min(published, 300)
            settings = config(Role.PUBLISHER, folder, broker, rate=None, confirm_window=window)
            worker = await Process.spawn(settings)
            worker.say(do="start", at_ns=0)
            await until(lambda: len(broker.published) >= wanted)
            os.kill(worker.process.pid, signal.SIGKILL)
            assert await worker.exit_code() == -signal.SIGKILL
            await until(lambda: not broker.connections)
            assert not is_closed(Path(settings.log))
            attempts = {
                (row["sequence"], row["attempt"], row["key"], row["sent_ns"])
                for row in rows(settings, tables.ATTEMPTS)
            }
            left = {
                (each.sequence, each.attempt, each.key, each.sent_ns)
                for each in identities(broker.published)
            }
            assert left <= attempts
            settled = {
                (row["sequence"], row["attempt"]) for row in rows(settings, tables.SETTLEMENTS)
            }
            assert settled <= {(sequence, attempt) for sequence, attempt, *_ in left}

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder)))


@pytest.mark.slow
@killing
@given(acknowledged=st.integers(1, 150), batch=st.sampled_from([1, 7, 50]))
def test_log_holds_every_acknowledged_delivery_after_kill_9(acknowledged: int, batch: int) -> None:
    async def story(folder: Path) -> None:
        async with TinyBroker() as broker:
            fill(broker, 4_000)
            settings = config(
                Role.CONSUMER, folder, broker, acknowledge=batch, own={"prefetch": 60}
            )
            worker = await Process.spawn(settings)
            frames = max(1, acknowledged // batch)
            await until(lambda: len(broker.acknowledged) >= frames)
            os.kill(worker.process.pid, signal.SIGKILL)
            assert await worker.exit_code() == -signal.SIGKILL
            await until(lambda: not broker.connections)
            deliveries = rows(settings, tables.DELIVERIES)
            assert [row["tag"] for row in deliveries] == list(range(1, len(deliveries) + 1))
            assert [row["sequence"] for row in deliveries] == list(range(len(deliveries)))
            assert broker.acknowledged[-1][0] <= len(deliveries)
            frames_on_record = [row["last_tag"] for row in rows(settings, tables.ACKNOWLEDGEMENTS)]
            sent = [tag for tag, _ in broker.acknowledged]
            assert frames_on_record[: len(sent)] == sent
            assert len(broker.queues[QUEUE]) >= 4_000 - len(deliveries)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder)))
