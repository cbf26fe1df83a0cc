"""Processes of brokers that ended though nobody had planned it: what cannot be judged for it.

1. What ended by itself is the broker's doing: it is told, and judged like all that it does.
2. What ended from outside, or nobody knows why, was no part of what a claim speaks of: claims
   about a window in which it was down say nothing, and neither do those about the calm.
3. A window is judged until the next one begins; the last one to the end of all that was read.
"""

from harness.claims.values import Unknown
from harness.run_folder.process_ends import end_told
from spark_analysis.schema.facts import Facts

_ADVICE = "see who ends processes on that machine (its log, its memory), then run it again"


def disturbed(facts: Facts, window: int) -> Unknown | None:
    """Why a window (0: the calm before the first) cannot be judged; None: nothing stands against
    it."""
    from_ns, until_ns = _judged(facts, window)
    found = [
        one
        for one in facts.process_ends
        if not one.by_itself
        and (until_ns is None or one.at_ns < until_ns)
        and (one.until_ns is None or one.until_ns > from_ns)
    ]
    return Unknown(end_told(found[0]), _ADVICE) if found else None


def _judged(facts: Facts, window: int) -> tuple[int, int | None]:
    origins = [each.origin_ns for each in facts.windows]
    from_ns = origins[window - 1] if window else facts.load_started_ns
    return from_ns, (origins[window] if window < len(origins) else None)
