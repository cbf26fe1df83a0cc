"""Nothing is handed to a RocketMQ library before it can be read in the log; for both shells."""

import asyncio
import struct
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from harness.plan.clients.rocketmq_terms import terms
from harness.workers.clients.port import PublishingLink, PublishingListener
from harness.workers.clients.rocketmq import java
from harness.workers.clients.rocketmq.core import wire
from harness.workers.clients.rocketmq.java import JavaPublisher
from harness.workers.clients.rocketmq.native import NativePublisher
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.body import decode
from spark_analysis.schema.words import Outcome
from tests.rigs.workers.loghand import PatientClient
from tests.rigs.workers.rig import config, publisher, rows, until


class Library:
    """Stands where a library is called, and looks into the log at that moment."""

    def __init__(self, settings: WorkerConfig) -> None:
        self.settings = settings
        self.sent = 0
        self.missing: list[int] = []

    def called_with(self, body: bytes) -> None:
        identity = decode(body).identity
        assert identity is not None
        self.sent += 1
        for table in (tables.ATTEMPTS, tables.TERMS):
            if identity.sequence not in {row["sequence"] for row in rows(self.settings, table)}:
                self.missing.append(identity.sequence)


class JavaClient(PatientClient):
    def __init__(self, library: Library) -> None:
        super().__init__(terms(RocketOptions.from_json(library.settings.own)))
        self.library_called = library
        self.link: Any = None

    async def publisher(self, _endpoint: Endpoint, listener: PublishingListener) -> PublishingLink:
        self.link = JavaPublisher(self.library_called.settings, listener)
        self.link._java.object, self.link._java._taker = self, self
        return self.link

    def send(self, first: int, bodies: bytes, keys: Any, fates: Any, levels: Any) -> None:
        """As Publishing.java: all bodies in one piece; the answers come later."""
        length = len(bodies) // len(keys)
        for each in range(len(keys)):
            self.library_called.called_with(bodies[each * length : (each + 1) * length])
            head = struct.pack(">Bqqbb", wire.ANSWER, time.monotonic_ns(), first + each, 0, -1)
            asyncio.get_running_loop().call_later(0.001, self.link._java.hear, head + bytes(12))

    def end(self) -> None: ...

    def close(self) -> None: ...


class NativeClient(PatientClient):
    def __init__(self, library: Library) -> None:
        super().__init__(terms(RocketOptions.from_json(library.settings.own)))
        self.library_called = library

    async def publisher(self, _endpoint: Endpoint, listener: PublishingListener) -> PublishingLink:
        link = NativePublisher(self.library_called.settings, listener)
        link._producer = self

        def send(tag: int, body: bytes, _key: int) -> None:
            self.library_called.called_with(body)
            link._say(wire.RawAnswer(time.monotonic_ns(), tag, 0, wire.NO_STATE, ()))

        link._send = send  # type: ignore[method-assign]
        link._start_lanes()
        return link

    def shutdown(self) -> None: ...


@pytest.mark.parametrize("shell", [JavaClient, NativeClient])
@pytest.mark.parametrize("load", [{"rate": None, "confirm_window": 7}, {"rate": 100.0}])
def test_every_attempt_is_recorded_with_its_terms_before_sending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Any, load: dict[str, Any]
) -> None:
    monkeypatch.setattr(java, "_java_bytes", bytes)
    monkeypatch.setattr(java, "_java_ints", list)
    options = RocketOptions(delayed_percent=100)
    settings = config(Role.PUBLISHER, tmp_path, own=asdict(options), **load)
    settings = settings.from_json(settings.to_json() | {"endpoints": [_SERVER]})
    library = Library(settings)

    async def story() -> None:
        async with publisher(settings, shell(library)) as worker:
            await until(lambda: worker.status()["confirmed"] >= 25)

    asyncio.run(story())
    assert library.missing == []
    assert library.sent >= 25
    confirmed = {row["outcome"] for row in rows(settings, tables.SETTLEMENTS)[:25]}
    assert confirmed == {Outcome.CONFIRMED}


_SERVER = {"host": "host1", "address": "127.0.0.1", "port": 1}
