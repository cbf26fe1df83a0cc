"""The curves of what brokers used: memory, and bytes written to disk, a line for each host."""

from collections.abc import Callable, Iterable, Sequence

from harness.report.charts.plots import Plot
from harness.report.charts.scale import Scale
from harness.report.page.costs import as_bytes
from harness.view.timeline import Timeline
from harness.view.use import HostHistory, UseOfSlice

TONES = ("host1", "host2", "host3", "host4", "host5", "host6")  # style.css; used again in turn
Value = Callable[[UseOfSlice], float | None]


def use_plots(timeline: Timeline, scale: Scale) -> Iterable[Plot]:
    """Yield the diagrams of what is known."""
    hosts, slice_s = timeline.use.hosts, timeline.slice_s
    found = (
        ("memory of brokers", "the largest sample of each slice", lambda one: one.memory_bytes),
        ("written to disk, a second", "by each host's brokers", lambda one: one.written_per_s),
    )
    for name, meaning, value in found:
        yield from _plot(name, meaning, hosts, slice_s, scale, value)


def _plot(
    name: str,
    meaning: str,
    hosts: Sequence[HostHistory],
    slice_s: int,
    scale: Scale,
    value: Value,
) -> Iterable[Plot]:
    values = [value(one) for host in hosts for one in host.slices]
    top = max((each for each in values if each is not None), default=0)
    if not top:
        return
    lines = tuple(
        (TONES[number % len(TONES)], host.host, _line(host, slice_s, scale, value, top))
        for number, host in enumerate(hosts)
    )
    yield Plot(name, meaning, lines, as_bytes(top), (), "0")


def _line(host: HostHistory, slice_s: int, scale: Scale, value: Value, top: float) -> str:
    """A stepped line, broken where nothing is known or no sample came."""
    parts, ended = [], None
    for one in host.slices:
        known = value(one)
        if known is None or not scale.from_s <= one.from_s < scale.until_s:
            ended = None
            continue
        left, right = scale.place(one.from_s) * 10, scale.place(one.from_s + slice_s) * 10
        y = f"{100 - 100 * known / top:.1f}"
        parts.append(
            f"V{y}H{right:.1f}" if ended == one.from_s else f"M{left:.1f} {y}H{right:.1f}"
        )
        ended = one.from_s + slice_s
    return "".join(parts)
