"""Lanes along time as an image of its own, for pages that have no style of ours.

1. No script, no link, no font to be fetched: it shows wherever an image does, on white.
2. What runs were called is escaped; a text that has no room in its stretch is its title alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape

from harness.report.charts.scale import AxisTick, Lane, Span

Block = tuple[str, Sequence[Lane]]  # a heading, and what stands below it

_WIDTH, _GUTTER, _EDGE = 1340, 490, 12
_ROW, _HEADING, _TITLE = 17, 24, 30
_LETTER = 6.2  # as wide as one is, about
_FONT = "font-family='system-ui, sans-serif' font-size='11'"
_PLAIN = ("#e5e7eb", "#1f2937")
_TONES = {  # what lies behind, and letters
    "held": ("#374151", "#ffffff"),
    "shown": ("#d7f0dd", "#14532d"),
    "well": ("#d7f0dd", "#14532d"),
    "said": ("#d7f0dd", "#14532d"),
    "dropped": ("#b42318", "#ffffff"),
    "failing": ("#b42318", "#ffffff"),
    "silent": ("#d1d5db", "#374151"),
}


def image(title: str, blocks: Sequence[Block], ticks: Sequence[AxisTick]) -> str:
    """An SVG document; `blocks` come one below the other, the times below them all."""
    blocks = [(heading, lanes) for heading, lanes in blocks if lanes]
    height = _TITLE + sum(_HEADING + _ROW * len(lanes) for _, lanes in blocks) + _HEADING
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' {_FONT}>",
            f"<title>{escape(title)}</title>",
            f"<rect width='{_WIDTH}' height='{height}' fill='#ffffff'/>",
            f"<text x='{_EDGE}' y='20' font-size='14' font-weight='600'>{escape(title)}</text>",
            *_grid(ticks, height),
            *_blocks(blocks),
            "</svg>",
            "",
        ]
    )


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    y = _TITLE
    for heading, lanes in blocks:
        yield f"<text x='{_EDGE}' y='{y + 16}' font-weight='600'>{escape(heading)}</text>"
        y += _HEADING
        for lane in lanes:
            yield f"<text x='{_EDGE}' y='{y + 12}' fill='#374151'>{escape(lane.name)}</text>"
            yield from (_stretch(span, y) for span in lane.spans)
            y += _ROW


def _grid(ticks: Iterable[AxisTick], height: int) -> Iterator[str]:
    for tick in ticks:
        x = _x(tick.place)
        yield f"<line x1='{x}' x2='{x}' y1='{_TITLE}' y2='{height - 20}' stroke='#e5e7eb'/>"
        yield f"<text x='{x}' y='{height - 7}' fill='#6b7280'>{escape(tick.text)}</text>"


def _stretch(span: Span, y: int) -> str:
    left = _x(span.left)
    width = max(1.0, round(_x(span.left + span.width) - left, 1))
    behind, letters = _TONES.get(span.tone, _PLAIN)
    title = escape(span.title or span.text)
    size = f"width='{width}' height='{_ROW - 3}'"
    box = f"<rect x='{left}' y='{y + 1}' {size} fill='{behind}'><title>{title}</title></rect>"
    if not span.text or len(span.text) * _LETTER + 6 > width:
        return box
    at = f"x='{left + 3}' y='{y + 12}' fill='{letters}'"
    return f"{box}<text {at}>{escape(span.text)}</text>"


def _x(place: float) -> float:
    """Of a place in per cent of the time axis."""
    return round(_GUTTER + (_WIDTH - _GUTTER - _EDGE) * place / 100, 1)
