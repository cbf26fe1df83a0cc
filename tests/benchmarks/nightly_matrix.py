"""Every scenario on every layout that it fits, piece by piece, until each was judged N times.

usage: python -m tests.benchmarks.nightly_matrix run FOLDER [--system S] [--layout L]
           [--scenario C] [--deployment D] [--profile T=10] [--repeats 1] [--minutes 60]
           [--piece 6] [--telling]
       python -m tests.benchmarks.nightly_matrix table FOLDER > matrix.md
       python -m tests.benchmarks.nightly_matrix values FOLDER > results/published/matrix.csv
`run` plays one experiment after another below FOLDER: at most `--piece` scenarios, once each, on
one layout of one system, that with fewest judged runs first; it stops when every cell has enough,
or time is up (the last piece is played to its end). Where a run could not be judged its cell is
played once more, and that is said; a cell at most UNJUDGED_MAX times in vain. All runs count: the
table tells how many were not judged. What CSV files of `values` in FOLDER hold counts.
`--telling` leaves out all but the layouts on which harness/plan/scenarios/README.md says that a
scenario tells most (of "every one" it takes the default layout): some sixty cells, not hundreds.
Layouts of publish_rate.py are played with that scenario alone, unless `--layout` names them.
`table` prints Markdown: scenario x layout x system, with what was judged, in how many runs, which
rates these do not exclude, and whether it is as expected; then what has not run yet, and what
means nothing, and why.
Nothing else should run on the machine meanwhile. Systems that run in containers need Docker.
"""

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from harness.claims.claims import shipped
from harness.claims.judge import Outcome
from harness.compare.expectations import Standing
from harness.compare.rates import Rate, rate, too_many
from harness.plan.applicability import obstacles
from harness.plan.model import Layout, Scenario, System
from harness.request.asking import scenario, scenario_names, systems
from harness.systems.catalogue import layout_names, load_layout, load_system
from tests.benchmarks import publish_rate
from tests.benchmarks.judged_runs import Knowledge, Run, found, play, write

UNJUDGED_MAX = 3
REAL_FIRST = ("rabbitmq-mirrored", "reference-mirrored")
Cell = tuple[str, str, str]  # scenario, system, layout with its profile


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the matrix is meant; empty means all. `deployment` "": each system's own default."""

    systems: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    profile: str = "T=10"
    deployment: str = ""
    telling: bool = False  # only the cells that the scenarios' own table names


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cells that can run, and those that mean nothing, with the reason."""

    cells: tuple[Cell, ...]
    reasons: dict[Cell, str]


@dataclass(slots=True)
class Tally:
    """How often a cell was judged, and how often in vain."""

    judged: Counter[Cell] = field(default_factory=Counter)
    in_vain: Counter[Cell] = field(default_factory=Counter)


def matrix(choice: Choice) -> Matrix:
    """Every scenario on every built-in layout of the profile."""
    cells: list[Cell] = []
    reasons: dict[Cell, str] = {}
    every = [scenario(name) for name in scenario_names() if _meant(name, choice.scenarios)]
    told = telling() if choice.telling else None
    for system in systems():
        if not _meant(system.name, choice.systems):
            continue
        for layout in _layouts(system, choice):
            for one in every:
                if told is not None and (one.name, layout.name) not in told:
                    continue
                if _is_of_rates(layout.name, one.name, choice):
                    continue
                cell = (one.name, system.name, layout.label)
                cells.append(cell)
                if why := reason(one, system, layout, choice.deployment):
                    reasons[cell] = why
    return Matrix(tuple(cell for cell in cells if cell not in reasons), reasons)


def _is_of_rates(layout: str, name: str, choice: Choice) -> bool:
    """Layouts that differ in their mirrors alone are there for one scenario, unless asked for."""
    asked = layout in choice.layouts
    return layout in publish_rate.LAYOUTS and name != publish_rate.SCENARIO and not asked


def telling() -> set[tuple[str, str]]:
    """Scenario and layout, from the rows of the scenarios' table."""
    default = systems()[0].default_layout.partition("@")[0]
    return {
        (name, layout)
        for names, named in rows_of_table()
        for name in names
        for layout in named or [default]
    }


def rows_of_table() -> Iterator[tuple[list[str], list[str]]]:
    """Scenarios and layouts that each row of harness/plan/scenarios/README.md names."""
    text = resources.files("harness.plan").joinpath("scenarios", "README.md").read_text("utf-8")
    for line in text.splitlines():
        fields = line.strip("|").split(" | ")
        if line.startswith("|") and len(fields) == 3:
            scenarios, named = (re.findall(r"`([^`]+)`", words) for words in fields[1:])
            if scenarios:
                yield scenarios, named


