"""How many messages of a queue a node says that it holds itself: by whom it is asked.

What is not told, by whoever is asked, is unknown: None.
"""

from collections.abc import Awaitable, Callable

from harness.systems.rabbitmq.api import ManagementApi, held_path

Held = Callable[[ManagementApi, str, str], Awaitable[int | None]]  # of a queue, on a host


async def by_nobody(_api: ManagementApi, _queue: str, _host: str) -> int | None:
    """Of nodes whose command line is not ours, and whose API does not tell it."""
    return None


async def by_api(api: ManagementApi, queue: str, host: str) -> int | None:
    """The API of the reference tells it; RabbitMQ's does not."""
    reply = await api.ask(host, held_path(queue))
    if reply is None or reply.status != 200:
        return None
    found = reply.body.get("held_here")
    return found if isinstance(found, int) else None
