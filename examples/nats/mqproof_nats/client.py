"""The port of `harness/workers/clients/port.py`, by nats-py: one connection a link.

1. A worker imports this module, so it imports nothing of `harness.plan`.
2. `publish` and `acknowledge` start tasks. They run when the caller has returned to the loop, and
   so after the record is in the worker's log.
3. A link ends once: by `lost` told to its listener, or by our `close` or `abort`.
4. A PubAck is a confirm. A publish that no server takes (503) went nowhere: it is refused. Any
   other error may have stored the message all the same: the outcome is unknown.
"""

import asyncio
import json
import time
from collections.abc import Coroutine
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from harness.workers.clients.port import Answer, ConsumingListener, LinkLost, PublishingListener
from harness.workers.protocol import Endpoint, WorkerConfig
from mqproof_nats.names import API, APPLICATION, CONSUMER, deliver_subject, stream
from spark_analysis.schema.words import Outcome

CONNECT_LIMIT_S = 2.0
LOOK_LIMIT_S = 4.0
NO_RESPONDERS = "503"
_FAILURES = (Error, OSError, asyncio.TimeoutError)


class NatsPy:
    """nats-py, set up for one worker."""

    library = f"nats-py {version('nats-py')}"
    answers_every_send = False
    terms = None  # nothing comes late on purpose, and nothing is in transactions

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config

    def window(self, wanted: int) -> int:
        return wanted

    async def publisher(self, endpoint: Endpoint, listener: PublishingListener) -> "Publishing":
        """Open a link. Raise LinkLost, or TimeoutError after CONNECT_LIMIT_S."""
        link = Publishing(self._config, listener)
        await link.open(endpoint)
        return link

    async def consumer(self, endpoint: Endpoint, listener: ConsumingListener) -> "Consuming":
        """Open a link. Raise LinkLost, or TimeoutError after CONNECT_LIMIT_S."""
        link = Consuming(self._config, listener)
        await link.open(endpoint)
        return link


class Link:
    """A connection, until it ends."""

    def __init__(
        self, config: WorkerConfig, listener: PublishingListener | ConsumingListener
    ) -> None:
        self.config = config
        self.client = Client()
        self.ended = False
        self._listener = listener
        self._failure = ""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing: asyncio.Task[None] | None = None

    async def open(self, endpoint: Endpoint) -> None:
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                await self.client.connect(
                    f"nats://{endpoint.address}:{endpoint.port}",
                    user=APPLICATION.user,
                    password=APPLICATION.password,
                    name=self.config.connection_name,
                    allow_reconnect=False,
                    error_cb=self._failed,
                    closed_cb=self._closed,
                )
                await self.prepare()
        except TimeoutError:
            self.abort()
            raise
        except _FAILURES as failure:
            self.abort()
            raise LinkLost(str(failure) or type(failure).__name__) from failure
        except BaseException:
            self.abort()
            raise

    async def prepare(self) -> None:
        """Do what must be done before the link is handed out."""

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def send(self, subject: str, body: bytes, reply: str = "") -> None:
        """Hand a message to the library. The end of a connection is `lost`'s to report."""
        with suppress(*_FAILURES):
            await self.client.publish(subject, body, reply)

    async def close(self, limit_s: float) -> None:
        self.ended = True
        await self._close(limit_s)
        self._cancel()

    def abort(self) -> None:
        """Begin to close, and do not wait: nats-py cannot drop a connection at once."""
        self.ended = True
        self._cancel()
        self._closing = asyncio.get_running_loop().create_task(self._close(CONNECT_LIMIT_S))

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _close(self, limit_s: float) -> None:
        with suppress(*_FAILURES):
            async with asyncio.timeout(limit_s):
                await self.client.close()

    async def _failed(self, failure: Exception) -> None:
        self._failure = str(failure) or type(failure).__name__

    async def _closed(self) -> None:
        if not self.ended:
            self.ended = True
            self._listener.lost(self._failure or "the server closed the connection")


