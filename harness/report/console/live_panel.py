"""A run on a terminal while it goes on: how far it is, what it does, and what was on time.

1. Each drawing uses the terminal's current width and height.
2. The most important rows come first: a low terminal shows only the newest seconds.
"""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from harness.report.console.strip_rows import ASCII, BLOCKS, Signs, legend, rows
from harness.report.display import LiveView
from harness.report.page.formats import phase_title
from harness.run.progress import Part

WIDEST = 100  # columns of the bar
ROWS_MAX = 4
HEAD = 9  # lines beside the rows of seconds
LINES_A_ROW = 2  # with a fault below it


class LivePanel:
    """One look at a run, for rich."""

    def __init__(self, view: LiveView) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view, width = self._view, options.max_width
        signs = ASCII if options.ascii_only else BLOCKS
        yield _line(f"run {view.place}: {view.run}" if view.place else f"run {view.run}", "bold")
        if len(view.parts) < width:
            yield from bar(view.parts, view.phase, min(width, WIDEST), signs)
        yield _line(_phase_words(view))
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


def _phase_words(view: LiveView) -> str:
    names = [part.phase for part in view.parts]
    place = f" ({names.index(view.phase) + 1} of {len(names)})" if view.phase in names else ""
    return f"{phase_title(view.phase)}{place}{what_next(view)}"


def what_next(view: LiveView) -> str:
    """What is waited for; else how long the plan still lasts, at least."""
    if view.waits:
        return f", {'; '.join(view.waits)}"
    return f", at least {view.left_s:.0f} s left" if view.left_s > 0 else ""


def _rates(view: LiveView) -> str:
    success = "-" if view.success_ratio is None else f"{view.success_ratio:.1%}"
    return (
        f"sent {view.sent_per_s:,.0f}/s, confirmed {view.confirmed_per_s:,.0f}/s ({success}), "
        f"delivered {view.delivered_per_s:,.0f}/s, unconfirmed {view.outstanding:,}"
    )


def _line(text: str, style: str = "") -> Text:
    """One line, cut off where the terminal ends."""
    return Text(text, style, no_wrap=True, overflow="ellipsis")
