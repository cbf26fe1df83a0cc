"""Every fault window of every run: what was asked for, what was done, what was seen of it.

1. By kind and mechanism first, since the rows of hundreds of runs say little one by one. What was
   not verified active, or not verified ended, stands in the open with the evidence's own words.
2. Times count from the previous step: armed after the request was due, in force after it was
   issued, proved after it was issued, gone after its undo was issued. How long an action took to
   return is how uncertain its instant is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from harness.judging.result import Report
from harness.report.page import formats
from harness.report.page.cells import CellView
from harness.view.timeline import FaultSpan, Verification

NS = 1e9
NEVER_ARMED = "never injected"
DOUBTED_MAX = 30  # told in the open; all are in their groups


@dataclass(frozen=True, slots=True)
class WindowView:
    """One window in words. `tone`: pass, or open where it is not proved."""

    number: int
    title: str
    host: str
    tone: str
    badge: str
    requested: str
    armed: str
    held: str
    undone: str
    gone: str


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A window, and the run that it is of."""

    run: str
    anchor: str
    cell: int
    window: WindowView


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """All windows of one kind by one mechanism; times as `0.016 s (0.010 s – 0.027 s)`."""

    kind: str
    mechanism: str
    windows: int
    held: int
    gone: int
    arm: str
    prove: str
    go: str
    rows: tuple[WindowRow, ...]


@dataclass(frozen=True, slots=True)
class FaultsView:
    windows: int
    proved: int
    groups: tuple[FaultGroup, ...]
    doubted: tuple[WindowRow, ...]
    doubted_left_out: int
    untold: int  # runs without a window that can be shown


def faults(report: Report, views: Iterable[CellView]) -> FaultsView:
    """All windows of a report, the kinds with doubts first."""
    numbers = {view.cell: view.number for view in views}
    spans: list[tuple[FaultSpan, WindowRow]] = []
    for place, run in enumerate(report.runs, start=1):
        for span in run.detail.timeline.faults if run.detail else ():
            row = WindowRow(run.name, f"run-{place}", numbers[run.cell], window(span))
            spans.append((span, row))
    doubted = [row for _, row in spans if row.window.tone != "pass"]
    return FaultsView(
        windows=len(spans),
        proved=len(spans) - len(doubted),
        groups=tuple(_groups(spans)),
        doubted=tuple(doubted[:DOUBTED_MAX]),
        doubted_left_out=max(0, len(doubted) - DOUBTED_MAX),
        untold=sum(run.detail is None for run in report.runs),
    )


def window(span: FaultSpan) -> WindowView:
    """One window in words."""
    tone, badge = _badge(span)
    host = f" = {span.resolved}" if span.resolved else ""
    return WindowView(
        number=span.number,
        title=f"{span.kind} {span.target}".strip() + host,
        host=span.role,
        tone=tone,
        badge=badge,
        requested=_request_text(span),
        armed=_armed(span),
        held=_look(span.held, span.issued_ns, span, "after it was issued"),
        undone=_undone(span),
        gone=_look(span.gone, _undo_ns(span), span, "after its undo was issued"),
    )


def _badge(span: FaultSpan) -> tuple[str, str]:
    if span.verified:
        return "pass", "✓ VERIFIED"
    if not span.opened:
        return "open", "? NEVER BEGAN"
    held = span.held is not None and span.held.ok
    return "open", "? END NOT VERIFIED" if held else "? NOT VERIFIED"


def _request_text(span: FaultSpan) -> str:
    if span.requested_from_ns is None or span.requested_until_ns is None:
        return "the plan does not contain it"
    # A later window may wait until the one before it is gone.
    word = "from" if span.number == 1 else "not before"
    waits = "" if span.number == 1 else " (it may wait for the end of an earlier fault)"
    lasts = formats.seconds((span.requested_until_ns - span.requested_from_ns) / NS)
    at = f"{word} {formats.after(span.requested_from_ns)}{waits}"
    parts = [f"{at} for {lasts}", *span.options]
    return ", ".join([*parts, *([] if span.returns else ["never to be undone"])])


