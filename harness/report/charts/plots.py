"""The curves of a timeline: success, rates and latency, as paths in a box of 1000 x 100.

1. Success and rates are drawn from 0, latencies on a logarithmic scale from one power of 10 to
   another.
2. Only what was measured is drawn: at rate `max` there is no success, without confirms no latency.
3. What was late in the slice of a fault is drawn after the fault if the records allow it.
4. Peaks of a rate far above the load that was due are cut off, and said in words.
5. What brokers used (memory, and bytes written to disk) has a line for each host.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from harness.report.charts.scale import AxisTick, Scale
from harness.report.page import formats
from harness.view.costs import UseOfSlice
from harness.view.timeline import Slice, Timeline

PEAK = 3  # times the load that was due: what is above it is cut off
TONES = ("host1", "host2", "host3", "host4", "host5", "host6")  # style.css; used again in turn
Value = Callable[[UseOfSlice], float | None]


class Plot(NamedTuple):
    """One curve diagram: areas and lines in a box of 1000 x 100, top left is 0, 0."""

    name: str
    meaning: str
    lines: tuple[tuple[str, str, str], ...]  # tone, name, path
    top: str
    middle: tuple[AxisTick, ...]  # labelled heights between top and bottom
    bottom: str


def plots(timeline: Timeline, scale: Scale) -> Iterable[Plot]:
    slices, slice_s = timeline.slices, timeline.slice_s
    if any(one.operations for one in slices):
        rate = "messages confirmed within their deadline, of those that were due"
        lines = (
            ("good", "on time", _columns(slices, slice_s, scale, late=False)),
            ("bad", "late", _columns(slices, slice_s, scale, late=True)),
        )
        yield Plot("on time", rate, lines, "100 %", (), "0 %")
    of_rates = ("delivered", timeline.delivered), ("confirmed", "confirmed")
    rates = {tone: [getattr(one, tone) / slice_s for one in slices] for tone, _ in of_rates}
    if any(map(any, rates.values())):
        top = _top_rate(timeline, rates.values())
        curves = []
        for tone, name in of_rates:
            peak = max(rates[tone])
            name = f"{name}, up to {peak:,.0f}" if peak > top else name
            shares = (
                (one.from_s, min(1.0, rate / top))
                for one, rate in zip(slices, rates[tone], strict=True)
            )
            curves.append((tone, name, _line(shares, slice_s, scale)))
        yield Plot("messages a second", "", tuple(curves), f"{top:,.0f}", (), "0")
    yield from _latency(timeline, scale)
    for name, meaning, value in _OF_HOSTS:
        yield from _use(name, meaning, timeline, scale, value)


def _top_rate(timeline: Timeline, rates: Iterable[Sequence[float]]) -> float:
    """Return the top of the axis: a short peak does not flatten the load that was due."""
    peak = max(map(max, rates))
    due = max(one.operations for one in timeline.slices) / timeline.slice_s
    return min(peak, PEAK * due) if due else peak


def _latency(timeline: Timeline, scale: Scale) -> Iterable[Plot]:
    slices = timeline.slices
    found = [ms for one in slices for ms in (one.p50_ms, one.p99_ms) if ms is not None]
    if not found:
        return
    low = math.floor(math.log10(max(min(found), 0.001)))
    high = max(low + 1, math.ceil(math.log10(max(max(found), 0.001))))

    def line(latency: Callable[[Slice], float | None]) -> str:
        known = ((one.from_s, ms) for one in slices if (ms := latency(one)) is not None)
        shares = ((at_s, (math.log10(max(ms, 0.001)) - low) / (high - low)) for at_s, ms in known)
        return _line(shares, timeline.slice_s, scale)

    p50, p99 = line(lambda one: one.p50_ms), line(lambda one: one.p99_ms)
    yield Plot(
        "latency of a confirm",
        "from the due time, logarithmic, nearest rank",
        (("p99", "99 % within", p99), ("p50", "half within", p50)),
        _power(high),
        tuple(
            AxisTick(round(100 * (high - power) / (high - low), 1), _power(power))
            for power in range(low + 1, high)
        ),
        _power(low),
    )


def _power(power: int) -> str:
    return f"{10.0 ** (power - 3):g} s" if power >= 3 else f"{10.0**power:g} ms"


_OF_HOSTS: tuple[tuple[str, str, Value], ...] = (
    ("memory of brokers", "the largest sample of each slice", lambda one: one.memory_bytes),
    ("written to disk, a second", "by each host's brokers", lambda one: one.written_per_s),
)


def _use(
    name: str, meaning: str, timeline: Timeline, scale: Scale, value: Value
) -> Iterable[Plot]:
    hosts, lines = timeline.use.hosts, []
    values = [value(one) for host in hosts for one in host.slices]
    top = max((each for each in values if each is not None), default=0)
    for number, host in enumerate(hosts if top else ()):
        inside = (one for one in host.slices if scale.from_s <= one.from_s < scale.until_s)
        shares = ((one.from_s, used / top) for one in inside if (used := value(one)) is not None)
        path = _line(shares, timeline.slice_s, scale)
        lines.append((TONES[number % len(TONES)], host.host, path))
    if top:
        yield Plot(name, meaning, tuple(lines), formats.octets(top), (), "0")


def _columns(slices: Sequence[Slice], slice_s: int, scale: Scale, late: bool) -> str:
    """A column a slice: what was on time from the bottom up, what was late from the top down."""
    parts = []
    for one in slices:
        for from_s, until_s, share in late_shares(one, slice_s):
            if share or not late:
                left, right = scale.place(from_s) * 10, scale.place(until_s) * 10
                height, end = 100 * share, 0 if late else 100
                parts.append(f"M{left:.1f} {end}V{height:.1f}H{right:.1f}V{end}Z")
    return "".join(parts)


def late_shares(one: Slice, slice_s: int) -> Iterable[tuple[float, float, float]]:
    """Yield stretches of a slice with their shares of late messages.

    Nothing looks late before a fault if no message due then was: the same area comes after it.
    """
    if not one.operations:
        return
    until_s, share = one.from_s + slice_s, one.missed / one.operations
    if one.late_from_s is None or not one.missed:
        yield one.from_s, until_s, share
        return
    yield one.from_s, one.late_from_s, 0.0
    yield one.late_from_s, until_s, late_share(one, slice_s)


def late_share(one: Slice, slice_s: int) -> float:
    """Return the share of late messages since the first late one, as if spread evenly."""
    left_s = slice_s if one.late_from_s is None else one.from_s + slice_s - one.late_from_s
    return min(1.0, one.missed / one.operations * slice_s / left_s)


def _line(shares: Iterable[tuple[float, float]], slice_s: int, scale: Scale) -> str:
    """A stepped line through the slices that are known, broken between others."""
    parts, ended_s = [], math.nan
    for from_s, share in shares:
        left, right = scale.columns(from_s, slice_s)
        y = f"{100 - 100 * share:.1f}"
        parts.append(f"V{y}H{right:.1f}" if ended_s == from_s else f"M{left:.1f} {y}H{right:.1f}")
        ended_s = from_s + slice_s
    return "".join(parts)
