"""Unplanned ends of broker processes, and the claims that cannot be judged because of them.

1. If a process ended by itself, it is the broker's doing: it is reported, and judged like all that
   the broker does.
2. If it ended from outside, or for an unknown reason, no claim covers it. Claims about a window in
   which it was down are not judged, and neither are those about the steady state.
3. A window is judged until the next one begins; the last one to the end of the records.
"""

from harness.claims.values import Unknown
from harness.run_folder.process_ends import unplanned_text
from spark_analysis.schema.facts import Facts

_ADVICE = "see who ends processes on that machine (its log, its memory), then run it again"


def disturbed(facts: Facts, window: int) -> Unknown | None:
    """Return why a window (0: the steady state before the first) cannot be judged; None: it
    can."""
    from_ns, until_ns = _judged(facts, window)
    found = [
        one
        for one in facts.process_ends
        if not one.by_itself
        and (until_ns is None or one.at_ns < until_ns)
        and (one.until_ns is None or one.until_ns > from_ns)
    ]
    return Unknown(unplanned_text(found[0]), _ADVICE) if found else None


def _judged(facts: Facts, window: int) -> tuple[int, int | None]:
    origins = [each.origin_ns for each in facts.windows]
    from_ns = origins[window - 1] if window else facts.load_started_ns
    return from_ns, (origins[window] if window < len(origins) else None)
