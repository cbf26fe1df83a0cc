"""Observation of ways between hosts: by our chain's counters, or by words on their links.

If peers pass a proxy, a host that speaks first (the reference) is heard at the near end of the
other's link; one that only answers (RabbitMQ) is spoken to over its own: the end of the
connection, which is its answer, shows whether a word arrived.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from faults.core.mechanisms import PROXY, TOXIPROXY
from faults.core.model import Armed, Drops, Reply
from faults.core.peers import Mesh
from faults.core.replies import SILENCE_S
from faults.core.shapes import Way
from faults.core.witness import SeesWays
from faults.kinds.network import rules
from faults.polling import gather, reaches

MORE_S = 0.5  # beyond the silence that proves


async def hears(
    witness: SeesWays, ways: Iterable[Way], wait_s: float | None = None
) -> dict[Way, Reply]:
    """Return what comes over each way (speaker, hearer) by a link.

    A link is heard at its near end: what comes through (hearer, speaker) was said by the far one.
    """
    found = await reaches(witness, [way[::-1] for way in ways], wait_s)
    return {way[::-1]: reply for way, reply in found.items()}


@dataclass(frozen=True, slots=True)
class LinkProbe:
    """The probe of a way on links, and which end of it (0: from, 1: to) has to live."""

    ask: Callable[..., Awaitable[dict[Way, Reply]]]
    end: int


LINK_PROBES = {PROXY: LinkProbe(hears, 0), TOXIPROXY: LinkProbe(reaches, 1)}


async def link_evidence(
    armed: Armed,
    witness: SeesWays,
    ways: Iterable[Way],
    beside: Iterable[Way] = (),
    wait_s: float | None = None,
) -> rules.LinkEvidence:
    """Each process of a host is spoken to by itself: one link may be cut where another is not."""
    probe = LINK_PROBES[armed.mechanism]
    wait_s = wait_s or patience_s(armed)
    whole = Mesh(armed.mechanism, armed.serving)
    mesh = replace(whole, place=armed.places[0])
    ways = tuple(ways)
    left = [*_at_ends(ways, partial(mesh.ends, meant=False))] if beside else []
    own = [(host, end) for host in armed.hosts for end in whole.ends(host, host)]
    links, direct, others = await gather(
        probe.ask(witness, _at_ends(ways, mesh.ends), wait_s),
        reaches(witness, own, wait_s),
        probe.ask(witness, [*_at_ends(beside, whole.ends), *left], wait_s),
    )
    spoke = {end: reply for (_, end), reply in direct.items()}
    return rules.LinkEvidence(links, spoke, others, probe.end)


def patience_s(armed: Armed) -> float | None:
    """Return how long an attempt waits, if other active faults make links between hosts late:
    otherwise slowness would pass for silence. None: the usual time."""
    slow_s = armed.meanwhile().round_trip_s
    return SILENCE_S + slow_s + MORE_S if slow_s else None


def _at_ends(ways: Iterable[Way], ends: Callable[[str, str], tuple[str, ...]]) -> list[Way]:
    return [(start, one) for start, end in ways for one in ends(start, end)]


async def chains(witness: SeesWays, hosts: Iterable[str], chain: str) -> dict[str, Drops | None]:
    """Return what our chain in each host dropped."""
    hosts = list(hosts)
    found = await gather(*(witness.drops(host, chain) for host in hosts))
    return dict(zip(hosts, found, strict=True))