def _layouts(system: System, choice: Choice) -> Iterator[Layout]:
    for label in layout_names(system.name):
        name, _, profile = label.partition("@")
        if profile == choice.profile and _meant(name, choice.layouts):
            yield load_layout(system.name, label)


def reason(one: Scenario, system: System, layout: Layout, deployment: str) -> str:
    """Why this cell means nothing; "" where it can run."""
    by = deployment or _deployment(system, layout)
    return "; ".join(obstacles(one, system, layout, system.clients[0], by))


def _deployment(system: System, layout: Layout) -> str:
    """The system's own, but where only containers can: there stand balancers."""
    wanted = "compose" if layout.balancers else system.deployments[0]
    return wanted if wanted in system.deployments else system.deployments[0]


def _meant(name: str, chosen: Sequence[str]) -> bool:
    return not chosen or name in chosen


def tally(runs: Sequence[Run], knowledge: Knowledge) -> Tally:
    counted = Tally()
    for run in runs:
        cell = (run.scenario, run.system, run.layout)
        told = knowledge.of([run]).standing is not Standing.NOT_JUDGED
        (counted.judged if told else counted.in_vain)[cell] += 1
    return counted


def piece(
    cells: Sequence[Cell], counted: Tally, repeats: int, most: int
) -> tuple[str, str, list[str]] | None:
    """System, layout and the scenarios to be played next; None where nothing is left.

    The layout whose poorest cell has fewest judged runs comes first; what may leave a cluster
    altered (operations, a frozen host) is played last.
    """
    poor: dict[tuple[str, str], list[str]] = defaultdict(list)
    wanting = [
        cell
        for cell in sorted(cells, key=lambda cell: counted.judged[cell])
        if counted.judged[cell] < repeats and counted.in_vain[cell] < UNJUDGED_MAX
    ]
    for name, system, layout in wanting:
        poor[system, layout].append(name)
    if not poor:
        return None
    (system, layout), names = next(iter(poor.items()))
    return system, layout, sorted(names[:most], key=_alters)


def _alters(name: str) -> bool:
    told = scenario(name)
    return bool(told.operations) or any(fault.kind == "freeze" for fault in told.faults)


