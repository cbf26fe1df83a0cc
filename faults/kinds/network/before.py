"""Verify that links between hosts work before a fault of theirs: old silence proves nothing new.

1. Links beside the fault are checked, too: that they stay as they are is part of its proof.
2. A link to a host that does not speak past the proxy either is left out. So is a link that
   another active fault closes.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from faults.core.interference import visible
from faults.core.model import Armed, FaultError, Reply
from faults.core.shapes import Way, left_open
from faults.core.witness import SeesWays
from faults.polling import gather

Reach = Callable[[str, str], Awaitable[Reply]]  # model.Witness.reach
TRIES = 3  # a busy machine may be late now and then


async def speaking(armed: Armed, reach: Reach, timed: bool = False) -> dict[Way, Reply]:
    """Every way between hosts that speak; `timed`: that no other fault makes late. Raises
    FaultError where a link of them is silent."""
    hosts = armed.hosts
    direct = await _each([(host, host) for host in hosts], reach)
    alive = {host for (host, _), reply in direct.items() if reply.answered}
    # The host that dials a link hears what comes the other way.
    carried = visible(armed, (way[::-1] for way in left_open((), hosts)), timed)
    replies = await _each([way[::-1] for way in carried if way[0] in alive], reach)
    # Another fault may have opened while these links were attempted.
    still = set(visible(armed, carried, timed))
    mute = [way for way, reply in replies.items() if not reply.answered and way[::-1] in still]
    if mute or not alive:
        heard = _describe(replies, mute) or f"none of {', '.join(hosts)} speaks"
        raise FaultError(f"the links between hosts do not work now: {heard}")
    return replies


async def quick(armed: Armed, reach: Reach, limit_s: float) -> None:
    """Raises FaultError where a link takes so long already, asked again and again."""
    replies = await speaking(armed, reach, timed=True)
    late: list[Way] = []
    for _ in range(TRIES):
        late = [way for way, reply in replies.items() if reply.seconds >= limit_s]
        if not late:
            return
        replies = await _each(late, reach)
    raise FaultError(f"slow already: {_describe(replies, late)}")


async def entries(armed: Armed, witness: SeesWays) -> dict[str, Reply]:
    """What clients meet on each way to the host that no other active fault closes."""
    host = armed.host
    found = await witness.entries(host)
    others = armed.meanwhile()
    if host in others.mute:
        return {}
    return {name: reply for name, reply in found.items() if name not in others.links}


async def clients_enter(armed: Armed, witness: SeesWays) -> None:
    """Raises FaultError where a client's way to the host does not answer already."""
    found = await entries(armed, witness)
    mute = [f"{name}: {reply.detail}" for name, reply in found.items() if not reply.answered]
    if mute:
        raise FaultError(f"ways of clients to {armed.host} do not work now: {'; '.join(mute)}")


async def _each(ways: Iterable[Way], reach: Reach) -> dict[Way, Reply]:
    ways = list(ways)
    replies = await gather(*(reach(*way) for way in ways))
    return dict(zip(ways, replies, strict=True))


def _describe(replies: Mapping[Way, Reply], ways: Iterable[Way]) -> str:
    return "; ".join(
        f"{' -> '.join(way)}: {replies[way].detail} ({replies[way].seconds:.3f} s)" for way in ways
    )
