"""Limits of a node that runs, set for a while: `python -m reference_impl limit`.

It asks the node's own management API, on its own machine, as the one user that there is.
"""

import base64
import http.client
import json
from collections.abc import Sequence

from reference_impl.node.alarms import RESOURCES
from reference_impl.node.config import Config

_LIMIT_S = 10.0
_AUTHORIZATION = "Basic " + base64.b64encode(b"guest:guest").decode()


def limit(config: Config, resource: str, octets: int) -> None:
    """Raises OSError."""
    _ask(config, "PUT", f"/api/limits/{resource}", json.dumps({"octets": octets}).encode())


def reset(config: Config, resources: Sequence[str] = RESOURCES) -> list[str]:
    """As configured again. Which of them had an alarm before. Raises OSError."""
    had = []
    for resource in resources:
        told = json.loads(_ask(config, "DELETE", f"/api/limits/{resource}", b""))
        had += [resource] if told["alarm"] else []
    return had


def _ask(config: Config, method: str, path: str, body: bytes) -> bytes:
    connection = http.client.HTTPConnection(config.bind, config.api_port, timeout=_LIMIT_S)
    try:
        connection.request(method, path, body, {"Authorization": _AUTHORIZATION})
        answer = connection.getresponse()
        said = answer.read()
    except http.client.HTTPException as error:
        raise OSError(f"{config.name} said no HTTP: {error}") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise OSError(f"{config.name} answered {answer.status} to {method} {path}")
    return said
