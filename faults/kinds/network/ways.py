"""How ways between hosts are looked at: by our chain's counters, or by words on their links.

Where peers pass a proxy, a host that speaks first (the reference) is heard at the near end of the
other's link; one that only answers (RabbitMQ) is spoken to over its own: whether a word arrived is
seen by the end of the connection that it is answered with.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from faults.asking import reaches
from faults.kinds.network import rules
from faults.mechanisms import PROXY, TOXIPROXY
from faults.model import Armed, Drops, Reply
from faults.peers import Mesh
from faults.shapes import Way
from faults.witness import SeesWays


async def hears(
    witness: SeesWays, ways: Iterable[Way], wait_s: float | None = None
) -> dict[Way, Reply]:
    """What comes over each way (speaker, hearer) by a link.

    A link is heard at its near end: what comes through (hearer, speaker) was said by the far one.
    """
    found = await reaches(witness, [way[::-1] for way in ways], wait_s)
    return {way[::-1]: reply for way, reply in found.items()}


@dataclass(frozen=True, slots=True)
class Asked:
    """How a way is asked for on links, and which end of it (0: from, 1: to) has to live."""

    ask: Callable[..., Awaitable[dict[Way, Reply]]]
    end: int


ASKED = {PROXY: Asked(hears, 0), TOXIPROXY: Asked(reaches, 1)}


async def link_evidence(
    armed: Armed,
    witness: SeesWays,
    ways: Iterable[Way],
    beside: Iterable[Way] = (),
    wait_s: float | None = None,
) -> rules.LinkEvidence:
    """Each process of a host is spoken to by itself: one link may be cut where another is not."""
    asked = ASKED[armed.mechanism]
    whole = Mesh(armed.mechanism, armed.serving)
    mesh = replace(whole, place=armed.places[0])
    ways = tuple(ways)
    left = [*_at_ends(ways, partial(mesh.ends, meant=False))] if beside else []
    own = [(host, end) for host in armed.hosts for end in whole.ends(host, host)]
    links, direct, others = await asyncio.gather(
        asked.ask(witness, _at_ends(ways, mesh.ends), wait_s),
        reaches(witness, own, wait_s),
        asked.ask(witness, [*_at_ends(beside, whole.ends), *left], wait_s),
    )
    spoke = {end: reply for (_, end), reply in direct.items()}
    return rules.LinkEvidence(links, spoke, others, asked.end)


def _at_ends(ways: Iterable[Way], ends: Callable[[str, str], tuple[str, ...]]) -> list[Way]:
    return [(start, one) for start, end in ways for one in ends(start, end)]


async def chains(witness: SeesWays, hosts: Iterable[str], chain: str) -> dict[str, Drops | None]:
    """What our chain in each host dropped."""
    hosts = list(hosts)
    found = await asyncio.gather(*(witness.drops(host, chain) for host in hosts))
    return dict(zip(hosts, found, strict=True))
