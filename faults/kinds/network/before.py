"""Whether links between hosts work before a fault of theirs: old silence proves nothing new.

1. Those beside the fault are asked, too: that they stay as they are is part of its proof.
2. A link to a host that does not speak past the proxy either is left out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from faults.model import FaultError, Reply
from faults.shapes import Way, left_open
from faults.witness import SeesWays

Reach = Callable[[str, str], Awaitable[Reply]]  # model.Witness.reach
TRIES = 3  # a busy machine may be late now and then


async def speaking(hosts: tuple[str, ...], reach: Reach) -> dict[Way, Reply]:
    """Every way between hosts that speak. Raises FaultError where a link of them is silent."""
    direct = await _each([(host, host) for host in hosts], reach)
    alive = {host for (host, _), reply in direct.items() if reply.answered}
    replies = await _each([way for way in left_open((), hosts) if way[1] in alive], reach)
    mute = [way for way, reply in replies.items() if not reply.answered]
    if mute or not alive:
        heard = _told(replies, mute) or f"none of {', '.join(hosts)} speaks"
        raise FaultError(f"the links between hosts do not work now: {heard}")
    return replies


async def quick(hosts: tuple[str, ...], reach: Reach, limit_s: float) -> None:
    """Raises FaultError where a link takes so long already, asked again and again."""
    replies = await speaking(hosts, reach)
    late: list[Way] = []
    for _ in range(TRIES):
        late = [way for way, reply in replies.items() if reply.seconds >= limit_s]
        if not late:
            return
        replies = await _each(late, reach)
    raise FaultError(f"slow already: {_told(replies, late)}")


async def clients_enter(witness: SeesWays, host: str) -> None:
    """Raises FaultError where a client's way to the host does not answer already."""
    entries = await witness.entries(host)
    mute = [f"{name}: {reply.detail}" for name, reply in entries.items() if not reply.answered]
    if mute:
        raise FaultError(f"ways of clients to {host} do not work now: {'; '.join(mute)}")


async def _each(ways: Iterable[Way], reach: Reach) -> dict[Way, Reply]:
    ways = list(ways)
    replies = await asyncio.gather(*(reach(*way) for way in ways))
    return dict(zip(ways, replies, strict=True))


def _told(replies: Mapping[Way, Reply], ways: Iterable[Way]) -> str:
    return "; ".join(
        f"{' -> '.join(way)}: {replies[way].detail} ({replies[way].seconds:.3f} s)" for way in ways
    )