def run(folder: Path, choice: Choice, repeats: int, minutes: float, most: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    cells, knowledge = matrix(choice).cells, Knowledge(shipped())
    ends = time.monotonic() + 60 * minutes
    while time.monotonic() < ends:
        counted = tally(found(folder), knowledge)
        wanted = piece(cells, counted, repeats, most)
        if wanted is None:
            break
        system, layout, names = wanted
        by = [choice.deployment] if choice.deployment else _said(system, layout)
        words = [*names, "--system", system, "--layout", layout]
        words += ["--deployment", *by] if by else []
        for again in once_more(names, system, layout, counted):
            print(again, flush=True)
        play(folder, words)
    counted = tally(found(folder), knowledge)
    done = sum(counted.judged[cell] >= repeats for cell in cells)
    print(f"{done} of {len(cells)} cells were judged {repeats} times")


def once_more(names: Sequence[str], system: str, layout: str, counted: Tally) -> Iterator[str]:
    """What is played again, for nothing is repeated silently."""
    for name in names:
        if in_vain := counted.in_vain[name, system, layout]:
            yield f"{name} on {layout}: {_runs(in_vain)} not judged so far; once more"


def _said(system: str, layout: str) -> list[str]:
    """The deployment, where it is not the system's own."""
    one = load_system(system)
    by = _deployment(one, load_layout(system, layout))
    return [] if by == one.deployments[0] else [by]


def table(runs: Sequence[Run], whole: Matrix, knowledge: Knowledge) -> Iterator[str]:
    """Markdown lines: cells of which there is a run, then those without one, by scenario."""
    by_cell: dict[Cell, list[Run]] = defaultdict(list)
    for one in runs:
        by_cell[one.scenario, one.system, one.layout].append(one)
    can = set(whole.cells)
    sides = [
        name for name in REAL_FIRST if any(name == cell[1] for cell in (*can, *whole.reasons))
    ]
    rows = sorted({(name, layout) for name, _, layout in whole.cells})
    yield f"| scenario | layout | {' | '.join(sides)} |"
    yield f"| --- | --- |{' --- |' * len(sides)}"
    waiting: dict[str, list[str]] = defaultdict(list)
    for name, layout in rows:
        if not any(by_cell[name, system, layout] for system in sides):
            waiting[name].append(layout)
            continue
        told = []
        for system in sides:
            cell = (name, system, layout)
            if cell in can:
                told.append(told_of(by_cell[cell], knowledge))
            else:
                told.append(f"NOT APPLICABLE: {whole.reasons.get(cell, 'no such layout')}")
        yield f"| {' | '.join([name, layout, *map(escaped, told)])} |"
    yield from _waiting(waiting)
    yield from _nowhere(whole)


def _waiting(waiting: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Cells that can run, and have not."""
    number = sum(len(cells) for cells in waiting.values())
    yield ""
    yield f"Not run yet, on any system ({number} cells):"
    yield ""
    for name, cells in waiting.items():
        yield f"- {name}: {', '.join(cells)}"


def told_of(runs: Sequence[Run], knowledge: Knowledge) -> str:
    """What the runs of one cell were judged to be, and how sure so many make it."""
    if not runs:
        return "not run"
    judged = [one for one in runs if knowledge.of([one]).standing is not Standing.NOT_JUDGED]
    unjudged = len(runs) - len(judged)
    parts = [f"{unjudged} of {_runs(len(runs))} not judged"] if unjudged else []
    if judged:
        result = knowledge.of(judged)
        standing = str(result.standing.value)
        if result.standing in (Standing.DIFFERS, Standing.NEW):
            standing = f"**{standing}**: {'; '.join(result.lines)}"
        told = [_verdict(judged, knowledge), standing]
        parts = [*parts, *told] if too_many(unjudged, len(runs)) else [*told, *parts]
    return "; ".join(parts)


def _verdict(runs: Sequence[Run], knowledge: Knowledge) -> str:
    """Of promises; a warning that did not come true broke none, and is told beside."""
    failed = Counter(claim for one in runs for claim in one.failed.split())
    rates = {claim: _rate(runs, claim) for claim in sorted(failed)}
    broken = [found.told(claim) for claim, found in rates.items() if knowledge.promised(claim)]
    untrue = [
        found.told(f"{claim} did not come true")
        for claim, found in rates.items()
        if not knowledge.promised(claim)
    ]
    open_ = dict.fromkeys(claim for one in runs for claim in one.inconclusive.split())
    if broken:
        first = f"FAIL: {', '.join(broken)}"
    elif open_:
        first = f"INCONCLUSIVE: {', '.join(open_)}; {rate(0, len(runs)).told('others broken')}"
    elif any(one.passed or untrue for one in runs):
        first = f"PASS: {rate(0, len(runs)).told('broken')}"
    else:
        first = f"{Outcome.NOT_APPLICABLE} in {_runs(len(runs))}"
    return "; ".join([first, *untrue])


def _rate(runs: Sequence[Run], claim: str) -> Rate:
    outcomes = Counter(one.outcomes.get(claim) for one in runs)
    failed = outcomes[Outcome.FAIL]
    return rate(failed, failed + outcomes[Outcome.PASS])


def _nowhere(whole: Matrix) -> Iterator[str]:
    """What means nothing on a system, by its reason."""
    grouped: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (name, system, layout), why in whole.reasons.items():
        grouped[system, why][name].append(layout)
    yield ""
    yield "NOT APPLICABLE, and why:"
    yield ""
    for (system, why), cells in sorted(grouped.items()):
        told = "; ".join(f"{name} on {', '.join(found)}" for name, found in sorted(cells.items()))
        yield f"- {system}: {escaped(why)}: {told}"


def _runs(number: int) -> str:
    return f"{number} run{'' if number == 1 else 's'}"


def escaped(text: str) -> str:
    """Markdown's own marks in a table's field mean nothing else."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table", "values"))
    parser.add_argument("folder", type=Path)
    names = [one.name for one in systems()]
    parser.add_argument("--system", choices=names, action="append", default=[])
    every = sorted({label.partition("@")[0] for name in names for label in layout_names(name)})
    parser.add_argument("--layout", choices=every, action="append", default=[])
    parser.add_argument("--scenario", choices=scenario_names(), action="append", default=[])
    parser.add_argument("--profile", default="T=10")
    parser.add_argument("--deployment", choices=("local", "compose"), default="")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--piece", type=int, default=6)
    parser.add_argument("--telling", action="store_true")
    said = parser.parse_args()
    choice = Choice(
        tuple(said.system),
        tuple(said.layout),
        tuple(said.scenario),
        said.profile,
        said.deployment,
        said.telling,
    )
    if said.what == "run":
        run(said.folder, choice, said.repeats, said.minutes, said.piece)
    elif said.what == "table":
        knowledge = Knowledge(shipped())
        print("\n".join(table(found(said.folder), matrix(choice), knowledge)))
    else:
        write(found(said.folder), sys.stdout)


if __name__ == "__main__":
    main()
