"""What the demo showed, as a table for somebody who is new here, and where to go from there."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from harness.judging.exits import Exit
from harness.judging.result import Report
from harness.report.page.cells import cells
from harness.report.page.places import places

_RATES = {  # words of compare.rates, and what they mean
    "95 % CI": "with 95 % confidence, the share of all such runs that lose a message (not: the "
    "share of messages) lies in this interval",
    "95 % one-sided bound": "none of these runs lost a message; with 95 % confidence, at most "
    "this share of all such runs loses one",
}

_COLOURS = {"fail": "[bold red]", "pass": "[green]", "open": "[yellow]"}


def table(report: Report) -> RenderableType:
    """Return a table of faults, layouts and results, in sentences. Layouts have the letters of the
    report."""
    views, letters = cells(report), {place.key: place.letter for place in places(report)}
    shown = Table(
        title="What the demo showed",
        show_lines=True,
        title_justify="left",
        caption=_explained([view.sentence for view in views]),
        caption_justify="left",
    )
    shown.add_column("fault", ratio=3)
    shown.add_column("layout", ratio=2)
    shown.add_column("result", ratio=4)
    shown.add_column("verdict", max_width=24)
    for view in views:
        shown.add_row(
            escape(view.title.scenario),
            escape(f"{letters[view.cell[1:]]}: {view.cell[2]}: {view.title.layout}"),
            escape(" ".join(filter(None, (view.sentence, view.happened)))),
            f"{_COLOURS.get(view.tone, '[dim]')}{escape(view.badge)}[/]\n{escape(view.standing)}",
        )
    return shown


def last_lines(report: Report, system: str, real: str) -> Iterator[str]:
    """What it means, and where to go from here. `system`: whom it was shown of; `real`: the one
    whose brokers are real."""
    if report.exit_code == 0:
        yield (
            "The demo's results are the expected ones: layout A lost nothing, layout B lost "
            "confirmed messages, and the analysis found the loss."
        )
    elif report.exit_code == Exit.NOT_DECIDED:
        yield "Some claims of the demo could not be judged; the report says which, and why."
        yield "On a busy machine this happens: close other programs, and repeat the demo."
    else:
        yield "The demo's results are not the expected ones."
    own = "mqproof new scenario mine && mqproof run mine.toml --system " + system
    yield f"Write your own scenario: {own}"
    yield f"Test real brokers: mqproof doctor && mqproof run master-crash --system {real}"


def _explained(sentences: Sequence[str]) -> str | None:
    """Return a line for each term that the sentences have; None if they have none."""
    used = [word for word in _RATES if any(word in sentence for sentence in sentences)]
    return "\n".join(f"{word}: {_RATES[word]}." for word in used) or None
