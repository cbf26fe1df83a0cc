"""A node of a cluster that keeps queues in memory and mirrors nothing: for tests of `local`.

1. It speaks AMQP, as much of the management API as the harness asks for, and a greeting on its
   peer port; it lists a peer as running if that greets through the link it was given.
2. Switches come as the first word before the configuration's path: `late` never serves AMQP,
   `broken` ends with a word on standard error. With `--with-parent` it ends with its input.
"""

import asyncio
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

from tests.rigs.brokers.tiny_amqp import TinyBroker

_LINK_LIMIT_S = 0.5
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Parent(asyncio.Protocol):
    """The pipe that only the parent holds."""

    def __init__(self, over: asyncio.Event) -> None:
        self._over = over

    def eof_received(self) -> None:
        self._over.set()


class Node:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.broker = TinyBroker(host=config["bind"], port=config["amqp_port"])
        self.routes = {
            r"GET /api/nodes": self.nodes,
            r"GET /api/overview": self.overview,
            r"GET /api/connections": self.connections,
            r"GET /api/queues/%2F": self.queues,
            r"(GET|DELETE) /api/queues/%2F/.+": self.queue,
            r"PUT /api/policies/%2F/.+": self.policy,
        }

    async def live(self, late: bool, with_parent: bool) -> None:
        _append(Path(self.config["data"]) / "boots", "boot\n")
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, over.set)
        if with_parent:
            await loop.connect_read_pipe(lambda: Parent(over), sys.stdin)
        bind = self.config["bind"]
        await asyncio.start_server(self.greet, bind, self.config["peer_port"])
        await asyncio.start_server(self.serve, bind, self.config["api_port"])
        if not late:
            await self.broker.listen()
            print(json.dumps({"ready": True}), flush=True)
        _append(Path(self.config["log"]), f"{self.config['name']} is up\n")
        await over.wait()

    async def greet(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        if length := re.search(r"content-length: (\d+)", head.lower()):
            await reader.readexactly(int(length[1]))
        request = f"{method} {path.partition('?')[0]}"
        found = [route for known, route in self.routes.items() if re.fullmatch(known, request)]
        status, body = await found[0](request) if found else (404, None)
        content = b"" if status == 204 else json.dumps(body).encode()
        head = f"HTTP/1.0 {status} x\r\ncontent-length: {len(content)}\r\n\r\n"
        writer.write(head.encode() + content)
        await writer.drain()
        writer.close()

    async def nodes(self, _: str) -> tuple[int, Any]:
        peers = self.config["peers"]
        heard = await asyncio.gather(*(self.heard(*way) for way in peers.values()))
        running = {self.config["name"]: True, **dict(zip(peers, heard, strict=True))}
        return 200, [{"name": f"rabbit@{name}", "running": up} for name, up in running.items()]

    async def heard(self, host: str, port: int) -> bool:
        try:
            async with asyncio.timeout(_LINK_LIMIT_S):
                reader, writer = await asyncio.open_connection(host, port)
                said = await reader.read(1)
                writer.close()
        except (OSError, TimeoutError):
            return False
        return bool(said)

    async def overview(self, _: str) -> tuple[int, Any]:
        return 200, {"rabbitmq_version": "stand-in", "erlang_version": "none"}

    async def connections(self, _: str) -> tuple[int, Any]:
        names = [client.name for client in self.broker.connections if client.name]
        return 200, [{"name": name, "user_provided_name": name} for name in names]

    async def queues(self, _: str) -> tuple[int, Any]:
        return 200, [self.described(name) for name in self.broker.queues]

    async def queue(self, request: str) -> tuple[int, Any]:
        name = request.rpartition("/")[2]
        if name not in self.broker.queues:
            return 404, {"error": "Object Not Found"}
        if request.startswith("DELETE"):
            del self.broker.queues[name]
            return 204, None
        return 200, self.described(name)

    async def policy(self, _: str) -> tuple[int, Any]:
        return 204, None

    def described(self, name: str) -> dict[str, Any]:
        return {"name": name, "node": f"rabbit@{self.config['name']}", "state": "running"}


def _append(file: Path, text: str) -> None:
    with file.open("a") as stream:
        stream.write(text)


def main(words: list[str]) -> None:
    with_parent = "--with-parent" in words
    *switches, path = (word for word in words if word != "--with-parent")
    if "broken" in switches:
        sys.exit("no memory for another node")
    asyncio.run(Node(json.loads(Path(path).read_text())).live("late" in switches, with_parent))


if __name__ == "__main__":
    main(sys.argv[1:])
