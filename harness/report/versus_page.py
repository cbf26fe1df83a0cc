"""Two experiments against each other as lines and as one page that needs nothing else.

1. What got worse comes first, then what got better, then what shows no difference; each with both
   sides, the runs that they are of, and the interval of the difference.
2. As report.html: no script, no address, whatever others said is text; the same input makes the
   same bytes.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.compare.medians import Median
from harness.compare.rates import Rate, per_cent
from harness.compare.versus import CellComparison, Trend, Versus
from harness.judging.exits import Exit, of_versus
from harness.report.html import spelled_out_page, template
from harness.report.page import formats
from spark_analysis.files.writing import write_whole

NEWLY = "newly broken"
LINES_MAX = 40  # of what shows no difference, on a terminal; the page has them all
TONES = {Trend.WORSE: "fail", Trend.BETTER: "pass", Trend.NONE: "not_applicable"}
_BADGES = {
    Exit.PASSED: ("pass", "NOTHING SHOWN WORSE"),
    Exit.FAILED: ("fail", "WORSE"),
    Exit.NOT_DECIDED: ("open", "NOT COMPARED"),
}


class VersusLine:
    def __init__(self, row: CellComparison) -> None:
        self.cell = " · ".join(row.first)
        if row.first != row.second:
            self.cell += f" -> {' · '.join(row.second[1:])}"
        of_runs = isinstance(row.before, Rate)
        self.what = row.what if of_runs else formats.measure_name(row.what).lower()
        self.meaning = row.meaning or formats.meaning(row.what)
        self.before, self.after, self.by = side_text(row.before), side_text(row.after), _by(row)
        before, after = row.not_judged
        notes = [f"not judged in {before} and {after} more runs"] if before or after else []
        if row.alone:
            notes.append("alone it would be a difference; among so many some are by chance")
        self.note = "; ".join(notes)


class Section(NamedTuple):
    title: str
    tone: str
    lines: tuple[VersusLine, ...]


class VersusPage:
    def __init__(self, comparison: Versus) -> None:
        self.first, self.second = comparison.first, comparison.second
        self.tone, self.badge = _badge(comparison)
        self.headline = _headline(comparison)
        self.sections = tuple(
            Section(str(change), TONES[change], tuple(map(VersusLine, comparison.of(change))))
            for change in Trend
        )
        self.left_out, self.versions = comparison.left_out, comparison.versions
        self.loads = comparison.loads
        self.origins, self.newly_broken = comparison.origins, comparison.newly_broken


def _badge(comparison: Versus) -> tuple[str, str]:
    code = of_versus(comparison)
    if code is Exit.NOT_DECIDED and comparison.newly_broken:
        return "open", "NEWLY BROKEN"
    return _BADGES[code]


def text(comparison: Versus) -> str:
    return spelled_out_page(template("versus.html").render(page=VersusPage(comparison)))


def write(comparison: Versus, path: Path) -> Path:
    return write_whole(path, text(comparison))


def lines(comparison: Versus) -> Iterator[str]:
    """For a terminal."""
    shown = VersusPage(comparison)
    yield f"{shown.second} against {shown.first}"
    yield from (f"  load of {one}" for one in shown.loads[:LINES_MAX])
    yield from (f"  version of the brokers of {one}" for one in shown.versions)
    yield from (f"  image or build of the brokers of {one}" for one in shown.origins)
    if shown.newly_broken:
        yield ""
        yield f"{NEWLY} (only in the second, and not shown to be worse): {len(shown.newly_broken)}"
        yield from (f"  {one}" for one in shown.newly_broken)
    for section in shown.sections:
        kept = section.lines if section.tone != "not_applicable" else section.lines[:LINES_MAX]
        yield ""
        yield f"{section.title}: {len(section.lines) or 'nothing'}"
        for one in kept:
            note = f"; {one.note}" if one.note else ""
            yield f"  {one.cell}, {one.what}: {one.before} -> {one.after}; {one.by}{note}"
        if len(kept) < len(section.lines):
            yield f"  and {len(section.lines) - len(kept)} more: the page has them"
    if shown.left_out:
        yield ""
        yield f"not compared: {len(shown.left_out)}"
        yield from (f"  {one}" for one in shown.left_out[:LINES_MAX])
        if len(shown.left_out) > LINES_MAX:
            yield f"  and {len(shown.left_out) - LINES_MAX} more: the page has them"
    yield ""
    yield f"{shown.headline} (exit code {of_versus(comparison)})"


def _headline(comparison: Versus) -> str:
    newly = f"{len(comparison.newly_broken)} {NEWLY}" if comparison.newly_broken else ""
    if not comparison.rows:
        return f"Nothing could be compared{f', {newly}' if newly else ''}"
    worse, better, same = (
        len(comparison.of(change)) for change in (Trend.WORSE, Trend.BETTER, Trend.NONE)
    )
    parts = [f"{worse} got worse" if worse else "Nothing is shown to be worse"]
    parts += [newly] if newly else []
    parts += [f"{better} got better"] if better else []
    parts += [f"{same} show no difference"] if same else []
    return ", ".join(parts)


def side_text(side: Rate | Median) -> str:
    """Return `in 3 of 10 runs (95 % CI: 6.7 to 65 %)`, or `0.17 s (0.13 s to 0.20 s, 10 runs)`."""
    if isinstance(side, Rate):
        return side.describe("")
    of = formats.plural(side.runs, "run")
    if math.isfinite(side.high):
        of = f"{formats.seconds(side.low)} to {formats.seconds(side.high)}, {of}"
    bounds = f", {side.censored} did not recover" if side.censored else ""
    return f"{side.describe(formats.seconds)} ({of}{bounds})"


def _by(row: CellComparison) -> str:
    """`+0.40 s (+0.10 s to +0.90 s)`; an end that so few runs cannot give is open."""
    if math.isinf(row.low) and math.isinf(row.high):
        by = "" if row.by is None else f"{_signed(row, row.by)}, "
        return f"{by}too few runs for an interval"
    ends = f"{_signed(row, row.low)} to {_signed(row, row.high)}"
    return ends if row.by is None else f"{_signed(row, row.by)} ({ends})"


def _signed(row: CellComparison, number: float) -> str:
    if math.isinf(number):
        return "any"
    size = abs(number)
    amount = per_cent(size) + " of runs" if isinstance(row.before, Rate) else formats.seconds(size)
    if number < 0:
        return f"−{amount}"
    return f"+{amount}" if number > 0 else amount
