"""Verify that ways between hosts come and go.

1. One look sees one moment: cut, open, or neither for certain, as it may have met a change.
2. Cut, open and cut again, in that order, prove two cuts and a join between them.
3. Phases may be shorter than any silence that proves. A cut is seen by our own chain, which is new
   each time: what it has dropped it dropped in this phase. By proxy it is seen by what every link
   held back for a moment, while the far ends spoke at once past the proxy.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from faults.core.model import Drops, Proof, Reply
from faults.core.replies import doubt, proven
from faults.kinds.network.rules import LinkEvidence, Way, every_way, judged_links


class Moment(Enum):
    CUT = "cut"
    OPEN = "open"
    UNSURE = "neither for certain"


def filter_moment(
    ways: Sequence[Way],
    chains: Mapping[str, Drops | None],
    attempts: Mapping[Way, Reply],
    wait_s: float,
) -> Moment:
    """Our chains are there and have dropped on each attempted way; or none is, and every attempt
    was over sooner than it would have been given up: a refusal came through, too. `ways`: all
    that the chains close."""
    found = [drops for drops in chains.values() if drops is not None]
    if not found and not any(_held(reply, wait_s) for reply in attempts.values()):
        return Moment.OPEN
    dropped = every_way(chains)
    rules_alike = dropped.keys() == set(ways)
    return Moment.CUT if rules_alike and all(dropped[way] for way in attempts) else Moment.UNSURE


def links_moment(evidence: LinkEvidence, wait_s: float) -> Moment:
    """Return the moment that words on links within `wait_s` show."""
    _, judged, _ = judged_links(evidence)
    if not judged:
        return Moment.UNSURE
    if all(reply.answered for reply in judged.values()):
        return Moment.OPEN
    held = all(_held(reply, wait_s) for reply in judged.values())
    return Moment.CUT if held else Moment.UNSURE


def flap_held(seen: Sequence[Moment]) -> Proof:
    turns = [Moment.CUT, Moment.OPEN, Moment.CUT]
    for moment in seen:
        if turns and moment is turns[0]:
            turns.pop(0)
    counted = ", ".join(f"{seen.count(moment)} {moment.value}" for moment in Moment)
    if turns:
        return doubt(f"not seen cut, open and cut again: of {len(seen)} looks {counted}")
    return proven(f"seen cut, open and cut again (of {len(seen)} looks {counted})")


def _held(reply: Reply, wait_s: float) -> bool:
    """Clocks that are read in hundredths may tell a little less than was waited."""
    return not reply.answered and not reply.end and reply.seconds > wait_s - 0.03
