"""Ends of a local cluster's nodes, as their parent learns them.

1. Every end is reported; only the signal shows the cause. An out-of-memory kill sends the same
   signal as a person.
"""

import asyncio
import time
from collections.abc import AsyncIterator

from harness.cluster.port import Ended
from harness.deploy.local.nodes import LocalNodes

INTERVAL_S = 0.1


async def watch(nodes: LocalNodes) -> AsyncIterator[Ended]:
    """Of those that run now, and of those that are started later; until closed."""
    known = set(nodes.ends())
    while True:
        for pid, (place, code) in nodes.ends().items():
            if pid not in known:
                known.add(pid)
                yield Ended(place, time.monotonic_ns(), code)
        await asyncio.sleep(INTERVAL_S)
