"""Verify that a host is isolated: by a packet filter of its own, or by the stall of all its links.

1. Silence alone proves nothing: our own chain must have dropped packets in both directions, or the
   host must have spoken past the proxy at the same time.
2. Its peers must still reach each other: what silences them as well is another fault.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from faults.core.model import ANYBODY, Drops, ProcessState, Proof, Reply
from faults.core.replies import SILENCE_S, doubt, listing, passed, proven, silent
from faults.kinds.network.rules import Way, describe, more_cut, packets_dropped


@dataclass(frozen=True, slots=True)
class IsolationEvidence:
    """The observations around one round of attempts to and from a host."""

    host: str
    attempts: Mapping[Way, Reply]  # between the host and each peer: by a filter (who, whom),
    # by a proxy (speaker, hearer)
    entries: Mapping[str, Reply]  # by each way that clients have to it; by a proxy none where
    # the broker takes no clients now: a node that has paused ends their connections at once
    beside: Mapping[Way, Reply]  # between its peers
    direct: Mapping[str, Reply]  # what a host said past every proxy


def runs(state: ProcessState) -> Proof:
    """A host that fell silent because it ended, or was frozen, was not cut off."""
    if not state.running:
        return doubt(f"the process does not run (exit {state.exit_code})")
    return doubt("the process is frozen") if state.frozen else proven("the process runs")


def filter_isolated(
    evidence: IsolationEvidence, before: Drops | None, after: Drops | None
) -> Proof:
    if before is None or after is None:
        return doubt("there is no chain of ours")
    if loud := _loud(evidence.attempts, evidence.entries):
        return loud
    host = evidence.host
    ways = [(ANYBODY, host), (host, ANYBODY)] if evidence.attempts else [(ANYBODY, host)]
    idle = [way for way in ways if after.get(way, 0) <= before.get(way, 0)]
    if idle:
        return doubt(f"our chain dropped nothing: {'; '.join(' -> '.join(way) for way in idle)}")
    if more := more_cut(evidence.beside):
        return more
    dropped = sum(after.values()) - sum(before.values())
    return proven(f"{_silent(evidence)}; {packets_dropped(dropped)}, in and out")


def links_isolated(evidence: IsolationEvidence, mute: Collection[str] = ()) -> Proof:
    """A host that is down proves nothing by its silence; the one that is meant has to speak,
    except where another active fault keeps it `mute`: then what others say to it has to be
    silent."""
    speaking = {host for host, reply in evidence.direct.items() if reply.answered}
    if evidence.host not in speaking and evidence.host not in mute:
        return doubt(
            f"it was not heard past mqproof's Toxiproxy, either: {listing(evidence.direct)}"
        )
    attempts = {way: reply for way, reply in evidence.attempts.items() if way[0] in speaking}
    if not attempts and not evidence.entries:
        return doubt("other active faults hide every way of the host")
    if loud := _loud(attempts, evidence.entries):
        return loud
    if more := more_cut({way: r for way, r in evidence.beside.items() if way[0] in speaking}):
        return more
    spoke = ", ".join(sorted({evidence.host} & speaking) or sorted(speaking))
    return proven(f"{_silent(evidence)}, while {spoke} spoke at once past mqproof's Toxiproxy")


def entered(entries: Mapping[str, Reply]) -> Proof:
    """By every way that clients have the host is reached. A refusal will do: whether its cluster
    lists it again, and whether it serves, is what the broker does (docs/verdicts.md 2.1)."""
    mute = sorted(name for name, reply in entries.items() if not passed(reply))
    if mute:
        return doubt(f"nothing comes through by {listing(entries, mute)}")
    return proven(f"{len(entries)} ways of clients lead to it")


def _loud(attempts: Mapping[Way, Reply], entries: Mapping[str, Reply]) -> Proof | None:
    loud = [way for way, reply in attempts.items() if not silent(reply)]
    if loud:
        return doubt(f"not silent: {describe(attempts, loud)}")
    heard = sorted(name for name, reply in entries.items() if not silent(reply))
    return doubt(f"not silent to clients: {listing(entries, heard)}") if heard else None


def _silent(evidence: IsolationEvidence) -> str:
    return (
        f"test connections got no answer for {SILENCE_S:g} s: {len(evidence.attempts)} between "
        f"hosts, {len(evidence.entries)} of clients"
    )
