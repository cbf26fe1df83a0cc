"""The agent of a test of management APIs: its answers are written down."""

import asyncio
import json
from typing import Any

from harness.cluster.agent import AgentTimeout
from harness.systems.rabbitmq.broker import DECLARE

HANGS = "hangs"
Said = tuple[int, Any] | str


class FakeAgent:
    """Answers by (host, method, path without its query); keeps what it was asked."""

    def __init__(self, said: dict[tuple[str, str], Said]) -> None:
        self.said = said
        self.requests: list[tuple[str, str, str]] = []
        self.declared: list[tuple[str, dict[str, Any]]] = []
        self.called: list[tuple[str, dict[str, Any]]] = []  # other calls
        self.limits_s: set[float] = set()
        self.silent: set[str] = set()  # hosts that answer no other call

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        if name == DECLARE:
            self.declared.append((arguments["queue"], arguments["arguments"]))
        elif name != "http":
            self.called.append((name, arguments))
        if name != "http":
            if arguments.get("host") in self.silent:
                raise AgentTimeout("silent")
            return {}
        address, _, path = arguments["url"].removeprefix("http://").partition(":15672")
        method = arguments["method"]
        self.requests.append((address, method, path.partition("?")[0]))
        self.limits_s.add(timeout_s)
        said = self.said.get((address, path.partition("?")[0]), (404, None))
        if said == HANGS:
            await asyncio.sleep(timeout_s)
            raise AgentTimeout("silent")
        if method == "DELETE":
            return {"status": 204, "body": ""}
        assert not isinstance(said, str), said
        return {"status": said[0], "body": json.dumps(said[1])}
