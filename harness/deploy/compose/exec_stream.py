"""A JSON-lines conversation with a process inside a container, over Docker's attach stream.

1. Docker frames what the process writes: one byte of stream, three of nothing, four of length.
   Standard output carries the messages; the end of standard error is kept for error texts.
2. The harness speaks first, so nothing that the process says can come before we listen.
3. The process writes its pid to a file in its container before it becomes what was asked for, so
   that it can be killed from there; no pid of the machine is needed.
"""

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol

from harness.cluster.port import DeployError
from harness.workers.protocol import decode, encode

_HEADER = struct.Struct(">BxxxL")
_OUTPUT, _ERRORS = 1, 2
_FRAME_LIMIT = 1 << 24  # more is no frame: the stream is out of step
_LINE_LIMIT = 1 << 24
_CHUNK = 1 << 16
_ERROR_LINES = 20


class Frames:
    """Takes the raw stream apart. Sans-IO: bytes in, (stream, content) out."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        self._buffer += chunk
        while len(self._buffer) >= _HEADER.size:
            stream, length = _HEADER.unpack_from(self._buffer)
            if length > _FRAME_LIMIT:
                raise DeployError(f"the attach stream is out of step: a frame of {length} bytes")
            end = _HEADER.size + length
            if len(self._buffer) < end:
                return
            content = self._buffer[_HEADER.size : end]
            self._buffer = self._buffer[end:]
            yield stream, content


class ExecHandle(Protocol):
    """What must be asked of the engine about a running exec."""

    async def exit_code(self) -> int | None: ...

    async def kill(self) -> None: ...


class ExecChannel:
    """port.Channel over a connected socket of the engine."""

    def __init__(
        self,
        name: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        handle: ExecHandle,
    ) -> None:
        self.name = name
        self._reader = reader
        self._writer = writer
        self._handle = handle
        self._frames = Frames()
        self._line = b""
        self._messages: deque[dict[str, Any]] = deque()
        self._errors: deque[str] = deque(maxlen=_ERROR_LINES)
        self._ended = False

    @classmethod
    async def over(cls, name: str, connected: socket.socket, handle: ExecHandle) -> "ExecChannel":
        connected.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connected)
        return cls(name, reader, writer, handle)

    @property
    def errors(self) -> str:
        """The last lines of its standard error."""
        return "\n".join(self._errors)

    async def send(self, message: dict[str, Any]) -> None:
        try:
            self._writer.write(encode(message))
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            raise DeployError(self._gone(str(error))) from error

    async def receive(self) -> dict[str, Any] | None:
        while not self._messages:
            if self._ended or not await self._read():
                self._ended = True
                self._writer.close()
                return None
        return self._messages.popleft()

    async def exit_code(self) -> int | None:
        return await self._handle.exit_code()

    async def kill(self) -> None:
        await self._handle.kill()

    async def close(self) -> None:
        """Half of it: what the process still says can be received until it ends."""
        with suppress(OSError, RuntimeError):
            if self._writer.can_write_eof():
                self._writer.write_eof()

    async def _read(self) -> bool:
        """Takes in some more of the stream. False at its end."""
        try:
            chunk = await self._reader.read(_CHUNK)
        except OSError:
            return False
        for stream, content in self._frames.feed(chunk):
            if stream == _OUTPUT:
                self._take(content)
            elif stream == _ERRORS:
                self._errors.extend(content.decode(errors="replace").splitlines())
        return bool(chunk)

    def _take(self, content: bytes) -> None:
        *lines, self._line = (self._line + content).split(b"\n")
        if len(self._line) > _LINE_LIMIT:
            raise DeployError(f"{self.name} wrote a line without an end")
        for line in lines:
            try:
                self._messages.append(decode(line))
            except ValueError as error:
                raise DeployError(self._gone(f"it wrote what is no message: {error}")) from error

    def _gone(self, reason: str) -> str:
        tail = f"; its last words:\n{self.errors}" if self._errors else ""
        return f"{self.name} cannot be talked to: {reason}{tail}"
