"""The timers of a place in words: they set how long an outage lasts, so they stand beside it.

1. Each run records the values that it was measured with; the files of layouts give the product's
   defaults. Unknown values are left out.
"""

from collections.abc import Iterable
from functools import cache

from harness.judging.result import RunReport
from harness.report.page.totals import Cell
from harness.systems.catalogue import as_shipped, load_system

Timers = tuple[float, float | None]  # a silent host is given up after; clients ask every; seconds


def timers_text(cell: Cell, runs: Iterable[RunReport]) -> str:
    """Return `a silent host is given up after about 10 s here (60 s as shipped)`; "" if that is
    unknown, or runs differ. `cell`: one of theirs."""
    used = {
        (one.detection_timeout_s, one.poll_s)
        for one in (run.summary for run in runs)
        if one is not None
    }
    if len(used) != 1:
        return ""
    detection_timeout_s, poll_s = used.pop()
    if detection_timeout_s is None:
        return ""
    _, system, layout, _ = cell
    own_s, own_poll_s = _shipped(system, layout.partition("@")[0]) or (None, None)
    text = f"a silent host is given up after about {_compared_text(detection_timeout_s, own_s)}"
    if not poll_s:
        return text
    return f"{text}; clients ask for the masters every {_compared_text(poll_s, own_poll_s)}"


def _compared_text(here_s: float, shipped_s: float | None) -> str:
    if shipped_s is None:
        return f"{here_s:g} s"
    if shipped_s == here_s:
        return f"{here_s:g} s, as shipped"
    return f"{here_s:g} s here ({shipped_s:g} s as shipped)"


@cache
def _shipped(system: str, layout: str) -> Timers | None:
    found = as_shipped(system, layout)
    if found is None:
        return None
    poll_s = load_system(system).guarantees(found).route_poll_s
    return found.detection_timeout_s, poll_s if isinstance(poll_s, int) else None
