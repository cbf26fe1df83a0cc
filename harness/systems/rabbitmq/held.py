"""How many messages of a queue a node reports to hold itself.

If it does not report it, the number is unknown: None.
"""

from collections.abc import Awaitable, Callable

from harness.systems.rabbitmq.api import ManagementApi, held_path

Held = Callable[[ManagementApi, str, str], Awaitable[int | None]]  # of a queue, on a host


async def by_nobody(_api: ManagementApi, _queue: str, _host: str) -> int | None:
    """Return None: the API does not report it, and the command line is the owner's."""
    return None


async def by_api(api: ManagementApi, queue: str, host: str) -> int | None:
    """Return it by the reference's API; RabbitMQ's does not report it."""
    reply = await api.ask(host, held_path(queue))
    if reply is None or reply.status != 200:
        return None
    found = reply.body.get("held_here")
    return found if isinstance(found, int) else None
