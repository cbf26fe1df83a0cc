"""The cells of a matrix: which scenario runs on which system and layout, and why not; and the
matrix as Markdown, scenario by layout by system.

1. A cell that can run has no obstacle; one that means nothing has its reasons. None vanishes.
2. Layouts that exist to be held beside each other (`compared` in claims.toml) are played with the
   scenario of that comparison alone, unless they are asked for.
3. Telling cells are those that harness/plan/scenarios/README.md names; where it says "every one"
   it means each system's default layout.
4. A cell of the table reports what was judged, in how many runs, the 95 % bounds of the rate, and
   whether that is as expected. Where more than a fifth of its runs were not judged that comes
   first. A PASS stands nowhere without its number of runs.
5. What has not run yet is listed below the table, and so is what means nothing, with its reason.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from faults.core.mechanisms import COMPOSE, EXTERNAL
from harness.campaigns.stored import CampaignRun, Knowledge
from harness.claims.claims import shipped_beside
from harness.claims.judge import ClaimOutcome
from harness.compare.expectations import Standing
from harness.compare.rates import rate, rate_of, too_many
from harness.outside.text import brief
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.model import Layout, Scenario, System, split_label
from harness.plan.problems import PlanError, Problem, twice, unknown
from harness.report.markdown import Markup, escaped, head, joined, row
from harness.report.page.formats import plural
from harness.request import kernel
from harness.request.run_request import scenario, scenario_names, systems
from harness.systems.catalogue import layout_names, load_layout, system_names
from harness.view.grouping import by_key

Cell = tuple[str, str, str]  # scenario, system, layout with its profile


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the matrix is meant; empty means all, None each system's own default."""

    systems: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    profile: str | None = None
    deployment: str | None = None
    telling: bool = False  # only the cells that the scenarios' own table names


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cells that can run, and those that mean nothing, with the reason."""

    cells: tuple[Cell, ...]
    reasons: Mapping[Cell, str]


def matrix(choice: Choice) -> Matrix:
    """Every scenario on every built-in layout of the profile that is meant."""
    cells: list[Cell] = []
    reasons: dict[Cell, str] = {}
    scenarios = [scenario(name) for name in scenario_names() if _meant(name, choice.scenarios)]
    for system in (one for one in systems() if _meant(one.name, choice.systems)):
        for layout in _layouts(system, choice):
            for one in scenarios:
                if not _is_played(one.name, system, layout, choice):
                    continue
                cell = (one.name, system.name, layout.label)
                if why := reason(one, system, layout, choice.deployment):
                    reasons[cell] = why
                else:
                    cells.append(cell)
    return Matrix(tuple(cells), reasons)


def problems(choice: Choice) -> Iterator[Problem]:
    """Everything that is wrong with the words of a choice."""
    every = systems()
    known = [one for one in every if _meant(one.name, choice.systems)] or every
    labels = [split_label(label) for one in known for label in layout_names(one.name)]
    for place, kind, words, choices in (
        ("--system", "system", choice.systems, [one.name for one in every]),
        ("--layout", "layout", choice.layouts, sorted({name for name, _ in labels})),
        ("--scenario", "scenario", choice.scenarios, scenario_names()),
    ):
        wrong = dict.fromkeys(word for word in words if word not in choices)
        yield from (unknown(place, kind, word, choices) for word in wrong)
        yield from twice(place, words)
    profiles = sorted({profile for _, profile in labels})
    if choice.profile is not None and choice.profile not in profiles:
        yield unknown("--profile", "profile", choice.profile, profiles)
    elif choice.profile is not None:
        yield from _without(choice.profile, choice.systems)
    yield from _wrong_deployment(choice.deployment, known)


def chosen(choice: Choice) -> Matrix:
    """The matrix of a choice in which there is a cell. Raises PlanError."""
    if wrong := list(problems(choice)):
        raise PlanError(wrong)
    found = matrix(choice)
    if not found.cells and not found.reasons:
        text = "no scenario is planned for any such layout"
        text += "; without --telling there may be more" if choice.telling else ""
        raise PlanError([Problem("", f"{text}: mqproof list layouts")])
    return found


def reason(one: Scenario, system: System, layout: Layout, deployment: str | None) -> str:
    """Why this cell means nothing; "" where it can run."""
    by = deployment or deployment_of(system, layout)
    of_plan = obstacles(one, system, layout, chosen_client(system.clients[0]), by)
    return "; ".join((*of_plan, *kernel.obstacles(one.faults, by)))


def deployment_of(system: System, layout: Layout) -> str:
    """The system's own, but where only containers can: there stand balancers."""
    wanted = COMPOSE if layout.balancers else system.deployments[0]
    return wanted if wanted in system.deployments else system.deployments[0]


