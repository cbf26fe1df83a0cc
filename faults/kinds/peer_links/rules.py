"""Verify that links between hosts are slow, and quick again.

1. A link's slowness proves nothing if the host behind it is slow past every proxy, too.
2. What is not meant has to be quick: a fault that slows more than it says is another one.
3. Ways to a host that does not speak are unknown, and are not probed.
"""

from collections.abc import Iterable, Mapping

from faults.core.model import Proof, Reply
from faults.core.replies import doubt, listing, proven
from faults.kinds.network.rules import LinkEvidence, Way, judged_links

GRAIN_S = 0.02  # of two readings of a clock of hundredths


def peers_slow(evidence: LinkEvidence, latency_s: float) -> Proof:
    least_s = latency_s - GRAIN_S
    speaking, links, beside = judged_links(evidence)
    if not links:
        return doubt(f"no host speaks behind the links: {listing(evidence.direct)}")
    late = [host for host in speaking if not _quick(evidence.direct[host], latency_s)]
    if late:
        return doubt(f"slow past every proxy, too: {_hosts(evidence.direct, late)}")
    if early := [way for way, reply in links.items() if not _slow(reply, least_s)]:
        return doubt(f"nothing that took {least_s:.3f} s: {_timed(links, early)}")
    if more := [way for way, reply in beside.items() if not _quick(reply, latency_s)]:
        return doubt(f"more is slow than was meant: {_timed(beside, more)}")
    seconds = [reply.seconds for reply in links.values()]
    return proven(
        f"on {len(links)} ways a word took {min(seconds):.3f} to {max(seconds):.3f} s (at least "
        f"{least_s:.3f} s), past mqproof's Toxiproxy and on {len(beside)} others less than half"
    )


def peers_quick(evidence: LinkEvidence, latency_s: float) -> Proof:
    _, links, _ = judged_links(evidence)
    if not links:
        return doubt(f"no host speaks behind the links: {listing(evidence.direct)}")
    if late := [way for way, reply in links.items() if not _quick(reply, latency_s)]:
        return doubt(f"not quick: {_timed(links, late)}")
    return proven(f"on {len(links)} ways a word is quick")


def _quick(reply: Reply, latency_s: float) -> bool:
    return reply.answered and reply.seconds < latency_s / 2


def _slow(reply: Reply, least_s: float) -> bool:
    return reply.answered and reply.seconds >= least_s


def _timed(replies: Mapping[Way, Reply], ways: Iterable[Way]) -> str:
    return "; ".join(
        f"{' -> '.join(way)}: {replies[way].detail} ({replies[way].seconds:.3f} s)" for way in ways
    )


def _hosts(replies: Mapping[str, Reply], hosts: Iterable[str]) -> str:
    return "; ".join(
        f"{host}: {replies[host].detail} ({replies[host].seconds:.3f} s)" for host in hosts
    )
