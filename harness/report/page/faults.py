"""Every fault window of every run: what was asked for, what was done, what was seen of it.

1. By kind and mechanism first, since the rows of hundreds of runs say little one by one. What was
   not verified active, or not verified ended, stands in the open with the evidence's own words.
2. Times count from the injection; that one from the time when the request was due. How long an
   action took to return is how uncertain its instant is.
3. A fault begins at its own time, but not before what it waits for is over: an earlier fault or
   operation that is planned to be over by then delays it, and the planned pause between the two
   is kept. Of two faults that overlap on purpose neither waits for the other.
"""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import NamedTuple

from faults.core.mechanisms import COMMAND, CONTAINER, PROCESS, PROXY, TOXIPROXY
from harness.judging.result import Report
from harness.plan.fault_words import affects_links, resolved_words, role_beside
from harness.report.page import formats
from harness.report.page.cells import CellView
from harness.view.grouping import by_key
from harness.view.summary import NS
from harness.view.timeline import FaultSpan, Timeline, Verification

NEVER_ARMED = "never injected"
PROXIES = (PROXY, TOXIPROXY)
_MECHANISMS = {
    PROCESS: "by acting on the process itself",
    CONTAINER: "through the container engine",
    COMMAND: "by a command of the cluster's owner",
}
DOUBTED_MAX = 30  # told in the open; all are in their groups


class Beginning(NamedTuple):
    """The planned begin of a fault, or what it waits for, with the planned pause. `at_ns`: the
    earliest time; None: not known. `of_several`: it is the later of two times."""

    text: str
    at_ns: int | None
    of_several: bool = False


class WindowView:
    """One window in words. `tone`: pass, or open where it is not proved."""

    def __init__(self, span: FaultSpan, timeline: Timeline) -> None:
        self.span, self.number, self.title = span, span.number, fault_title(span)
        self.host = role_beside(span.target, span.role)
        self.tone, self.badge = _badge(span)
        begins = beginning(span, timeline)
        self.requested, self.armed = _request_text(span, begins), _armed(span, begins)
        self.undone = _undone(span)
        self.held, self.gone = _look(span.held, span), _look(span.gone, span)


def fault_title(span: FaultSpan) -> str:
    """Return `kill ref1 (master of orders)`, with what else ran there."""
    place = span.resolved or span.target
    return resolved_words(span.describe(place), span.target, place, span.beside)


class WindowRow(NamedTuple):
    run: str
    anchor: str
    cell: int
    label: str  # of the cell
    window: WindowView


class FaultGroup:
    """All windows of one kind by one mechanism; times as `0.016 s (0.010 s – 0.027 s)`."""

    def __init__(self, kind: str, mechanism: str, rows: list[WindowRow]) -> None:
        spans = [row.window.span for row in rows]
        held = [(one, one.held.at_ns) for one in spans if one.held is not None and one.held.ok]
        gone = [(one, one.gone.at_ns) for one in spans if one.gone is not None and one.gone.ok]
        self.kind, self.windows = kind, len(spans)
        self.mechanism = mechanism.replace("_", " ") or NEVER_ARMED
        self.held = len(held)
        self.gone = len(gone) + sum(one.verified and not one.returns for one in spans)
        self.arm = _spread((one.returned_ns, one.issued_ns) for one in spans if one.opened)
        self.prove = _spread((at_ns, one.issued_ns) for one, at_ns in held)
        undone = (
            (at_ns, one.ended_ns if one.undo_issued_ns is None else one.undo_issued_ns)
            for one, at_ns in gone
        )
        self.go = _spread((at_ns, since) for at_ns, since in undone if since is not None)
        self.rows = tuple(sorted(rows, key=lambda row: row.window.tone == "pass"))


class FaultsView:
    """All windows of a report, the kinds with doubts first. `runs_without`: runs without a window
    that can be shown."""

    def __init__(self, report: Report, views: Iterable[CellView]) -> None:
        numbers = {view.cell: (view.number, view.label) for view in views}
        rows = [
            WindowRow(run.name, f"run-{place}", *numbers[run.cell], one)
            for place, run in enumerate(report.runs, start=1)
            for one in windows(run.detail.timeline if run.detail else None)
        ]
        doubted = [row for row in rows if row.window.tone != "pass"]
        kinds = by_key(rows, lambda row: (row.window.span.kind, row.window.span.mechanism))
        groups = [FaultGroup(*key, members) for key, members in kinds.items()]
        groups.sort(key=lambda one: (one.rows[0].window.tone == "pass", one.kind, one.mechanism))
        self.windows, self.proved = len(rows), len(rows) - len(doubted)
        self.by_proxy = any(one.mechanism in PROXIES for one in groups)
        self.groups, self.doubted = tuple(groups), tuple(doubted[:DOUBTED_MAX])
        self.doubted_left_out = max(0, len(doubted) - DOUBTED_MAX)
        self.runs_without = sum(run.detail is None for run in report.runs)


def windows(timeline: Timeline | None) -> tuple[WindowView, ...]:
    """Return the windows of one run; none if its timeline is not known."""
    return () if timeline is None else tuple(WindowView(one, timeline) for one in timeline.faults)


