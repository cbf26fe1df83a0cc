"""The client, as publishers and consumers of mqproof drive it: harness.workers.clients.port.

1. Nothing leaves before the loop has come round: what is said is kept, and sent by `_flush`. So a
   worker's log is ahead of the bytes.
2. A node that does not hold the queue is no way in: LinkLost sends the worker to the next one.
"""

import asyncio
import base64
from typing import Any

from harness.workers.clients.port import ConsumingListener, LinkLost, PublishingListener
from harness.workers.protocol import Endpoint, WorkerConfig
from pigeonhole import VERSION
from pigeonhole.lines import LINE_MAX, decode, encode

CONNECT_LIMIT_S = 2.0
UNCHECKED = ("confirmed", "given")


class Pigeon:
    """Set up for one worker."""

    library = f"pigeonhole {VERSION}"
    answers_every_send = False
    terms = None  # nothing comes late on purpose, and nothing is in transactions

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config

    def window(self, wanted: int) -> int:
        return wanted

    async def publisher(self, endpoint: Endpoint, listener: PublishingListener) -> "Link":
        """Raises LinkLost, and TimeoutError after CONNECT_LIMIT_S."""
        return await self._open(endpoint, listener)

    async def consumer(self, endpoint: Endpoint, listener: ConsumingListener) -> "Link":
        """Raises LinkLost, and TimeoutError after CONNECT_LIMIT_S."""
        return await self._open(endpoint, listener)

    async def _open(self, endpoint: Endpoint, listener: Any) -> "Link":
        async with asyncio.timeout(CONNECT_LIMIT_S):
            try:
                way = asyncio.open_connection(endpoint.address, endpoint.port, limit=LINE_MAX)
                reader, writer = await way
            except OSError as error:
                raise LinkLost(str(error)) from error
            link = Link(self._config, listener, reader, writer)
            try:
                await link.enter(endpoint.host)
            except BaseException:
                link.abort()
                raise
            return link


class Link:
    """One connection to the node that holds the queue: of a publisher, or of a consumer."""

    def __init__(
        self,
        config: WorkerConfig,
        listener: Any,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._config = config
        self._listener = listener
        self._writer = writer
        self._kept = bytearray()
        self._waiting: list[asyncio.Future[dict[str, Any]]] = []
        self._deaf = True  # until it is open, failures belong to its opener
        self._ended = ""
        self._hearing = asyncio.create_task(self._hear(reader))

    async def enter(self, host: str) -> None:
        """Raises LinkLost."""
        await self._ask({"do": "hello", "name": self._config.connection_name})
        found = await self._ask({"do": "find", "queue": self._config.queue})
        if not found["here"]:
            raise LinkLost(f"{host} does not hold {self._config.queue}")
        self._deaf = False

    def publish(self, body: bytes) -> None:
        text = base64.b64encode(body).decode()
        self._say({"do": "put", "queue": self._config.queue, "body": text})

    def buffered_bytes(self) -> int:
        return len(self._kept) + self._writer.transport.get_write_buffer_size()

    async def consume(self) -> None:
        window = self._config.own["window"]  # what `tells` of the section says
        await self._ask({"do": "subscribe", "queue": self._config.queue, "window": window})

    def acknowledge(self, tag: int) -> None:
        self._say({"do": "done", "upto": tag})

    async def ready_messages(self) -> int:
        return int((await self._ask({"do": "ready", "queue": self._config.queue}))["count"])

    async def close(self, limit_s: float) -> None:
        self._deaf = True
        self._flush()
        self._writer.close()
        try:
            async with asyncio.timeout(limit_s):
                await asyncio.shield(self._hearing)
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        self._deaf = True
        self._kept.clear()
        self._writer.transport.abort()

    def _say(self, message: dict[str, Any]) -> None:
        if not self._kept:
            asyncio.get_running_loop().call_soon(self._flush)
        self._kept += encode(message)

    def _flush(self) -> None:
        if self._kept and not self._writer.is_closing():
            self._writer.write(bytes(self._kept))
        self._kept.clear()

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Raises LinkLost."""
        if self._ended:
            raise LinkLost(self._ended)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        self._say(message)
        return await answer

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        reason = "the node closed the connection"
        try:
            while line := await reader.readline():
                self._take(decode(line))
        except (OSError, ValueError) as error:
            reason = repr(error)
        self._end(reason)

    def _take(self, message: dict[str, Any]) -> None:
        if message["say"] not in UNCHECKED:
            answer = self._waiting.pop(0)
            if not answer.done():
                answer.set_result(message)
        elif self._deaf:
            return
        elif message["say"] == "confirmed":
            self._listener.acked(message["upto"], True)
        else:
            body = base64.b64decode(message["body"])
            self._listener.delivered(message["tag"], message["again"], body)

    def _end(self, reason: str) -> None:
        self._ended = reason
        self._writer.close()
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(LinkLost(reason))
                answer.exception()  # seen, even if who asked has given up in the meantime
        if not self._deaf:
            self._deaf = True
            self._listener.lost(reason)
