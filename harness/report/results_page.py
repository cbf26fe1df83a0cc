"""The page of all experiments in a results folder, for browsers: search, verdicts, reports.

1. It is rendered at each request, so experiments that end meanwhile are on it. What was read of a
   verdict.json is kept as long as the file does not change.
2. An experiment without a verdict, or with one that cannot be read, stays on the page and says
   what to do.
"""

import shlex
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from harness.judging import recalled, verdict_file
from harness.judging.exits import Exit
from harness.judging.recalled import ExperimentOutcome
from harness.outside.files import is_file, is_folder
from harness.plan.problems import PlanError
from harness.report import html
from harness.report.page import formats
from harness.run_folder import experiments
from harness.run_folder.experiments import Cell, NoExperiment

ROWS_MAX = 1000
CELLS_SHOWN, CLAIMS_SHOWN = 3, 4
_KEPT = 2 * ROWS_MAX
_VERDICTS: dict[int, tuple[str, str]] = {  # tone and words, by exit code
    Exit.PASSED: ("pass", "passed"),
    Exit.FAILED: ("fail", "failed"),
    Exit.NOT_DECIDED: ("open", "not decided"),
    Exit.INTERRUPTED: ("open", "interrupted"),
    Exit.CRASH: ("open", "not complete: an error in mqproof"),
}
_NOT_JUDGED, _UNREADABLE = ("open", "not judged yet"), ("open", "not readable")


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """An experiment on the page. `report`: a link, or "" where there is no report."""

    name: str
    began: str
    cells: tuple[str, ...]
    more_cells: str
    runs: str
    tone: str
    verdict: str
    detail: str
    report: str


def text(folder: Path, nights: str = "") -> str:
    """Return the page. `nights`: a link to the pages of all nights, or ""."""
    found = all_experiments(folder)
    shown = [row(one) for one in found[:ROWS_MAX]]
    return html.template("results.html").render(
        folder=folder.resolve().name,
        rows=shown,
        total=formats.plural(len(found), "experiment"),
        older=max(0, len(found) - ROWS_MAX),
        nights=nights,
        script=html.search_script(),
    )


def all_experiments(folder: Path) -> list[Path]:
    """Return the folders of the experiments in a results folder, the latest first."""
    dated = [(began_ns, one) for one in folder.iterdir() if (began_ns := _began_ns(one))]
    return [one for _, one in sorted(dated, reverse=True)]


def row(folder: Path) -> ExperimentRow:
    """Return what the page says of one experiment."""
    verdict = folder / verdict_file.NAME
    cells, runs, shown, detail = _judged(verdict) if is_file(verdict) else _not_judged(folder)
    report = f"{quote(folder.name)}/{html.NAME}" if is_file(folder / html.NAME) else ""
    more = len(cells) - CELLS_SHOWN
    return ExperimentRow(
        name=folder.name,
        began=formats.dated(folder.name),
        cells=tuple(_cell_text(cell) for cell in cells[:CELLS_SHOWN]),
        more_cells=f"and {formats.plural(more, 'more cell')}" if more > 0 else "",
        runs=formats.plural(runs, "run"),
        tone=shown[0],
        verdict=shown[1],
        detail=detail,
        report=report,
    )


def _judged(verdict: Path) -> tuple[tuple[Cell, ...], int, tuple[str, str], str]:
    """Return its cells, how many runs, its verdict, and what stands below that."""
    try:
        state = verdict.stat()
        known = _outcome(verdict, state.st_mtime_ns, state.st_size)
    except (PlanError, OSError) as failure:
        return (), 0, _UNREADABLE, str(failure)
    shown = _VERDICTS.get(known.exit_code, _UNREADABLE)
    return known.cells, known.runs, shown, _claims(known)


@lru_cache(maxsize=_KEPT)
def _outcome(verdict: Path, changed_ns: int, size: int) -> ExperimentOutcome:  # noqa: ARG001  (its key)
    return recalled.outcome(verdict)


def _claims(known: ExperimentOutcome) -> str:
    """Return the promises behind a verdict: those that were broken, or else not decided."""
    word, names = ("broken", known.broken) if known.broken else ("not decided", known.undecided)
    more = len(names) - CLAIMS_SHOWN
    rest = f", and {more} more" if more > 0 else ""
    return f"{word}: {', '.join(names[:CLAIMS_SHOWN])}{rest}" if names else ""


def _not_judged(folder: Path) -> tuple[tuple[Cell, ...], int, tuple[str, str], str]:
    try:
        stored = experiments.recall(folder)
    except NoExperiment as failure:
        return (), 0, _UNREADABLE, str(failure)
    planned = [run for one in stored.experiments for run in one.runs]
    cells = dict.fromkeys(run.cell for run in planned)
    advice = shlex.join(["mqproof", "analyse", str(folder)])
    return tuple(cells), len(planned), _NOT_JUDGED, f"to judge it: {advice}"


def _began_ns(folder: Path) -> int:
    """Return when an experiment began, or else was judged; 0: it is no experiment's folder."""
    if is_folder(folder):
        for name in (experiments.NAME, verdict_file.NAME):
            if is_file(folder / name):
                return (folder / name).stat().st_mtime_ns
    return 0


def _cell_text(cell: Cell) -> str:
    scenario, system, layout, client = cell
    return f"{scenario} on {system}, {layout}, {client}"
