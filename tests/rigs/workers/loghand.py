"""A client that answers every send and holds messages back, without Java and without broker."""

import asyncio
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace

from harness.workers.clients.port import (
    Answer,
    ConsumingListener,
    Fetched,
    MessageTerms,
    NotAttached,
    PublishingLink,
    PublishingListener,
    Refill,
    Refilled,
)
from harness.workers.protocol import Endpoint, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.body import decode, encode
from spark_analysis.schema.words import Outcome, Strength


class PatientClient:
    """Says what a test lets it say; counts how often it was connected."""

    library = "patient 1"
    answers_every_send = True

    def window(self, wanted: int) -> int:
        return wanted

    def __init__(self, terms: MessageTerms | None = None) -> None:
        self.terms = terms
        self.sent: list[bytes] = []
        self.acknowledged: list[int] = []
        self.links = 0
        self.publishing: PublishingListener | None = None
        self.consuming: ConsumingListener | None = None

    async def publisher(self, _endpoint: Endpoint, listener: PublishingListener) -> PublishingLink:
        self.links += 1
        self.publishing = listener
        return PatientLink(self)

    async def consumer(self, _endpoint: Endpoint, listener: ConsumingListener) -> "PatientLink":
        self.links += 1
        self.consuming = listener
        return PatientLink(self)

    def answer(
        self, tag: int, outcome: Outcome, strength: Strength | None = None, raw: str = "said"
    ) -> None:
        assert self.publishing
        answer = Answer(tag, outcome, strength, raw, time.monotonic_ns())
        self.publishing.answered([answer])

    def give_out(self, *messages: Fetched) -> None:
        assert self.consuming
        self.consuming.fetched(messages)


class BulkClient(PatientClient):
    """Takes many bodies at once."""

    async def publisher(self, _endpoint: Endpoint, listener: PublishingListener) -> PublishingLink:
        self.links += 1
        self.publishing = listener
        return BulkLink(self)


class Elsewhere(PatientClient):
    """In a worker process: it never asks the name server that it must ask."""

    def __init__(self, _config: WorkerConfig) -> None:
        super().__init__()

    async def publisher(self, _endpoint: Endpoint, listener: PublishingListener) -> PublishingLink:
        raise NotAttached("it asks host2, and not host1")


class PatientLink:
    def __init__(self, client: PatientClient) -> None:
        self._client = client

    def publish(self, body: bytes) -> None:
        self._client.sent.append(body)

    def buffered_bytes(self) -> int:
        return 0

    async def consume(self) -> None:
        await asyncio.sleep(0)

    def acknowledge(self, tag: int) -> None:
        self._client.acknowledged.append(tag)

    async def ready_messages(self) -> int:
        return 0

    async def close(self, limit_s: float) -> None:
        await asyncio.sleep(0)

    def abort(self) -> None:
        raise AssertionError("a patient client's link is never cut")


class BulkLink(PatientLink):
    def publish_all(self, bodies: Sequence[bytes]) -> None:
        self._client.sent += bodies


class RefillingClient(PatientClient):
    """Sends by itself when a test says so; `load` is what it began with."""

    def __init__(self) -> None:
        super().__init__()
        self.load: Refill | None = None
        self.refuses = False  # to begin
        self.full = False  # the disk
        self.halts = 0
        self.unreported: list[bytes] = []  # records

    async def publisher(self, _endpoint: Endpoint, listener: PublishingListener) -> PublishingLink:
        self.links += 1
        self.publishing = listener
        return SelfSendingLink(self)

    def send(self, count: int) -> None:
        """As Refill.java: records first."""
        load = self.load
        assert load is not None, "it is halted"
        for _ in range(count):
            sent_ns, key = time.monotonic_ns() - load.origin_ns, load.sequence % load.keys
            row = list(tables.ATTEMPTS.record.unpack(load.record))
            row[1], row[4], row[6], row[8] = load.sequence, key, sent_ns, load.tag
            record = tables.ATTEMPTS.record.pack(*row)
            with load.log.open("ab") as log:
                log.write(record)
            self.unreported.append(record)
            found = decode(load.body).identity
            assert found is not None
            now = replace(found, sequence=load.sequence, key=key, sent_ns=sent_ns)
            self.sent.append(encode(now, len(load.body)))
            load = load._replace(sequence=load.sequence + 1, tag=load.tag + 1)
        self.load = load


class SelfSendingLink(BulkLink):
    _client: RefillingClient

    def refill(self, load: Refill) -> bool:
        if not self._client.refuses:
            self._client.load = load
        return not self._client.refuses

    def refilled(self) -> Refilled:
        if self._client.full:
            raise OSError("No space left on device")
        records, self._client.unreported = self._client.unreported, []
        return Refilled(len(records), zlib.crc32(b"".join(records)))

    def halt(self) -> Refilled:
        self._client.load = None
        self._client.halts += 1
        return self.refilled()