def _badge(span: FaultSpan) -> tuple[str, str]:
    if span.verified:
        return "pass", "✓ VERIFIED"
    if not span.opened:
        return "open", "? NEVER BEGAN"
    held = span.held is not None and span.held.ok
    return "open", "? END NOT VERIFIED" if held else "? NOT VERIFIED"


def beginning(span: FaultSpan, timeline: Timeline) -> Beginning:
    """`timeline`: of the run. The text is "" if the plan does not contain the fault."""
    from_ns = span.requested_from_ns
    if from_ns is None:
        return Beginning("", None)
    at = formats.after(from_ns)
    waits = [*_waits(span, from_ns, timeline)]
    if not waits:
        return Beginning(f"from {at}", from_ns)
    unknown = [one for one in waits if one.at_ns is None]
    if unknown:
        text = f"from the later of {at} and the time when {unknown[-1].text}"
        return Beginning(text, None, of_several=True)
    last = max(waits, key=lambda one: one.at_ns or 0)
    if last.at_ns is None or last.at_ns <= from_ns:
        return Beginning(f"from {at}", from_ns)
    text = f"from the later of {at} and {formats.after(last.at_ns)} ({last.text})"
    return Beginning(text, last.at_ns, of_several=True)


def _waits(span: FaultSpan, from_ns: int, timeline: Timeline) -> Iterator[Beginning]:
    for one in timeline.faults:
        until_ns, gone, over = one.requested_until_ns, one.gone, "was over"
        if one.number >= span.number or until_ns is None or until_ns > from_ns or not one.opened:
            continue
        if gone is not None:
            over = "was verified ended" if gone.ok else "was checked for its end"
        at_ns = gone.at_ns if gone is not None else None
        yield _wait(f"fault {one.number} {over}", at_ns, from_ns - until_ns)
    for step in timeline.operations:
        if step.requested_ns is not None and step.requested_ns < from_ns:
            over = f"operation {step.number} had returned"
            yield _wait(over, step.returned_ns, from_ns - step.requested_ns)


def _wait(over: str, at_ns: int | None, pause_ns: int) -> Beginning:
    if at_ns is None:
        return Beginning(over, None)
    pause = f"{formats.seconds(pause_ns / NS)} after " if pause_ns else ""
    return Beginning(f"{pause}{over}", at_ns + pause_ns)


def _request_text(span: FaultSpan, begins: Beginning) -> str:
    if span.requested_from_ns is None or span.requested_until_ns is None:
        return "the plan does not contain it"
    lasts = _between(span.requested_from_ns, span.requested_until_ns)
    links = affects_links(span.kind)
    options = [one.replace("clients: ", "links of ") if links else one for one in span.options]
    never = [] if span.returns else ["never to be undone"]
    comma = "," if begins.of_several else ""
    return ", ".join([f"{begins.text}{comma} for {lasts}", *options, *never])


def _armed(span: FaultSpan, begins: Beginning) -> str:
    if not span.opened:
        return span.doubt or "no"
    way = _MECHANISMS.get(span.mechanism, f"through the {span.mechanism.replace('_', ' ')}")
    by = f", {way}" if span.mechanism else ""
    late = ""
    if begins.at_ns is not None:
        late = f" ({_between(begins.at_ns, span.issued_ns)} after the requested time)"
    took = _between(span.issued_ns, span.returned_ns)
    until = formats.after(span.returned_ns)
    return f"from {formats.after(span.issued_ns)}{late} to {until} (the action took {took}){by}"


def _undone(span: FaultSpan) -> str:
    if not span.opened:
        return "there was nothing to undo"
    if not span.returns:
        return "never, as requested"
    if span.ended_ns is None:
        return "no"
    ended, stood = formats.after(span.ended_ns), _between(span.issued_ns, span.ended_ns)
    if span.undo_issued_ns is None:
        return f"{stood} after the injection, at {ended}"
    began, took = formats.after(span.undo_issued_ns), _between(span.undo_issued_ns, span.ended_ns)
    return f"{stood} after the injection, at {ended} (the undo began at {began} and took {took})"


def _look(look: Verification | None, span: FaultSpan) -> str:
    if look is None:
        return f"no: {span.doubt}" if span.doubt and span.opened else "not verified"
    at = f"{_between(span.issued_ns, look.at_ns)} after the injection began"
    took = ""
    if look.began_ns is not None:
        took = f" (the check took {_between(look.began_ns, look.at_ns)})"
    return f"{'yes' if look.ok else 'no'}, {at}{took}: {look.detail or span.doubt}"


def _between(from_ns: int, until_ns: int) -> str:
    seconds = (until_ns - from_ns) / NS
    return "less than 0.001 s" if 0 < seconds < 0.0005 else formats.seconds(seconds)


def _spread(pairs: Iterable[tuple[int, int]]) -> str:
    """`0.016 s (0.010 s – 0.027 s)`: the median of later minus earlier, and the range."""
    times_s = sorted((later - earlier) / NS for later, earlier in pairs)
    if not times_s:
        return "–"
    middle = formats.seconds(median(times_s))
    least, most = formats.seconds(times_s[0]), formats.seconds(times_s[-1])
    return middle if least == most else f"{middle} ({least} – {most})"
