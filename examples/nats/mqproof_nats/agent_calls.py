"""Calls that mqproof's agent makes to a server: one request and its answer.

1. The agent imports this module by `module:object`; it imports nothing of `harness.plan`.
2. A request that no server takes is an answer, too: `{"text": "", "taken": false}`.
"""

import asyncio
from typing import Any

import nats
from nats.aio.client import Client
from nats.errors import Error, NoRespondersError

from harness.workers.agent_calls.answers import CallError


async def request(
    host: str, port: int, subject: str, body: str, user: str, password: str, timeout_s: float
) -> dict[str, Any]:
    """Return the answer to one request on a connection of its own. Raise CallError."""
    what = f"{subject} at {host}:{port}"
    try:
        async with asyncio.timeout(timeout_s):
            client = await connected(host, port, user, password, "mqproof.agent")
            try:
                answer = await client.request(subject, body.encode(), timeout=timeout_s)
                return {"text": answer.data.decode(), "taken": True}
            except NoRespondersError:
                return {"text": "", "taken": False}
            finally:
                await client.close()
    except TimeoutError:
        raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
    except (Error, OSError) as error:
        raise CallError("refused", f"{what}: {error!r}") from error


async def connected(host: str, port: int, user: str, password: str, name: str) -> Client:
    """Return a connection that does not reconnect. Raise nats.errors.Error or OSError."""
    return await nats.connect(
        f"nats://{host}:{port}",
        user=user,
        password=password,
        name=name,
        allow_reconnect=False,
        error_cb=_ignored,
    )


async def _ignored(_error: Exception) -> None:
    """Errors of a connection reach its caller; nats-py would log them as well."""
