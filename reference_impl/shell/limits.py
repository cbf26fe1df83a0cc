"""Limits of a node that runs, set for a while: `python -m reference_impl limit`.

It asks the node's own management API (api_client.py).
"""

import json
from collections.abc import Sequence

from reference_impl.node.alarms import RESOURCES
from reference_impl.node.config import Config
from reference_impl.shell.api_client import ask


def limit(config: Config, resource: str, octets: int) -> None:
    """Raises OSError."""
    ask(config, "PUT", f"/api/limits/{resource}", json.dumps({"octets": octets}).encode())


def reset(config: Config, resources: Sequence[str] = RESOURCES) -> list[str]:
    """As configured again. Which of them had an alarm before. Raises OSError."""
    had = []
    for resource in resources:
        answer = json.loads(ask(config, "DELETE", f"/api/limits/{resource}"))
        had += [resource] if answer["alarm"] else []
    return had
