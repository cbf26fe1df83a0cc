"""report.html: an experiment as one file that needs nothing else, on any screen.

1. No script, no address of anything outside: it reads the same offline, in ten years.
2. Whatever a broker, a file or a user said is text: every template escapes, and what would not
   show or would turn the line around is written as its code point.
3. The same report makes the same bytes: no clock, no random, no order that comes by chance.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from harness.compare.rates import SHORT, spelled_out
from harness.judging.result import Report
from harness.outside.text import visible
from harness.plan.model import split_label
from harness.report import failing
from harness.report.lines import last_lines, of_brokers, versions
from harness.report.page import formats
from harness.report.page.answers import first_screen
from harness.report.page.cells import CellView, cells
from harness.report.page.claims import claims
from harness.report.page.costs import CostsView
from harness.report.page.faults import FaultsView
from harness.report.page.joint import pictures
from harness.report.page.matrix import MatrixView
from harness.report.page.measures import MeasuresView
from harness.report.page.outs import SHORTER
from harness.report.page.picture import picture
from harness.report.page.places import listed, places, started_hosts
from harness.report.page.runs import RunView, drills, runs
from harness.report.page.side_by_side import side_by_side
from harness.report.page.totals import RunTotals
from harness.view.naming import detail_name
from spark_analysis.files.writing import write_whole

NAME = "report.html"
_MARKUP = re.compile(
    rf"<(?P<whole>title|style)\b.*?</(?P=whole)>|<[^>]*>|(?P<interval>{SHORT})", re.DOTALL
)
OPEN_RUNS_MAX = 2  # so many runs stand open; of more, only the first that failed
HAPPENED_MAX = 3  # lines on the first screen about the replicas of queues
CELLS_MAX = 16  # of more cells only the one that was asked for is shown, and of its runs


class Script(NamedTuple):
    """A script, and the digest by which the page's security policy allows it."""

    text: str
    digest: str


class Page:
    def __init__(self, report: Report) -> None:
        views, total = cells(report), RunTotals(report.runs)
        self.experiment, self.seed, self.replay = report.experiment, report.seed, report.replay
        self.verdict = last_lines(report)[0]
        self.versions = tuple(versions(report))
        reported = dict.fromkeys(
            f"{of_brokers(run.cell[1])}: {run.brokers}" for run in report.runs if run.brokers
        )
        self.brokers = "; ".join(reported)
        self.first = first_screen(report, total)
        # None where nothing was judged.
        self.picture = picture(views, places(report), report.skipped)
        self.side_by_side = side_by_side(report, views, total)  # None: nothing to compare
        # Whether cells stand in a table, too: where the picture does not show them all.
        drawn = self.picture is not None and not self.picture.left_out and not report.skipped
        several = len(views) > 1 or bool(report.skipped)
        self.listed = several and not (self.side_by_side and drawn)
        self.cells = views
        # To the replicas of queues whose messages are lost, and to hosts that stayed away.
        self.happened = (*_happened(views), *_started(views))
        self.many = len(views) > CELLS_MAX  # more than one can read one after another
        self.matrix = MatrixView(report, views)
        self.measures = MeasuresView(report, views)
        self.claims = claims(report, views)
        self.runs = runs(report, views)
        self.drills = drills(report, views, self.claims, self.runs)
        self.faults = FaultsView(report, views)
        self.costs = CostsView(report)
        self.failing = failing.table(report.runs)
        self.joint = pictures(report.runs)
        self.pieces = report.pieces
        self.detection_timeouts = _detection_timeouts(report)  # in the names of layouts
        self.claims_files = report.claims_files
        self.opened = _opened(self.runs)
        self.sources = _sources(report)  # scenario, the file that it was read from


def text(report: Report) -> str:
    return spelled_out_page(template("page.html").render(page=Page(report)))


def spelled_out_page(page: str) -> str:
    """Return a page whose first visible interval is spelled out. Titles and attributes come before
    it, and most readers never see them."""
    first = next((one for one in _MARKUP.finditer(page) if one["interval"]), None)
    if first is None:
        return page
    return page[: first.start()] + spelled_out(page[first.start() :])


@cache
def template(name: str) -> Template:
    """Compiled once in a process: that takes far longer than to fill it."""
    environment = Environment(
        loader=PackageLoader("harness.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        formats=formats, detail_name=detail_name, FAILING=failing, SHORTER=SHORTER
    )
    return environment.get_template(name)


@cache
def search_script() -> Script:
    """Return the script of pages with long tables: it hides the rows in which a word is absent."""
    content = resources.files("harness.report").joinpath("find.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return Script(content, f"sha256-{digest}")


def write(report: Report, folder: Path) -> Path:
    return write_whole(folder / NAME, text(report))


def _opened(run_views: tuple[RunView, ...]) -> frozenset[str]:
    if len(run_views) <= OPEN_RUNS_MAX:
        return frozenset(run.anchor for run in run_views)
    return frozenset([run.anchor for run in run_views if run.tone == "fail"][:1])


def _happened(views: Sequence[CellView]) -> tuple[str, ...]:
    """Return a line a cell, at most HAPPENED_MAX; of several cells each names its own."""
    own = [view for view in views if view.happened]
    lines = [
        f"Cell {view.label}. {view.happened}" if len(views) > 1 else view.happened
        for view in own[:HAPPENED_MAX]
    ]
    more = f"{len(own) - HAPPENED_MAX} more cells say it below."
    return (*lines, more) if len(own) > HAPPENED_MAX else tuple(lines)


def _started(views: Sequence[CellView]) -> Iterator[str]:
    """Yield a line for each cell in which brokers did not come back by themselves."""
    for view in views:
        hosts = dict.fromkeys(host for run in view.runs for host in started_hosts(run))
        if hosts:
            one = len(hosts) == 1
            text = (
                f"the broker on {next(iter(hosts))}" if one else f"brokers on {listed([*hosts])}"
            )
            itself, it = ("itself", "it") if one else ("themselves", "them")
            after = (
                "after the faults" if view.totals.faults > view.totals.runs else "after the fault"
            )
            when = f"Cell {view.label}: {after}" if len(views) > 1 else after.capitalize()
            yield (
                f"{when}, {text} did not come back by {itself}; mqproof started {it}, so that the "
                "audit could read its messages."
            )


def _detection_timeouts(report: Report) -> str:
    """Return what `@T=60` in the names of this report's layouts means, by the timeouts that the
    runs recorded; "" if none is known."""
    found: dict[str, float] = {}
    manifests = ((run.cell[2], run.detail.manifest) for run in report.runs if run.detail)
    for label, manifest in manifests:
        profile, timeout_s = split_label(label)[1], manifest.state.get("detection_timeout_s")
        if profile and isinstance(timeout_s, int | float):
            found[profile] = timeout_s
    parts = (
        f"@{name} in its name: the detection timeout is {s:g} s." for name, s in found.items()
    )
    return " ".join(parts)


def _sources(report: Report) -> tuple[tuple[str, str], ...]:
    manifests = (run.detail.manifest for run in report.runs if run.detail is not None)
    found = {one.scenario: one.scenario_source for one in manifests}
    return tuple((name, source) for name, source in found.items() if source)
