"""Whether ways between hosts are cut, by a packet filter or by the stall of their links.

1. A way is (from, to): one direction. Cut ways are silent to a connection attempt whichever
   direction is cut, for a handshake needs both: attempts are made once for each pair of hosts.
2. A silent attempt alone proves nothing: our own chain must have dropped packets meanwhile, or
   the far end must have spoken past the proxy at the same time.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from faults.model import Proof, Reply
from faults.verify.replies import (
    SILENCE_S,
    doubt,
    is_answered,
    listing,
    proven,
    silent,
)

Way = tuple[str, str]  # (from, to)


@dataclass(frozen=True, slots=True)
class CutEvidence:
    """What was seen around one round of connection attempts across a cut."""

    before: Mapping[str, int | None]  # host that has our chain -> packets dropped; None: no chain
    after: Mapping[str, int | None]
    attempts: Mapping[Way, Reply]  # one for each pair of hosts that is cut
    alive: Mapping[str, Reply]  # host -> an attempt on the same port from an uncut place


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """What was seen around one round of new connections through links that a cut stalls."""

    links: Mapping[Way, Reply]  # (speaker, hearer) -> what came through the hearer's link
    direct: Mapping[str, Reply]  # host -> what it said past every proxy


def filter_cut(evidence: CutEvidence) -> Proof:
    """Attempts across the cut were silent, our chain dropped them, and somebody listens there.

    A peer that is down, an address that is wrong or an interface that is gone would not raise
    our chain's counter by our own attempts, and would not listen to others at the same time.
    """
    assert evidence.attempts, "a partition without peers"
    if None in evidence.before.values() or None in evidence.after.values():
        return doubt("there is no chain of ours")
    loud = [way for way, reply in evidence.attempts.items() if not silent(reply)]
    if loud:
        return doubt(f"not silent: {_told(evidence.attempts, loud)}")
    dropped = _sum(evidence.after) - _sum(evidence.before)
    if dropped < len(evidence.attempts):
        return doubt(
            f"our chain dropped {dropped} packets during {len(evidence.attempts)} attempts"
        )
    listening = sorted(host for host, reply in evidence.alive.items() if reply.answered)
    if not listening:
        return doubt(f"nobody listens beyond the cut: {listing(evidence.alive)}")
    return proven(
        f"{len(evidence.attempts)} attempts silent for {SILENCE_S:g} s, {dropped} packets "
        f"dropped by our chain; {', '.join(listening)} listened to others"
    )


def links_cut(evidence: LinkEvidence) -> Proof:
    """Every link by which a host that speaks could be heard was silent.

    What is down, or cannot be reached past the proxies either, proves nothing by its silence.
    """
    assert evidence.links, "a partition without peers"
    speaking = [host for host, reply in evidence.direct.items() if reply.answered]
    judged = {way: reply for way, reply in evidence.links.items() if way[0] in speaking}
    if not judged:
        return doubt(f"nobody listens beyond the cut: {listing(evidence.direct)}")
    loud = [way for way, reply in judged.items() if not silent(reply)]
    if loud:
        return doubt(f"not silent: {_told(judged, loud)}")
    return proven(
        f"{len(judged)} links silent for {SILENCE_S:g} s, while {', '.join(sorted(speaking))} "
        "spoke at once past the proxy"
    )


def cut_gone(packets: Mapping[str, int | None], attempts: Mapping[Way, Reply]) -> Proof:
    """No chain, an attempt succeeds and none is silent. A refusal crossed the wire, too."""
    left = [
        f"{host}: {count} packets dropped" for host, count in packets.items() if count is not None
    ]
    if left:
        return doubt(f"our chain is still there ({'; '.join(left)})")
    mute = [way for way, reply in attempts.items() if silent(reply)]
    if mute:
        return doubt(f"silent: {_told(attempts, mute)}")
    reached = sorted({way[1] for way, reply in attempts.items() if is_answered(reply)})
    if not reached:
        return doubt(f"no attempt succeeds: {_told(attempts, list(attempts))}")
    return proven(f"nothing of ours is in the way; reached: {', '.join(reached)}")


def _sum(counts: Mapping[str, int | None]) -> int:
    return sum(count or 0 for count in counts.values())


def _told(replies: Mapping[Way, Reply], ways: list[Way]) -> str:
    return "; ".join(f"{' -> '.join(way)}: {replies[way].detail}" for way in ways)
