"""The proxy's listeners as the proxy itself lists them: whose they are, and whether they answer.

1. The list is the proxy's, not ours: a fault that means every link of a host misses none.
2. A listener leads to a host if its upstream has one of the host's names or addresses.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from faults.core.model import Replies
from faults.executors.canaries import Dial, greets
from faults.executors.ports import Agent
from faults.executors.service_ports import Greets

LIST_LIMIT_S = 10.0


async def upstreams(agent: Agent) -> dict[str, str]:
    """Every listener's name, and where it leads: `address:port`."""
    reply = await agent.call("proxy_list", LIST_LIMIT_S)
    return dict(reply["upstreams"])


def leading_to(addresses: Collection[str], upstreams: dict[str, str]) -> list[str]:
    return sorted(
        name for name, upstream in upstreams.items() if upstream.rpartition(":")[0] in addresses
    )


async def entries(agent: Agent, dial: Dial, ways: Collection[str], greeting: Greets) -> Replies:
    """Return what a greeting meets on a new connection through each of these listeners.

    A listener that `dial` does not know is not dialled: another harness made it.
    """
    known = {}
    for name in ways:
        with suppress(KeyError):
            known[name] = dial(name)
    replies = await asyncio.gather(*(greets(agent, way, greeting) for way in known.values()))
    return dict(zip(known, replies, strict=True))
