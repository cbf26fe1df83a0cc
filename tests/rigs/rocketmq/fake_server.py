"""A name server or broker with scripted answers over a real socket."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from harness.workers.protocol import Endpoint
from harness.workers.remoting.commands import Command, Decoder, encode
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.requests import Code, Request

Answer = Callable[[Request], Command | None]  # None: it stays silent


@dataclass
class FakeServer:
    """`answer` may be exchanged at any time. `query`: every request, by code, in order."""

    name: str
    answer: Answer
    codes: list[int] = field(default_factory=list)
    connections: list[asyncio.StreamWriter] = field(default_factory=list)
    serving: list["asyncio.Task[None]"] = field(default_factory=list)
    port: int = 0

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.name, "127.0.0.1", self.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.append(task)
        self.connections.append(writer)
        decoder = Decoder()
        with contextlib.suppress(ConnectionError):
            while octets := await reader.read(65536):
                for command in decoder.feed(octets):
                    self._serve(command, writer)
        writer.close()

    def _serve(self, command: Command, writer: asyncio.StreamWriter) -> None:
        header = command.header
        self.codes.append(header.code)
        request = Request(Code(header.code), "", header.fields, command.body)
        answer = self.answer(request)
        if answer is not None:
            said = answer.header
            reply = Header(said.code, header.opaque, RESPONSE, said.remark, said.fields)
            writer.write(encode(Command(reply, answer.body)))


@contextlib.asynccontextmanager
async def fake(name: str, answer: Answer) -> AsyncIterator[FakeServer]:
    made = FakeServer(name, answer)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for writer in made.connections:
            writer.transport.abort()
        await asyncio.gather(*made.serving)


def said(body: bytes = b"", code: int = 0, **fields: int) -> Command:
    texts = {name: str(value) for name, value in fields.items()}
    return Command(Header(code, 0, RESPONSE, fields=texts), body)
