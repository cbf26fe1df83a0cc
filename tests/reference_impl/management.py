"""The management API of one reference node, for tests: what an operator would ask and do."""

import base64
import json
import urllib.request
from typing import Any
from urllib.parse import quote

_AUTHORIZATION = "Basic " + base64.b64encode(b"guest:guest").decode()
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Management:
    def __init__(self, address: str) -> None:
        self._address = address

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://{self._address}:15672{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": _AUTHORIZATION, "Content-Type": "application/json"},
            method=method,
        )
        with _OPENER.open(request, timeout=5) as response:
            text = response.read()
        return json.loads(text) if text else None

    def policy(self, name: str, pattern: str, **definition: Any) -> None:
        """Keys as RabbitMQ's, with underscores: ha_mode="all"."""
        words = {key.replace("_", "-"): value for key, value in definition.items()}
        document = {"pattern": pattern, "definition": words, "apply-to": "queues", "priority": 0}
        self.call("PUT", f"/api/policies/%2F/{name}", document)

    def queue(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/api/queues/%2F/{quote(name, safe='')}")
        return found

    def synchronise(self, name: str) -> None:
        self.call("POST", f"/api/queues/%2F/{quote(name, safe='')}/actions", {"action": "sync"})

    def mirrors(self, name: str) -> list[str]:
        """Nodes that hold a mirror, the oldest first."""
        return [node.removeprefix("rabbit@") for node in self.queue(name)["slave_nodes"]]

    def synchronised(self, name: str) -> set[str]:
        nodes = self.queue(name)["synchronised_slave_nodes"]
        return {node.removeprefix("rabbit@") for node in nodes}

    def master(self, name: str) -> str:
        return str(self.queue(name)["node"]).removeprefix("rabbit@")
