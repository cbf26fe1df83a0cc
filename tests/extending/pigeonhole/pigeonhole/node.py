"""One node: the queues that it holds, who is connected, what operators ask.

1. A queue lies on the node that received its declaration, and nowhere else. Others refuse it,
   so that clients go on to the next.
2. Peers are dialled only to see who runs: a node greets first on its peer port.
"""

import asyncio
import itertools
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pigeonhole import VERSION
from pigeonhole.holes import Hole
from pigeonhole.lines import LINE_MAX, decode, encode

PEER_LIMIT_S = 1.0
Place = tuple[str, int]
Words = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Config:
    name: str
    address: str
    client_port: int
    peer_port: int
    peers: dict[str, Place]
    data: str
    hasty: bool  # confirms before it stores: a defect, on purpose


class Connection:
    """One client's, or an operator's."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.name = ""
        self.puts = itertools.count(1)
        self.hole: Hole | None = None

    def send(self, message: Words) -> None:
        if not self._writer.is_closing():
            self._writer.write(encode(message))

    def close(self) -> None:
        self._writer.close()


class Node:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._folder = Path(config.data)
        self._holes: dict[str, Hole] = {}
        self._writing: set[asyncio.Task[None]] = set()
        self._connections: set[Connection] = set()
        self._stalled = False

    async def serve(self, ended: asyncio.Event) -> None:
        own = self._config
        for path in sorted(self._folder.glob("*.queue")):
            self._open(unquote(path.stem))
        peers = await asyncio.start_server(self._greet, own.address, own.peer_port)
        clients = await asyncio.start_server(
            self._talk, own.address, own.client_port, limit=LINE_MAX
        )
        print(f"{own.name} serves at {own.address}:{own.client_port}", flush=True)
        await ended.wait()
        for server in (clients, peers):
            server.close()
        for hole in self._holes.values():
            if not hole.stalled:
                await hole.store()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(encode({"say": "peer", "node": self._config.name}))
        with suppress(OSError):
            await reader.read()
        writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(writer)
        self._connections.add(connection)
        try:
            while line := await reader.readline():
                if answer := await self._answer(connection, decode(line)):
                    connection.send(answer)
        except (OSError, ValueError, KeyError) as error:
            print(f"{connection.name or 'somebody'}: {error!r}", flush=True)
        finally:
            self._connections.discard(connection)
            for hole in self._holes.values():
                hole.leave(connection)
            connection.close()

    async def _answer(self, connection: Connection, words: Words) -> Words | None:
        match words:
            case {"do": "put", "queue": queue, "body": body}:
                number = next(connection.puts)
                confirmed = {"say": "confirmed", "upto": number}
                self._holes[queue].put(body, lambda: connection.send(confirmed))
                return None
            case {"do": "done", "upto": upto}:
                if connection.hole is not None:
                    connection.hole.done(connection, upto)
                return None
            case {"do": "hello"}:
                connection.name = str(words.get("name", ""))
                return {"say": "hello", "node": self._config.name, "version": VERSION}
            case {"do": "find", "queue": queue}:
                return {"say": "found", "here": queue in self._holes}
            case {"do": "subscribe", "queue": queue, "window": window}:
                connection.send({"say": "subscribed"})
                connection.hole = self._holes[queue]
                connection.hole.subscribe(connection, window)
                return None
            case {"do": "ready", "queue": queue}:
                return {"say": "ready", "count": self._holes[queue].ready}
        return await self._operated(words)

    async def _operated(self, words: Words) -> Words:
        match words:
            case {"do": "declare", "queue": queue}:
                self._open(queue)
                return {"say": "declared"}
            case {"do": "delete", "begins": begins}:
                for queue in [queue for queue in self._holes if queue.startswith(begins)]:
                    self._holes.pop(queue).remove()
                return {"say": "deleted"}
            case {"do": "queues"}:
                return {"say": "queues", "queues": sorted(self._holes)}
            case {"do": "names", "begins": begins}:
                return {"say": "names", "names": sorted(one.name for one in self._named(begins))}
            case {"do": "close", "begins": begins}:
                for one in self._named(begins):
                    one.close()
                return {"say": "closed"}
            case {"do": "nodes"}:
                return {"say": "nodes", "running": await self._running()}
            case {"do": "stall", "on": bool(on)}:
                self._stalled = on
                for hole in self._holes.values():
                    hole.stall(on)
                return {"say": "stalled" if on else "flowing"}
            case {"do": "state"}:
                unstored = sum(hole.unstored for hole in self._holes.values())
                windows = [window for hole in self._holes.values() for window in hole.windows]
                state = {"stalled": self._stalled, "unstored": unstored, "windows": windows}
                return {"say": "state", **state}
        return {"say": "what?", "heard": words}

    def _named(self, begins: str) -> list[Connection]:
        return [one for one in self._connections if one.name and one.name.startswith(begins)]

    def _open(self, queue: str) -> None:
        if queue not in self._holes:
            path = self._folder / f"{quote(queue, safe='')}.queue"
            hole = self._holes[queue] = Hole(path, self._config.hasty)
            hole.stall(self._stalled)
            writing = asyncio.create_task(hole.writing())
            self._writing.add(writing)
            writing.add_done_callback(self._writing.discard)

    async def _running(self) -> dict[str, bool]:
        """By name, of all members: this one, and the peers that greet."""
        greeted = await asyncio.gather(*map(_greets, self._config.peers.values()))
        seen = dict(zip(self._config.peers, greeted, strict=True))
        return {self._config.name: True} | seen


async def _greets(place: Place) -> bool:
    try:
        async with asyncio.timeout(PEER_LIMIT_S):
            reader, writer = await asyncio.open_connection(*place)
            try:
                return bool(await reader.readline())
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError):
        return False