@cache
def rows_of_table() -> tuple[tuple[list[str], list[str]], ...]:
    """Scenarios and layouts that each row of harness/plan/scenarios/README.md names."""
    folder = resources.files("harness.plan").joinpath("scenarios")
    return tuple(_rows(folder.joinpath("README.md").read_text("utf-8")))


def _rows(text: str) -> Iterator[tuple[list[str], list[str]]]:
    for line in text.splitlines():
        fields = line.strip("|").split(" | ")
        if line.startswith("|") and len(fields) == 3:
            scenarios, named = (re.findall(r"`([^`]+)`", words) for words in fields[1:])
            if scenarios:
                yield scenarios, named


@cache
def held_beside() -> Mapping[str, frozenset[str]]:
    """Layouts that the table names for comparisons only: by layout, the comparisons' scenarios."""
    named: dict[str, set[str]] = {}
    for scenarios, layouts in rows_of_table():
        for layout in layouts:
            named.setdefault(layout, set()).update(scenarios)
    compared: dict[str, set[str]] = {}
    for one in shipped_beside().compared:
        for layout in one.falls_over:
            compared.setdefault(layout, set()).add(one.scenario)
    return {
        layout: frozenset(scenarios)
        for layout, scenarios in compared.items()
        if named.get(layout, set()) <= scenarios
    }


def _is_played(name: str, system: System, layout: Layout, choice: Choice) -> bool:
    default = split_label(system.default_layout)[0]
    # The layouts on which the scenario tells most.
    named = [layouts or [default] for scenarios, layouts in rows_of_table() if name in scenarios]
    if choice.telling and not any(layout.name in layouts for layouts in named):
        return False
    alone = held_beside().get(layout.name)
    return alone is None or name in alone or layout.name in choice.layouts


def _layouts(system: System, choice: Choice) -> Iterator[Layout]:
    _, own = split_label(system.default_layout)
    wanted = own if choice.profile is None else choice.profile
    for label in layout_names(system.name):
        name, profile = split_label(label)
        if profile == wanted and _meant(name, choice.layouts):
            yield load_layout(system.name, label)


def _without(profile: str, names: Sequence[str]) -> Iterator[Problem]:
    """Systems that were named and would be left out silently."""
    for name in (one for one in dict.fromkeys(names) if one in system_names()):
        has = sorted({split_label(label)[1] for label in layout_names(name)})
        if has and profile not in has:
            text = f"no layout of {name} has {brief(profile)}"
            yield Problem("--profile", text, tuple(has))


def _wrong_deployment(word: str | None, of: Iterable[System]) -> Iterator[Problem]:
    """A topology is one cluster that is there, not a matrix: no campaign runs on it."""
    choices = sorted({name for one in of for name in one.deployments} - {EXTERNAL})
    if word is not None and word not in choices:
        yield unknown("--deployment", "deployment", word, choices)


