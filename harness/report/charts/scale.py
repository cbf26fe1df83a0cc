"""The time axis of a drawing: instants and stretches as per cent of its width.

1. What lies outside stands at the edge; nothing is drawn beyond it. Rows of routes leave it out.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.view.routes import RouteRow

NS = 1e9
TICKS_MAX = 7
LETTER = 0.75  # per cent of the width
_ROUND = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)


class Span(NamedTuple):
    """A stretch of the time axis. `tone` says what it is."""

    left: float
    width: float
    tone: str
    text: str
    title: str = ""

    @property
    def fits(self) -> bool:
        """Return whether the words have room in it, on a screen of usual width."""
        return self.width > LETTER * len(self.text)

    @property
    def side(self) -> str:
        """Return where words have the most room: "" on its right, `flips` on its left; `covered`
        if they have none beside it."""
        right = 100 - self.left - self.width
        if max(self.left, right) < LETTER * len(self.text):
            return "covered"
        return "flips" if self.left > right else ""


class Lane(NamedTuple):
    """One row of marks with its name."""

    name: str
    spans: tuple[Span, ...]


class AxisTick(NamedTuple):
    place: float
    text: str


class Scale(NamedTuple):
    from_s: float
    until_s: float

    def place(self, at_s: float) -> float:
        """Per cent of the width; what lies outside stands at the edge."""
        share = (at_s - self.from_s) / (self.until_s - self.from_s)
        return round(100 * min(1.0, max(0.0, share)), 2)

    def span(self, from_s: float, until_s: float, tone: str, text: str, title: str = "") -> Span:
        left = self.place(from_s)
        return Span(left, round(self.place(until_s) - left, 2), tone, text, title)

    def columns(self, from_s: float, length_s: float) -> tuple[float, float]:
        """Left and right in a box of 1000."""
        return self.place(from_s) * 10, self.place(from_s + length_s) * 10

    def lanes(self, rows: Iterable[RouteRow]) -> Iterator[Lane]:
        """What name servers showed, whom clients asked, and what they believed. What a silent name
        server would have shown is unknown, and looks like it; drainers come after the load."""
        for row in rows:
            spans = tuple(
                self.span(one.from_ns / NS, one.until_ns / NS, one.state, one.text, one.title)
                for one in row.stretches
                if one.from_ns / NS < self.until_s and one.until_ns / NS > self.from_s
            )
            if spans:
                yield Lane(row.name, spans)


def ticks(scale: Scale, most: int = TICKS_MAX) -> Iterable[AxisTick]:
    """Round times, so many at most."""
    span_s = scale.until_s - scale.from_s
    step = next((one for one in _ROUND if span_s / one <= most), span_s)
    number = math.ceil(scale.from_s / step)
    while number * step <= scale.until_s - span_s / 25:  # room for the last one's letters
        yield AxisTick(scale.place(number * step), f"+{_clock(number * step)}")
        number += 1


def _clock(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min"
