"""A run on a terminal while it goes on: how far it is, what it does, and what was on time.

1. Each drawing uses the terminal's current width and height.
2. The most important rows come first: a low terminal shows only the newest seconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from harness.report.page.formats import phase_title
from harness.run.core.progress import Part
from harness.run.core.strip import SECOND_NS, Share, Spell, Strip
from harness.run.core.view import LiveCounts

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
    unknown: str
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
        return signs.unknown, "yellow"
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
    yield _seconds_line(label, cells[places.start : places.stop])
    for lane in lanes:
        if any(place in lane for place in places):
            yield _seconds_line(" " * len(label), [lane.get(place, _EMPTY) for place in places])


def _seconds_line(label: str, cells: Sequence[Cell]) -> Text:
    runs = groupby(cells, key=lambda cell: cell[1])
    parts = (("".join(sign for sign, _ in same), style) for style, same in runs)
    line = Text.assemble((label, "dim"), *parts, no_wrap=True, overflow="crop")
    line.rstrip()
    return line


WIDEST = 100  # columns of the bar
ROWS_MAX = 4
HEAD = 9  # lines beside the rows of seconds
LINES_A_ROW = 2  # with a fault below it


class LivePanel:
    def __init__(self, view: LiveCounts) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view, width = self._view, options.max_width
        signs = ASCII if options.ascii_only else BLOCKS
        yield _line(f"run {view.place}: {view.run}" if view.place else f"run {view.run}", "bold")
        if len(view.parts) < width:
            yield from bar(view.parts, view.phase, min(width, WIDEST), signs)
        names = [part.phase for part in view.parts]
        place = f" ({names.index(view.phase) + 1} of {len(names)})" if view.phase in names else ""
        yield _line(f"{phase_title(view.phase)}{place}{what_next(view)}")
        yield _line(f"fault: {', '.join(view.armed) or 'none'}", "red" if view.armed else "dim")
        yield Text(_rates(view))
        if view.strip is not None:
            most = (console.size.height - HEAD) // LINES_A_ROW
            yield _line("share on time by second:", "dim")
            yield from rows(view.strip, width, min(ROWS_MAX, max(1, most)), signs)
            yield legend(signs)


def bar(parts: Sequence[Part], phase: str, width: int, signs: Signs) -> Iterator[Text]:
    """One bar over the phases, as long as they take, and below it the names that have room."""
    if not parts:
        return
    lengths = _lengths(parts, width - len(parts) + 1)
    line, names = Text(no_wrap=True), Text(no_wrap=True)
    for part, length in zip(parts, lengths, strict=True):
        done = int(length * part.done)
        line.append(signs.done * done, "green").append(signs.to_do * (length - done), "dim")
        title = phase_title(part.phase)
        name = title if len(title) <= length else ""
        names.append(name.ljust(length), "bold" if part.phase == phase else "dim")
        line.append(" ")
        names.append(" ")
    for text in (line, names):
        text.rstrip()
        yield text


def _lengths(parts: Sequence[Part], room: int) -> list[int]:
    """In columns: at least one each, and together at most `room`."""
    whole_s = sum(part.expected_s for part in parts)
    free = room - len(parts)
    return [1 + int(free * part.expected_s / whole_s) if whole_s else 1 for part in parts]


def what_next(view: LiveCounts) -> str:
    """What is waited for; else how long the plan still lasts, at least."""
    if view.waits:
        return f", {'; '.join(view.waits)}"
    undo = " and the time to undo faults" if view.awaits_undo else ""
    return f", at least {view.left_s:.0f} s left{undo}" if view.left_s > 0 else ""


def _rates(view: LiveCounts) -> str:
    rates = view.rates
    parts = [view.sends] if view.sends else []
    parts += [f"confirmed {rates.confirmed:,.0f}/s", view.deliveries] if rates else []
    return ", ".join([*parts, *view.counts])


def _line(text: str, style: str = "") -> Text:
    """One line, cut off where the terminal ends."""
    return Text(text, style, no_wrap=True, overflow="ellipsis")
