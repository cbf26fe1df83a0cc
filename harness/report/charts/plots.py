"""The curves of a timeline: success, rates and latency, as paths in a box of 1000 x 100.

1. Success and rates are drawn from 0, latencies on a logarithmic scale from one power of 10 to
   another.
2. Only what was measured is drawn: at rate `max` there is no success, without confirms no latency.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.report.charts.scale import AxisTick, Scale
from harness.view.timeline import Slice, Timeline


@dataclass(frozen=True, slots=True)
class Plot:
    """One curve diagram: areas and lines in a box of 1000 x 100, top left is 0, 0."""

    name: str
    meaning: str
    lines: tuple[tuple[str, str, str], ...]  # tone, name, path
    top: str
    middle: tuple[AxisTick, ...]  # labelled heights between top and bottom
    bottom: str


def plots(timeline: Timeline, scale: Scale) -> Iterable[Plot]:
    """The diagrams from top to bottom."""
    slices, slice_s = timeline.slices, timeline.slice_s
    if any(one.operations for one in slices):
        rate = "publishes confirmed within their deadline, of those that were due"
        lines = (
            ("good", "on time", _columns(slices, slice_s, scale, late=False)),
            ("bad", "late", _columns(slices, slice_s, scale, late=True)),
        )
        yield Plot("on time", rate, lines, "100 %", (), "0 %")
    top = max((max(one.confirmed, one.delivered) for one in slices), default=0) / slice_s
    if top:
        delivered = _curve(slices, slice_s, scale, lambda one: one.delivered / slice_s / top)
        confirmed = _curve(slices, slice_s, scale, lambda one: one.confirmed / slice_s / top)
        lines = (("delivered", "delivered", delivered), ("confirmed", "confirmed", confirmed))
        yield Plot("messages a second", "", lines, f"{top:,.0f}", (), "0")
    yield from _latency(timeline, scale)


def _latency(timeline: Timeline, scale: Scale) -> Iterable[Plot]:
    slices = timeline.slices
    found = [ms for one in slices for ms in (one.p50_ms, one.p99_ms) if ms is not None]
    if not found:
        return
    low = math.floor(math.log10(max(min(found), 0.001)))
    high = max(low + 1, math.ceil(math.log10(max(max(found), 0.001))))

    def height(ms: float | None) -> float | None:
        return None if ms is None else (math.log10(max(ms, 0.001)) - low) / (high - low)

    p50 = _curve(slices, timeline.slice_s, scale, lambda one: height(one.p50_ms))
    p99 = _curve(slices, timeline.slice_s, scale, lambda one: height(one.p99_ms))
    yield Plot(
        "latency of a confirm",
        "from the intended time, logarithmic, nearest rank",
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


def _columns(slices: Sequence[Slice], slice_s: int, scale: Scale, late: bool) -> str:
    """A column a slice: what was on time from the bottom up, what was late from the top down."""
    parts = []
    for one in slices:
        if not one.operations or (late and not one.missed):
            continue
        left, right = scale.place(one.from_s) * 10, scale.place(one.from_s + slice_s) * 10
        height, end = 100 * one.missed / one.operations, 0 if late else 100
        parts.append(f"M{left:.1f} {end}V{height:.1f}H{right:.1f}V{end}Z")
    return "".join(parts)


def _curve(
    slices: Sequence[Slice],
    slice_s: int,
    scale: Scale,
    value: Callable[[Slice], float | None],
) -> str:
    """A stepped line through the slices, broken where there is no value."""
    parts = []
    pen_down = False
    for one in slices:
        share = value(one)
        if share is None:
            pen_down = False
            continue
        left, right = scale.place(one.from_s) * 10, scale.place(one.from_s + slice_s) * 10
        y = f"{100 - 100 * share:.1f}"
        parts.append(f"V{y}H{right:.1f}" if pen_down else f"M{left:.1f} {y}H{right:.1f}")
        pen_down = True
    return "".join(parts)
