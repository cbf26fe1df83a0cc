"""The demo: three runs that need nothing but Python, and a table for somebody who is new here.

1. The same two deaths on a layout that keeps its promise and on one that does not, and a client
   link that hangs. It is a full experiment: drained, audited, judged by Spark, with a report.
2. It is judged by what is known of these cells: the second layout has to fail, or the demo does.
3. Its scenarios lie apart from the others: they are short, and nobody needs to choose them.
"""

from collections.abc import Iterator
from importlib import resources

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from harness.plan import experiment
from harness.plan.model import Experiment, Scenario
from harness.plan.toml import read_scenario
from harness.report import asking
from harness.report.display import Report
from harness.report.page.cells import CellView, cells

SYSTEM = "reference-mirrored"
DEPLOYMENT = "local"
GOOD, BAD = "all-automatic@T=10", "exactly-2-manual@T=10"
DEATHS, LINK = "demo-unsynchronised-mirror", "demo-client-link-hang"
_FOLDER = "scenarios/demo"


def experiment_of(seed: int, name: str) -> Experiment:
    """Runs that share a cluster stand together: the good layout's first."""
    deaths, link = _scenario(DEATHS), _scenario(LINK)
    good = _plan(seed, name, (deaths, link), GOOD)
    bad = _plan(seed, name, (deaths,), BAD)
    return Experiment(name, seed, (*good.runs, *bad.runs), ())


def replay(seed: int) -> str:
    return f"mqproof demo --seed {seed}"


def table(report: Report) -> RenderableType:
    """What was done, where, and what came out, in sentences."""
    shown = Table(title="What the demo showed", show_lines=True, title_justify="left")
    shown.add_column("what was broken", ratio=3)
    shown.add_column("how the queue is laid out", ratio=2)
    shown.add_column("what came out", ratio=4)
    shown.add_column("verdict", no_wrap=True)
    for view in cells(report):
        shown.add_row(
            escape(view.title.scenario),
            escape(view.title.layout),
            escape(view.sentence),
            f"{_colour(view)}{escape(view.badge)}[/]\n{escape(view.standing)}",
        )
    return shown


def last_lines(report: Report) -> Iterator[str]:
    """What it means, and where to go from here."""
    if report.exit_code == 0:
        yield "The demo did what it should: one layout keeps its promise, the other is caught."
    else:
        yield "The demo did not come out as it should; the report says where and why."
    yield "Own scenario:  mqproof new scenario mine && mqproof run mine.toml --system " + SYSTEM
    yield "Real brokers:  mqproof doctor && mqproof run master-crash --system rabbitmq-mirrored"


def _colour(view: CellView) -> str:
    return {"fail": "[bold red]", "pass": "[green]", "open": "[yellow]"}.get(view.tone, "[dim]")


def _plan(seed: int, name: str, scenarios: tuple[Scenario, ...], layout: str) -> Experiment:
    request = experiment.Request(
        name, seed, scenarios, systems=(SYSTEM,), layouts=(layout,), deployment=DEPLOYMENT
    )
    return experiment.plan(request, experiment.Catalogue(asking.systems(), asking.layouts()))


def _scenario(name: str) -> Scenario:
    file = resources.files("harness.plan").joinpath(_FOLDER).joinpath(f"{name}.toml")
    return read_scenario(name, file.read_text(encoding="utf-8"))
