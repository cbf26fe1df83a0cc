"""Verify that clients' links are slow, or cut after so many bytes, and flow again.

1. Each direction is timed by itself, by words: a delay in one direction only would show in a round
   trip, too.
2. A way through a proxy is a little slower by itself, and this machine stalls now and then: the
   quickest of several words counts, and the direct canary's must take less than half of it.
3. It was quick before: what is slow already is not seen to become slow (prepare refuses it).
4. The proxy's timers are never early; what is taken off is TIMER_S for their grain, and at a rate
   what the proxy makes good of a pause that was too long before (PACE).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from faults.core.model import FIN, Proof, Reply, Words
from faults.core.options import milliseconds
from faults.core.replies import DIRECT, doubt, is_answered, listing, proven, said
from faults.kinds.client_links.rules import Met, also_before, links

TIMER_S = 0.001
PACE = 0.9
PACED_S = 0.25  # a word at a rate is so large that it takes so long
SHORT_S, ROUNDS = 0.2, 5  # what takes less is timed so many times


@dataclass(frozen=True, slots=True)
class Slowness:
    """The least time that one word of `octets` bytes takes in one direction."""

    octets: int
    least_s: float

    @classmethod
    def of(cls, latency_s: float, rate_kb: int) -> "Slowness":
        octets = int(rate_kb * 1000 * PACED_S)
        paced_s = PACE * octets / (rate_kb * 1000) if rate_kb else 0.0
        return cls(octets, paced_s + milliseconds(latency_s) / 1000 - TIMER_S)

    @property
    def rounds(self) -> int:
        return ROUNDS if self.least_s < SHORT_S else 1

    def words(self, way: str, rounds: int = 0) -> Words:
        """Without a number, as many rounds as prove it. Each may take four times its time: where
        who hears has to ask, for what is long and for the word, it goes both ways twice."""
        rounds = rounds or self.rounds
        return Words(way, self.octets, rounds, 4 * rounds * self.least_s)

    def quick(self, reply: Reply | None) -> bool:
        return reply is not None and reply.answered and reply.seconds < self.least_s / 2

    def slow(self, reply: Reply | None) -> bool:
        return reply is not None and reply.answered and reply.seconds >= self.least_s


def slow_held(heard: Mapping[str, Met], proxies: tuple[str, ...], slowness: Slowness) -> Proof:
    """`heard`: words by UP and by DOWN. All took their time on each link, and a direct one less
    than half of it."""
    assert proxies, "nothing to slow"
    for replies in heard.values():
        if not slowness.quick(replies.get(DIRECT)):
            return doubt(f"the direct way is slow or silent, too: {timed(replies, [DIRECT])}")
    for way, replies in heard.items():
        if early := [name for name in proxies if not slowness.slow(replies.get(name))]:
            least = f"{slowness.least_s:.3f} s"
            return doubt(f"{way}, not a word that took {least}: {timed(replies, early)}")
    seconds = [replies[name].seconds for replies in heard.values() for name in proxies]
    return proven(
        f"{links(proxies)}: probes took {min(seconds):.3f} to {max(seconds):.3f} s in one "
        f"direction (at least {slowness.least_s:.3f} s), direct ones less than half"
    )


def slow_gone(fresh: Met, held: Met, proxies: tuple[str, ...], slowness: Slowness) -> Proof:
    """Probes are fast on fresh connections, and on those from before the fault, unless they were
    closed meanwhile."""
    late = [name for name in proxies if not slowness.quick(fresh.get(name))]
    if late:
        return doubt(f"not quick on a fresh connection: {timed(fresh, late)}")
    open_ = [name for name in proxies if name in held and not held[name].end]
    if late := [name for name in open_ if not slowness.quick(held[name])]:
        return doubt(f"not quick on a held connection: {timed(held, late)}")
    before = also_before(len(open_), len(proxies))
    return proven(f"{links(proxies)} fast on a fresh connection{before}")


def cut_after_held(replies: Met, proxies: tuple[str, ...], limit: int) -> Proof:
    """A word that was longer than the limit came down to the last byte that may pass, and then a
    FIN came; to the direct canary it came whole."""
    assert proxies, "nothing to cut"
    if not is_answered(replies.get(DIRECT)):
        direct = said(replies.get(DIRECT))
        return doubt(f"a word of that size was not heard on a direct connection, either: {direct}")
    wrong = [name for name in proxies if not _cut(replies.get(name), limit)]
    if wrong:
        return doubt(f"not closed by FIN after {limit} bytes: {_sized(replies, wrong)}")
    return proven(f"{links(proxies)} closed by FIN after {limit} bytes; a direct one was not")


def timed(replies: Met, names: list[str]) -> str:
    """Return what words met on these ways, and how long they took."""
    times = {
        name: f"{said(replies.get(name))} ({replies[name].seconds:.3f} s)"
        for name in names
        if name in replies
    }
    return "; ".join(f"{name}: {text}" for name, text in times.items()) or listing(replies, names)


def _cut(reply: Reply | None, limit: int) -> bool:
    return reply is not None and reply.end == FIN and reply.octets == limit


def _sized(replies: Met, names: list[str]) -> str:
    return "; ".join(
        f"{name}: {said(replies.get(name))}"
        + (f" after {replies[name].octets} bytes" if name in replies else "")
        for name in names
    )
