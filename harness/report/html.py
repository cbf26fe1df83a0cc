"""report.html: an experiment as one file that needs nothing else, on any screen.

1. No script, no address of anything outside: it reads the same offline, in ten years.
2. Whatever a broker, a file or a user said is text: every template escapes, and what would not
   show or would turn the line around is replaced.
3. The same report makes the same bytes: no clock, no random, no order that comes by chance.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.report.display import Report
from harness.report.lines import last_lines
from harness.report.page.answers import FirstScreen, first_screen
from harness.report.page.cells import CellView, MatrixRow, cells, matrix
from harness.report.page.claims import ClaimView, claims
from harness.report.page.measures import MeasuresView, measures
from harness.report.page.runs import RunView, runs
from harness.report.page.tally import tally

NAME = "report.html"
OPEN_RUNS_MAX = 2  # so many runs stand open; of more, only the first that failed
_HIDDEN = (*range(9), *range(11, 13), *range(14, 32), *range(127, 160))
_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_REPLACED = dict.fromkeys((*_HIDDEN, *_TURNING), "\ufffd")


@dataclass(frozen=True, slots=True)
class Page:
    """All that the templates ask for."""

    experiment: str
    seed: int
    replay: str
    verdict: str
    versions: tuple[tuple[str, str], ...]
    first: FirstScreen
    cells: tuple[CellView, ...]
    scenarios: tuple[str, ...]
    matrix: tuple[MatrixRow, ...]
    measures: MeasuresView
    claims: tuple[ClaimView, ...]
    runs: tuple[RunView, ...]
    opened: frozenset[str]
    sources: tuple[tuple[str, str], ...]  # scenario, the file that it was read from


def page(report: Report) -> Page:
    views = cells(report)
    rows = matrix(report, views)
    told = runs(report, views)
    return Page(
        experiment=report.experiment,
        seed=report.seed,
        replay=report.replay,
        verdict=last_lines(report)[0],
        versions=tuple(sorted(report.versions.items())),
        first=first_screen(report, tally(report.runs)),
        cells=views,
        scenarios=tuple(entry.scenario for entry in rows[0].entries) if rows else (),
        matrix=rows,
        measures=measures(report, views),
        claims=claims(report, views),
        runs=told,
        opened=_opened(told),
        sources=_sources(report),
    )


def text(report: Report) -> str:
    """The whole file."""
    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(page=page(report))


def write(report: Report, folder: Path) -> Path:
    """Writes report.html into `folder`, whole or not at all."""
    path = folder / NAME
    partial = folder / f"{NAME}.partial"
    partial.write_bytes(text(report).encode("utf-8", "replace"))
    partial.rename(path)
    return path


def _visible(value: Any) -> Any:
    return value.translate(_REPLACED) if type(value) is str else value


def _opened(told: tuple[RunView, ...]) -> frozenset[str]:
    if len(told) <= OPEN_RUNS_MAX:
        return frozenset(run.anchor for run in told)
    return frozenset([run.anchor for run in told if run.tone == "fail"][:1])


def _sources(report: Report) -> tuple[tuple[str, str], ...]:
    found = {
        run.cell[0]: run.detail.scenario_source for run in report.runs if run.detail is not None
    }
    return tuple((name, source) for name, source in found.items() if source)
