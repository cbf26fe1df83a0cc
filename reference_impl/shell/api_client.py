"""Requests of operators to a running node: its management API, on its own machine, as its one
user."""

import asyncio
import base64
import http.client
import json
from contextlib import suppress
from urllib.parse import quote

from reference_impl.node.config import Config

RESET_LIMIT_S = 60.0
_LIMIT_S = 10.0
_LOOK_S = 0.1
_AUTHORIZATION = "Basic " + base64.b64encode(b"guest:guest").decode()


def ask(config: Config, method: str, path: str, body: bytes = b"") -> bytes:
    """Raises OSError."""
    connection = http.client.HTTPConnection(config.bind, config.api_port, timeout=_LIMIT_S)
    try:
        connection.request(method, path, body, {"Authorization": _AUTHORIZATION})
        answer = connection.getresponse()
        said = answer.read()
    except http.client.HTTPException as error:
        raise OSError(f"{config.name} said no HTTP: {error}") from error
    finally:
        connection.close()
    if answer.status >= http.client.BAD_REQUEST:
        why = f"{config.name} answered {answer.status} to {method} {path}"
        raise OSError(f"{why}: {reason}" if (reason := _reason(said)) else why)
    return said


def forget(config: Config, node: str) -> None:
    """Raises OSError."""
    ask(config, "DELETE", f"/api/nodes/{quote(node, safe='')}")


def reset(config: Config, through: str | None = None) -> None:
    """Returns when it has booted since, as a member of that one's cluster. Raises OSError."""
    words = {} if through is None else {"join": through}
    before = _boot(ask(config, "POST", "/api/reset", json.dumps(words).encode()))
    asyncio.run(_booted_since(config, before))


async def _booted_since(config: Config, before: int) -> None:
    try:
        async with asyncio.timeout(RESET_LIMIT_S):
            while True:
                await asyncio.sleep(_LOOK_S)
                with suppress(OSError):  # it does not serve yet
                    if _boot(ask(config, "GET", "/api/reset")) > before:
                        return
    except TimeoutError:
        why = f"{config.name} had not booted again after {RESET_LIMIT_S:g} s"
        raise OSError(why) from None


def _boot(said: bytes) -> int:
    return int(json.loads(said)["boot"])


def _reason(said: bytes) -> str:
    with suppress(ValueError, AttributeError):
        return str(json.loads(said).get("reason", ""))
    return ""