class Publishing(Link):
    """Publishes to one stream. The reply subject of a publish ends in its tag."""

    def __init__(self, config: WorkerConfig, listener: PublishingListener) -> None:
        super().__init__(config, listener)
        self._hears = listener
        self._inbox = ""
        self._tag = 0

    async def prepare(self) -> None:
        self._inbox = self.client.new_inbox()
        await self.client.subscribe(f"{self._inbox}.*", cb=self._answered)

    def publish(self, body: bytes) -> None:
        self._tag += 1
        self.begin(self.send(self.config.queue, body, f"{self._inbox}.{self._tag}"))

    def buffered_bytes(self) -> int:
        return self.client.pending_data_size

    async def _answered(self, message: Msg) -> None:
        if self.ended:
            return
        tag = int(message.subject.rpartition(".")[2])
        outcome, why = answer_of(message.data, message.headers)
        if outcome is Outcome.CONFIRMED:
            self._hears.acked(tag, False)
        else:
            self._hears.answered([Answer(tag, outcome, None, why, time.monotonic_ns())])


def answer_of(data: bytes, headers: dict[str, str] | None) -> tuple[Outcome, str]:
    """Return the outcome of a publish by its answer, and the server's words."""
    if headers and headers.get("Status") == NO_RESPONDERS:
        return Outcome.REFUSED, "503: no responders"
    try:
        answer = json.loads(data)
    except ValueError:
        return Outcome.UNKNOWN, repr(data)
    if not isinstance(answer, dict) or "error" in answer or "seq" not in answer:
        return Outcome.UNKNOWN, data.decode(errors="replace")
    return Outcome.CONFIRMED, ""


class Consuming(Link):
    """One member of the group to which a stream's durable consumer pushes messages."""

    def __init__(self, config: WorkerConfig, listener: ConsumingListener) -> None:
        super().__init__(config, listener)
        self._hears = listener
        self._replies: list[str] = []  # where each delivery is acknowledged, in their order
        self._acknowledged = 0

    async def consume(self) -> None:
        """Subscribe, and return when the server has taken it. Raise LinkLost."""
        try:
            await self.client.subscribe(
                deliver_subject(self.config.queue), queue=CONSUMER, cb=self._delivered
            )
            await self.client.flush()
        except _FAILURES as failure:
            raise LinkLost(str(failure) or type(failure).__name__) from failure

    async def _delivered(self, message: Msg) -> None:
        if not self.ended:
            self._replies.append(message.reply)
            tag = self._acknowledged + len(self._replies)
            self._hears.delivered(tag, deliveries(message.reply) > 1, message.data)

    def acknowledge(self, tag: int) -> None:
        count = tag - self._acknowledged
        replies, self._replies = self._replies[:count], self._replies[count:]
        self._acknowledged = tag
        self.begin(self._acknowledge(replies))

    async def _acknowledge(self, replies: list[str]) -> None:
        for reply in replies:
            await self.send(reply, b"+ACK")

    async def ready_messages(self) -> int:
        """Return how many messages are not consumed. Raise LinkLost.

        What was given to a consumer that did not acknowledge it is given again after `ack_wait`.
        """
        subject = f"{API}.CONSUMER.INFO.{stream(self.config.queue)}.{CONSUMER}"
        try:
            answer = await self.client.request(subject, b"", timeout=LOOK_LIMIT_S)
            report = json.loads(answer.data)
            return int(report["num_pending"]) + int(report["num_ack_pending"])
        except (*_FAILURES, ValueError, KeyError) as failure:
            raise LinkLost(str(failure) or type(failure).__name__) from failure


def deliveries(reply: str) -> int:
    """Return how often a message was delivered, as its acknowledgement subject says.

    `$JS.ACK.STREAM.CONSUMER.DELIVERIES.…`, or with a domain and an account hash before the stream.
    """
    tokens = reply.split(".")
    return int(tokens[4] if len(tokens) == 9 else tokens[6])
