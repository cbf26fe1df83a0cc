"""Canaries on clients' links: harness.workers.agent_calls.canaries.Opens.

A canary asks by PING: a server answers that alone, whatever becomes of its peers.
"""

import asyncio
from contextlib import suppress

from faults.core.model import FIN, RST
from faults.self_connections import refuse_self_connection
from harness.workers.agent_calls.canaries import Opened
from harness.workers.agent_calls.ends import PeerClosed

_LOGIN = b'CONNECT {"verbose":false,"user":"mqproof","pass":"mqproof","name":"mqproof.canary"}\r\n'


class Canary:
    """One connection, which is silent except for its answers to the server's PING."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._answers: asyncio.Queue[None] = asyncio.Queue()
        self._ended = asyncio.Event()
        self.end = ""
        self._hearing = asyncio.create_task(self._hear())

    async def passive_declare(self, _queue: str) -> None:
        """Ask the server for a PONG. Raise PeerClosed."""
        if not self._ended.is_set():
            self._writer.write(b"PING\r\n")
        answered = asyncio.create_task(self._answers.get())
        ended = asyncio.create_task(self._ended.wait())
        try:
            await asyncio.wait((answered, ended), return_when=asyncio.FIRST_COMPLETED)
            if not answered.done():
                raise PeerClosed("the connection ended", self.end)
        finally:
            answered.cancel()
            ended.cancel()

    def drop(self) -> None:
        self._hearing.cancel()
        self._writer.transport.abort()

    async def _hear(self) -> None:
        try:
            while line := await self._reader.readline():
                if line.startswith(b"PING"):
                    self._writer.write(b"PONG\r\n")
                elif line.startswith(b"PONG"):
                    self._answers.put_nowait(None)
            self.end = FIN
        except OSError:
            self.end = RST
        self._ended.set()


async def opened(host: str, port: int, _canary: str, _queue: str, _speaks: bool) -> Opened:
    """Open a canary and prove its way by one PING. Raise PeerClosed, OSError."""
    reader, writer = await asyncio.open_connection(host, port)
    canary = Canary(reader, writer)
    try:
        refuse_self_connection(writer.get_extra_info("socket"))
        writer.write(_LOGIN)
        await canary.passive_declare("")
    except BaseException:
        with suppress(RuntimeError):
            canary.drop()
        raise
    return Opened(asks=canary, speaks=None)
