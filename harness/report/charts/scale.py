"""The time axis of a drawing: instants and stretches as per cent of its width.

1. What lies outside stands at the edge; nothing is drawn beyond it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the time axis. `tone` says what it is."""

    left: float
    width: float
    tone: str
    text: str
    title: str = ""

    @property
    def flips(self) -> bool:
        """Whether words beside it have more room on its left."""
        return self.left + self.width > 55


@dataclass(frozen=True, slots=True)
class Lane:
    """One row of marks with its name."""

    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class AxisTick:
    place: float
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    from_s: float
    until_s: float

    def place(self, at_s: float) -> float:
        """Per cent of the width; what lies outside stands at the edge."""
        share = (at_s - self.from_s) / (self.until_s - self.from_s)
        return round(100 * min(1.0, max(0.0, share)), 2)

    def span(self, from_s: float, until_s: float, tone: str, text: str, title: str = "") -> Span:
        left = self.place(from_s)
        return Span(left, round(self.place(until_s) - left, 2), tone, text, title)
