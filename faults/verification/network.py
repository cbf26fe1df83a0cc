"""Looks across a cut: by connection attempts and our chain's counters, or by stalled links.

Where peers pass a proxy, a host that speaks first (the reference) is heard at the near end of the
other's link; one that only answers (RabbitMQ) is spoken to over its own: whether a word arrived is
seen by the end of the connection that it is answered with.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from faults.kinds import PACKET_FILTER, PROXY, TOXIPROXY
from faults.model import Armed, Drops, Proof, Reply, Witness
from faults.peers import Mesh
from faults.shapes import Way, droppers, left_open, pairs, ways
from faults.verification.asking import reaches
from faults.verify import network as rules


@dataclass(slots=True)
class PartitionLook:
    armed: Armed
    witness: Witness

    @property
    def ways(self) -> tuple[Way, ...]:
        """Those that are meant to be cut."""
        armed = self.armed
        return ways(armed.options.shape, armed.host, armed.hosts)

    @property
    def beside(self) -> tuple[Way, ...]:
        return left_open(self.ways, self.armed.hosts)

    @property
    def by_links(self) -> bool:
        return self.armed.mechanism != PACKET_FILTER

    async def held(self) -> Proof:
        if self.by_links:
            found = await link_evidence(self.armed, self.witness, self.ways, self.beside)
            return rules.links_cut(found)
        return await self._filter_cut()

    async def gone(self) -> Proof:
        if self.by_links:
            asked = ASKED[self.armed.mechanism]
            return rules.cut_gone({}, await asked.ask(self.witness, self.ways))
        found = await self.chains()
        chains = any(drops is not None for drops in found.values())
        attempts = {} if chains else await reaches(self.witness, pairs(self.ways))
        return rules.cut_gone(found, attempts)

    async def chains(self) -> dict[str, Drops | None]:
        return await chains(self.witness, droppers(self.ways), self.armed.mark)

    async def _filter_cut(self) -> Proof:
        before = await self.chains()
        if any(drops is None for drops in before.values()):
            return Proof(ok=False, detail="", doubt="there is no chain of ours")
        attempts, beside, alive = await asyncio.gather(
            reaches(self.witness, self.ways),
            reaches(self.witness, self._untouched()),
            self._alive(),
        )
        after = await self.chains()
        return rules.filter_cut(rules.CutEvidence(before, after, attempts, alive, beside))

    def _untouched(self) -> tuple[Way, ...]:
        """Pairs of hosts between which neither direction is cut: a handshake needs both."""
        beside = self.beside
        return pairs(tuple(way for way in beside if way[::-1] in beside))

    async def _alive(self) -> dict[str, Reply]:
        """What the hosts that are attempted say to a host that the cut leaves them."""
        asked = {to for _, to in self.ways}
        found = await reaches(self.witness, {(self._uncut_from(host), host) for host in asked})
        return {to: reply for (_, to), reply in found.items()}

    def _uncut_from(self, host: str) -> str:
        cut = {frozenset(way) for way in self.ways}
        others = (other for other in self.armed.hosts if other != host)
        return next((other for other in others if frozenset((other, host)) not in cut), host)


async def hears(
    witness: Witness, ways: Iterable[Way], wait_s: float | None = None
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
    witness: Witness,
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


async def chains(witness: Witness, hosts: Iterable[str], chain: str) -> dict[str, Drops | None]:
    """What our chain in each host dropped."""
    hosts = list(hosts)
    found = await asyncio.gather(*(witness.drops(host, chain) for host in hosts))
    return dict(zip(hosts, found, strict=True))
