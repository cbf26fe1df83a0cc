"""Rates of a run while it goes on: the difference of two looks at its counts.

1. Rates are taken over at least WINDOW_S, so that two looks in quick succession do not jump.
"""

from collections import deque

from harness.report.display import LiveView
from harness.run.view import LiveCounts

WINDOW_S = 1.0


class Rates:
    """Makes live views of one run out of its counts."""

    def __init__(self, run: str, place: str = "") -> None:
        self._run = run
        self._place = place
        self._looks: deque[tuple[float, LiveCounts]] = deque()

    def view(self, now_s: float, counts: LiveCounts) -> LiveView:
        """The live view at `now_s` (any clock that goes forward)."""
        self._looks.append((now_s, counts))
        while len(self._looks) > 2 and now_s - self._looks[1][0] >= WINDOW_S:
            self._looks.popleft()
        then_s, then = self._looks[0]
        span_s = now_s - then_s
        sent = counts.sent - then.sent
        confirmed = counts.confirmed - then.confirmed
        return LiveView(
            run=self._run,
            phase=counts.phase,
            sent_per_s=_rate(sent, span_s),
            confirmed_per_s=_rate(confirmed, span_s),
            delivered_per_s=_rate(counts.delivered - then.delivered, span_s),
            success_ratio=min(1.0, confirmed / sent) if sent > 0 else None,
            outstanding=counts.outstanding,
            armed=counts.armed,
            left_s=counts.left_s,
            place=self._place,
            parts=counts.parts,
            strip=counts.strip,
            waits=counts.waits,
        )


def _rate(number: int, span_s: float) -> float:
    return number / span_s if span_s > 0 else 0.0
