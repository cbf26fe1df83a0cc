"""Verify that ways between hosts are cut, by a packet filter or by the stall of their links.

1. A way is (from, to): one direction. With a packet filter an attempt is silent whichever
   direction is cut, for a handshake needs both: only the rule that dropped it shows which.
2. A silent attempt alone proves nothing: our own chain must have dropped packets meanwhile, or the
   far end must have spoken past the proxy at the same time.
3. What a shape leaves open must be open: a cut that closes more than it says is another one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from faults.core.model import Drops, Proof, Reply
from faults.core.replies import (
    SILENCE_S,
    doubt,
    is_answered,
    listing,
    proven,
    silent,
)

Way = tuple[str, str]  # (from, to)
HIDDEN = doubt("another active fault closes every way that this one closes")
REMOVED = "mqproof blocks no traffic any more"


@dataclass(frozen=True, slots=True)
class CutEvidence:
    """The observations around one round of connection attempts across a cut."""

    before: Mapping[
        str, Drops | None
    ]  # host that has our chain -> packets dropped; None: no chain
    after: Mapping[str, Drops | None]
    attempts: Mapping[Way, Reply]  # one on each way that is to be cut
    alive: Mapping[str, Reply]  # host -> an attempt on the same port from an uncut place
    beside: Mapping[Way, Reply] = field(default_factory=dict)  # for each pair that is left open
    hidden: Sequence[Way] = ()  # ways of this cut that another active fault closes, too
    mute: Collection[str] = ()  # hosts whose broker another active fault stops or ends


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """The observations around one round of new connections through links that a cut stalls."""

    links: Mapping[Way, Reply]  # way -> what was met on a link that carries it
    direct: Mapping[str, Reply]  # host -> what it said past every proxy
    beside: Mapping[Way, Reply] = field(default_factory=dict)  # the same where it is left open
    end: int = 0  # of a way: where somebody has to live for its silence to count. Who speaks
    # first is heard at the other end (0: from); who only answers is spoken to from there (1: to)


def filter_cut(evidence: CutEvidence) -> Proof:
    """Attempts across the cut were silent, our chain dropped them, and somebody listens there.

    A peer that is down, an address that is wrong or an interface that is gone would not raise
    our chain's counter by our own attempts, and would not listen to others at the same time.
    """
    assert evidence.attempts, "a partition without peers"
    if None in evidence.before.values() or None in evidence.after.values():
        return doubt("there is no chain of ours")
    before, after = every_way(evidence.before), every_way(evidence.after)
    if after.keys() != {*evidence.attempts, *evidence.hidden}:
        return doubt(f"our chain drops other ways than it should: {_named(sorted(after))}")
    loud = [way for way, reply in evidence.attempts.items() if not silent(reply)]
    if loud:
        return doubt(f"not silent: {describe(evidence.attempts, loud)}")
    idle = [way for way in evidence.attempts if after[way] <= before.get(way, 0)]
    if idle:
        return doubt(f"our chain dropped nothing during an attempt: {_named(idle)}")
    # A host whose broker is down by plan refuses: its network still works.
    listening = sorted(
        host
        for host, reply in evidence.alive.items()
        if reply.answered or (host in evidence.mute and not silent(reply))
    )
    if not listening:
        return doubt(f"no host listens beyond the cut: {listing(evidence.alive)}")
    if more := more_cut(evidence.beside):
        return more
    dropped = sum(after.values()) - sum(before.values())
    return proven(
        f"{_connections(len(evidence.attempts))} across the cut got no answer for "
        f"{SILENCE_S:g} s; {packets_dropped(dropped)}{_hidden(evidence.hidden)}; "
        f"{', '.join(listening)} answered other hosts{_beside(evidence.beside)}"
    )


def links_cut(evidence: LinkEvidence) -> Proof:
    """Every link by which a host that speaks could be met was silent.

    What is down, or cannot be reached past the proxies either, proves nothing by its silence.
    """
    assert evidence.links, "a partition without peers"
    speaking, judged, beside = judged_links(evidence)
    if not judged:
        return doubt(f"no host listens beyond the cut: {listing(evidence.direct)}")
    loud = [way for way, reply in judged.items() if not silent(reply)]
    if loud:
        return doubt(f"not silent: {describe(judged, loud)}")
    if more := more_cut(beside):
        return more
    return proven(
        f"{len(judged)} links silent for {SILENCE_S:g} s, while {', '.join(sorted(speaking))} "
        f"spoke at once past mqproof's Toxiproxy{_beside(beside)}"
    )


def judged_links(
    evidence: LinkEvidence,
) -> tuple[list[str], dict[Way, Reply], dict[Way, Reply]]:
    """The hosts that spoke past every proxy, and of links and those beside what counts."""
    speaking = [host for host, reply in evidence.direct.items() if reply.answered]
    links, beside = (
        {way: reply for way, reply in found.items() if way[evidence.end] in speaking}
        for found in (evidence.links, evidence.beside)
    )
    return speaking, links, beside


def cut_gone(chains: Mapping[str, Drops | None], attempts: Mapping[Way, Reply]) -> Proof:
    """No chain, an attempt succeeds and none is silent. A refusal crossed the wire, too."""
    left = [
        f"{host}: {sum(drops.values())} packets dropped"
        for host, drops in chains.items()
        if drops is not None
    ]
    if left:
        return doubt(f"our chain is still there ({'; '.join(left)})")
    mute = [way for way, reply in attempts.items() if silent(reply)]
    if mute:
        return doubt(f"silent: {describe(attempts, mute)}")
    reached = sorted({way[1] for way, reply in attempts.items() if is_answered(reply)})
    if not attempts:
        return HIDDEN
    if not reached:
        return doubt(f"no attempt succeeds: {describe(attempts, attempts)}")
    return proven(f"{REMOVED}; reached: {', '.join(reached)}")


def every_way(chains: Mapping[str, Drops | None]) -> dict[Way, int]:
    """The packets that the chains of several hosts dropped, by way."""
    return {way: count for drops in chains.values() for way, count in (drops or {}).items()}


def more_cut(beside: Mapping[Way, Reply]) -> Proof | None:
    """A doubt where a way is closed that the shape leaves open. A refusal came through."""
    closed = [way for way, reply in beside.items() if silent(reply)]
    return doubt(f"more is cut than was meant: {describe(beside, closed)}") if closed else None


def describe(replies: Mapping[Way, Reply], ways: Iterable[Way]) -> str:
    return "; ".join(f"{' -> '.join(way)}: {replies[way].detail}" for way in ways)


def _beside(beside: Mapping[Way, Reply]) -> str:
    return f"; {_connections(len(beside))} outside the cut worked" if beside else ""


def _hidden(ways: Sequence[Way]) -> str:
    are = "is" if len(ways) == 1 else "are"
    return f" ({len(ways)} more {are} closed by another fault, too)" if ways else ""


def _connections(number: int) -> str:
    return f"{number} test connection{'' if number == 1 else 's'}"


def packets_dropped(number: int) -> str:
    """Return `864 packets were dropped`: by the rules that mqproof added."""
    return f"{number} packet{' was' if number == 1 else 's were'} dropped"


def _named(ways: Iterable[Way]) -> str:
    return "; ".join(" -> ".join(way) for way in ways) or "none"
