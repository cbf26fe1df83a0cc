"""The share on time by second as rows of signs, one a second, with the faults below it.

1. Every sign reads without its colour. Nothing due is neither good nor bad, and looks so.
2. Rows begin at tens where there is room for ten, and hold the newest seconds that fit.
3. Faults that overlap lie on lanes of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.text import Text

from harness.run.strip import SECOND_NS, Share, Spell, Strip

LABEL = 7  # columns of "  70 s "
LABELLED_FROM = 20  # columns; a narrower terminal has none to spare


@dataclass(frozen=True, slots=True)
class Signs:
    """What a terminal can show. `some`: from hardly any on time to hardly any missing."""

    every: str
    some: str
    none: str
    idle: str
    pending: str
    untold: str
    begins: str
    goes_on: str
    done: str
    to_do: str


BLOCKS = Signs("█", "▁▂▃▄▅▆▇", "×", "·", "░", "?", "▲", "━", "━", "╌")
ASCII = Signs("#", "123456789", "x", ".", "~", "?", "^", "=", "=", "-")

Cell = tuple[str, str]  # sign and style
_EMPTY: Cell = (" ", "")


def rows(strip: Strip, width: int, most: int, signs: Signs) -> list[Text]:
    """At most so many rows of seconds, each with the faults that touch it."""
    labelled = width >= LABELLED_FROM
    room = max(1, width - LABEL if labelled else width)
    step = 10 if room >= 10 else 1
    length = room // step * step
    cells = [_cell(share, signs) for share in strip.known]
    cells += [(signs.pending, "dim")] * strip.pending
    lanes = _lanes(strip, len(cells), signs)

    def label(start: int) -> str:
        return f"{strip.left_out + start:>4} s " if labelled else ""

    too_many = max(0, len(cells) - most * length)
    return [
        line
        for start in range(-(-too_many // step) * step, len(cells), length)
        for line in _row(cells, lanes, range(start, start + length), label(start))
    ]


def legend(signs: Signs) -> Text:
    """What the signs mean; it may be wrapped."""
    some = f"{signs.some[0]}-{signs.some[-1]}"
    meanings = (
        (signs.every, "green", "all on time"),
        (some, "yellow", "some"),
        (signs.none, "bold red", "none"),
        (signs.idle, "dim", "nothing due"),
        (signs.pending, "dim", "not known yet"),
        (signs.begins + signs.goes_on, "magenta", "fault"),
    )
    parts = [part for sign, style, word in meanings for part in ((sign, style), f" {word}  ")]
    text = Text.assemble(*parts)
    text.rstrip()
    return text


def _cell(share: Share | None, signs: Signs) -> Cell:
    if share is None:
        return signs.untold, "yellow"
    if not share.due:
        return signs.idle, "dim"
    if share.on_time >= share.due:
        return signs.every, "green"
    if not share.on_time:
        return signs.none, "bold red"
    return signs.some[share.on_time * len(signs.some) // share.due], "yellow"


def _lanes(strip: Strip, length: int, signs: Signs) -> list[dict[int, Cell]]:
    """The faults by the places of their seconds: each on the first lane that is free there."""
    lanes: list[dict[int, Cell]] = []
    for fault in sorted(strip.faults, key=lambda one: one.from_ns):
        places = _places(fault, strip.first, length)
        if not places:
            continue
        lane = next((one for one in lanes if places[0] not in one), None)
        if lane is None:
            lane = {}
            lanes.append(lane)
        lane.update((place, (signs.goes_on, "magenta")) for place in places)
        lane[places[0]] = signs.begins, "bold magenta"
    return lanes


def _places(fault: Spell, first: int, length: int) -> range:
    begins = max(0, fault.from_ns // SECOND_NS - first)
    if fault.until_ns is None:
        return range(begins, length)
    ends = max(fault.from_ns, fault.until_ns - 1) // SECOND_NS - first
    return range(begins, min(length, ends + 1))


def _row(
    cells: Sequence[Cell], lanes: Sequence[Mapping[int, Cell]], places: range, label: str
) -> Iterator[Text]:
    yield _line(label, cells[places.start : places.stop])
    for lane in lanes:
        if any(place in lane for place in places):
            yield _line(" " * len(label), [lane.get(place, _EMPTY) for place in places])


def _style(cell: Cell) -> str:
    return cell[1]


def _line(label: str, cells: Sequence[Cell]) -> Text:
    runs = ((style, "".join(sign for sign, _ in same)) for style, same in groupby(cells, _style))
    parts = ((signs, style) for style, signs in runs)
    line = Text.assemble((label, "dim"), *parts, no_wrap=True, overflow="crop")
    line.rstrip()
    return line
