"""A client that answers every send and holds messages back, without Java and without broker."""

import asyncio
import time
from collections.abc import Sequence

from harness.workers.clients.port import (
    Answer,
    ConsumingListener,
    Fetched,
    MessageTerms,
    NotAttached,
    PublishingLink,
    PublishingListener,
)
from harness.workers.protocol import Endpoint, WorkerConfig
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