def _armed(span: FaultSpan) -> str:
    if not span.opened:
        return span.doubt or "no"
    took = formats.seconds((span.returned_ns - span.issued_ns) / NS)
    by = f", through the {span.mechanism.replace('_', ' ')}" if span.mechanism else ""
    late = ""
    if span.requested_from_ns is not None and span.number == 1:
        late = f", {formats.seconds((span.issued_ns - span.requested_from_ns) / NS)} late"
    return f"at {formats.after(span.issued_ns)}{late}, active within {took}{by}"


def _undone(span: FaultSpan) -> str:
    if not span.opened:
        return "there was nothing to undo"
    if not span.returns:
        return "never, as requested"
    if span.ended_ns is None:
        return "no"
    stood = formats.seconds((span.ended_ns - span.issued_ns) / NS)
    took = ""
    if span.undo_issued_ns is not None:
        seconds = formats.seconds((span.ended_ns - span.undo_issued_ns) / NS)
        took = f", {seconds} after its undo was issued"
    return f"at the latest at {formats.after(span.ended_ns)}{took}; active for {stood}"


def _undo_ns(span: FaultSpan) -> int | None:
    return span.ended_ns if span.undo_issued_ns is None else span.undo_issued_ns


def _look(look: Verification | None, since_ns: int | None, span: FaultSpan, word: str) -> str:
    if look is None:
        return f"no: {span.doubt}" if span.doubt and span.opened else "not verified"
    at = formats.after(look.at_ns)
    if since_ns is not None:
        at = f"{formats.seconds((look.at_ns - since_ns) / NS)} {word}"
    took = ""
    if look.began_ns is not None:
        took = f" (the check took {formats.seconds((look.at_ns - look.began_ns) / NS)})"
    return f"{'yes' if look.ok else 'no'}, {at}{took}: {look.detail or span.doubt}"


def _groups(spans: list[tuple[FaultSpan, WindowRow]]) -> Iterable[FaultGroup]:
    found: dict[tuple[str, str], list[tuple[FaultSpan, WindowRow]]] = {}
    for span, row in spans:
        found.setdefault((span.kind, span.mechanism), []).append((span, row))
    groups = [_group(*key, members) for key, members in found.items()]
    groups.sort(key=lambda group: (group.kind, group.mechanism))
    return sorted(groups, key=lambda group: _proved(group) == group.windows)


def _group(kind: str, mechanism: str, members: list[tuple[FaultSpan, WindowRow]]) -> FaultGroup:
    spans = [span for span, _ in members]
    held = [(span, span.held) for span in spans if span.held is not None and span.held.ok]
    gone = [(span, span.gone) for span in spans if span.gone is not None and span.gone.ok]
    rows = sorted((row for _, row in members), key=lambda row: row.window.tone == "pass")
    undone = [(look.at_ns, since) for span, look in gone if (since := _undo_ns(span)) is not None]
    return FaultGroup(
        kind=kind,
        mechanism=mechanism.replace("_", " ") or NEVER_ARMED,
        windows=len(spans),
        held=len(held),
        gone=len(gone) + sum(span.verified and not span.returns for span in spans),
        arm=_spread((span.returned_ns, span.issued_ns) for span in spans if span.opened),
        prove=_spread((look.at_ns, span.issued_ns) for span, look in held),
        go=_spread(undone),
        rows=tuple(rows),
    )


def _proved(group: FaultGroup) -> int:
    return sum(row.window.tone == "pass" for row in group.rows)


def _spread(pairs: Iterable[tuple[int, int]]) -> str:
    """`0.016 s (0.010 s – 0.027 s)`: the median of later minus earlier, and the range."""
    times_s = sorted((later - earlier) / NS for later, earlier in pairs)
    if not times_s:
        return "–"
    middle = formats.seconds(median(times_s))
    least, most = formats.seconds(times_s[0]), formats.seconds(times_s[-1])
    return middle if least == most else f"{middle} ({least} – {most})"