def _meant(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or name in wanted


def table(runs: Sequence[CampaignRun], whole: Matrix, knowledge: Knowledge) -> Iterator[str]:
    """Yield lines: cells with a run, then those without one, by scenario."""
    by_cell = by_key(runs, lambda one: (one.scenario, one.system, one.layout))
    sides = sorted({system for _, system, _ in (*whole.cells, *whole.reasons)})
    yield from head("scenario", "layout", *sides)
    waiting: dict[str, list[str]] = defaultdict(list)
    for name, layout in sorted({(name, layout) for name, _, layout in whole.cells}):
        cells = [(name, system, layout) for system in sides]
        if any(cell in by_cell for cell in cells):
            texts = (
                describe_cell(by_cell.get(cell, []), knowledge)
                if cell in whole.cells
                else escaped(f"NOT APPLICABLE: {whole.reasons.get(cell, 'no such layout')}")
                for cell in cells
            )
            yield row((escaped(name), escaped(layout), *texts))
        else:
            waiting[name].append(layout)
    number = sum(map(len, waiting.values()))
    yield from ("", f"Not run yet, on any system ({number} cells):", "")
    yield from (f"- {escaped(name)}: {joined(', ', cells)}" for name, cells in waiting.items())
    yield from _nowhere(whole)


def describe_cell(runs: Sequence[CampaignRun], knowledge: Knowledge) -> Markup:
    """Return what the runs of one cell were judged to be, and how sure so many make it."""
    if not runs:
        return Markup("not run")
    judged = [one for one in runs if knowledge.of([one]).standing is not Standing.NOT_JUDGED]
    unjudged = len(runs) - len(judged)
    parts = [f"{unjudged} of {plural(len(runs), 'run')} not judged"] if unjudged else []
    if judged:
        result = knowledge.of(judged)
        standing = str(result.standing.value)
        if result.standing in (Standing.DIFFERS, Standing.NEW):
            standing = Markup(f"**{standing}**: {joined('; ', result.lines)}")
        verdicts = [_verdict(judged, knowledge), standing]
        parts = [*parts, *verdicts] if too_many(unjudged, len(runs)) else [*verdicts, *parts]
    return joined("; ", parts)


def _nowhere(whole: Matrix) -> Iterator[str]:
    """What means nothing on a system, by its reason."""
    grouped: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (name, system, layout), why in whole.reasons.items():
        grouped[system, why][name].append(layout)
    yield from ("", "NOT APPLICABLE, and why:", "")
    for (system, why), cells in sorted(grouped.items()):
        found = (f"{name} on {', '.join(layouts)}" for name, layouts in sorted(cells.items()))
        yield f"- {escaped(system)}: {escaped(why)}: {joined('; ', found)}"


def _verdict(runs: Sequence[CampaignRun], knowledge: Knowledge) -> str:
    """Return the verdict on promises; a warning that was not seen breaks none and stands apart."""
    failed = {claim for one in runs for claim in one.claims(ClaimOutcome.FAIL)}
    rates = {claim: rate_of(one.outcomes.get(claim) for one in runs) for claim in sorted(failed)}
    broken = [rates[claim].describe(claim) for claim in rates if knowledge.promised(claim)]
    others = [claim for claim in rates if not knowledge.promised(claim)]
    untrue = [rates[claim].describe(f"{claim} did not come true") for claim in others]
    open_ = dict.fromkeys(_promises(runs, ClaimOutcome.INCONCLUSIVE, knowledge))
    if broken:
        first = f"FAIL: {', '.join(broken)}"
    elif open_:
        first = f"INCONCLUSIVE: {', '.join(open_)}; {rate(0, len(runs)).describe('others broken')}"
    elif any(_promises(runs, ClaimOutcome.PASS, knowledge)):
        first = f"PASS: {rate(0, len(runs)).describe('broken')}"
    else:
        first = f"{ClaimOutcome.NOT_APPLICABLE} in {plural(len(runs), 'run')}"
    return "; ".join([first, *untrue])


def _promises(
    runs: Iterable[CampaignRun], outcome: ClaimOutcome, knowledge: Knowledge
) -> Iterator[str]:
    """Yield the promises that had this outcome in a run. What is no promise decides no cell."""
    for one in runs:
        yield from filter(knowledge.promised, one.claims(outcome))
