"""What the demo showed, as a table for somebody who is new here, and where to go from there."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from harness.judging.exits import Exit
from harness.judging.result import Report
from harness.report.page.cells import cells
from harness.report.page.places import places

_WORDS = {  # of layouts and results: how each is shown, and what it means
    "@T=": (
        "@T=…",
        "the detection timeout in seconds: a host that is silent for longer counts as dead",
    ),
    "deadline": (
        "deadline",
        "how long after its due time a message may be confirmed and still be on time",
    ),
    "downtime": (
        "downtime",
        "the sum of all outages; in an outage, more than 1 % of the messages are late",
    ),
    "promise": ("promise", "a claim about brokers that must hold in every run"),
    "warning": ("warning", "a claim that predicts harm"),
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
        caption=_explained([f"{view.cell[2]} {view.sentence}" for view in views]),
        caption_justify="left",
    )
    shown.add_column("fault", ratio=3)
    shown.add_column("layout", ratio=2)
    shown.add_column("result", ratio=4)
    shown.add_column("verdict", max_width=24)
    for view in views:
        shown.add_row(
            escape(view.title.scenario),
            escape(f"{letters[view.cell[1:]]}: {view.title.layout} ({view.cell[2]})"),
            escape(" ".join(filter(None, (view.sentence, view.happened)))),
            f"{_COLOURS.get(view.tone, '[dim]')}{escape(view.badge)}[/]\n{escape(view.standing)}",
        )
    return shown


def last_lines(report: Report, system: str, real: str, repeat: str) -> Iterator[str]:
    """What it means, and where to go from here. `system`: whom it was shown of; `real`: the one
    whose brokers are real; `repeat`: the command that repeats one of the runs."""
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
    yield f"Repeat the run on layout B alone: {repeat}"
    own = "mqproof new scenario mine && mqproof run mine.toml --system " + system
    yield f"Write your own scenario: {own}"
    yield f"Test real brokers: mqproof doctor && mqproof run master-crash --system {real}"


def _explained(texts: Sequence[str]) -> str | None:
    """Return a line for each word that the texts have; None if they have none."""
    used = [word for word in _WORDS if any(word in text for text in texts)]
    return "\n".join(f"{_WORDS[word][0]}: {_WORDS[word][1]}." for word in used) or None
