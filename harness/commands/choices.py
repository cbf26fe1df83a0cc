"""`mqproof list`: what there is to choose from."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import RenderableType

from harness.claims import claims
from harness.claims.claims import concerning
from harness.commands.shell import Shell, print_lines
from harness.commands.together import wrong_words
from harness.judging import brought_claims, known_facts
from harness.plan.declared import Declared, of_layout
from harness.plan.model import Layout, System
from harness.plan.problems import PlanError, Problem
from harness.report import listing
from harness.request import run_request, suites


class Listing(StrEnum):
    """What `list` can show."""

    SYSTEMS = "systems"
    LAYOUTS = "layouts"
    SCENARIOS = "scenarios"
    SUITES = "suites"
    FAULTS = "faults"
    OPERATIONS = "operations"
    CLIENTS = "clients"
    CLAIMS = "claims"
    FACTS = "facts"


_BY_SYSTEM = (Listing.LAYOUTS, Listing.CLAIMS)


def list_(
    context: typer.Context,
    topic: Annotated[Listing, typer.Argument(help="What to list.")],
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            help="Layouts of this system, or claims that can apply to it; repeatable.",
        ),
    ] = None,
    details: Annotated[
        bool,
        typer.Option("--details", help="Show layouts and claims as tables with every column."),
    ] = False,
) -> int:
    """List what you can choose: systems, layouts, scenarios, claims and more."""
    shell: Shell = context.obj
    chosen = _systems(topic, system or (), details)
    if topic in _BY_SYSTEM and not details:
        print_lines(shell.out, _lines(topic, chosen))
        return 0
    for table in _tables(topic, chosen):
        shell.out.print(table)
        shell.out.print()
    return 0


def _systems(topic: Listing, words: Sequence[str], details: bool) -> tuple[str, ...]:
    """Return the chosen systems, or all. Raise PlanError where an option does not fit."""
    names = [one.name for one in run_request.systems()]
    problems = wrong_words("--system", "system", words, names)
    flags = {"--system": bool(words), "--details": details}
    problems += [
        Problem(flag, f"goes with {' and '.join(_BY_SYSTEM)}, not with {topic}")
        for flag, given in flags.items()
        if given and topic not in _BY_SYSTEM
    ]
    if problems:
        raise PlanError(problems)
    return tuple(words) or tuple(names)


def _layouts(systems: Sequence[str]) -> list[Layout]:
    return [one for one in run_request.layouts() if one.system in systems]


def _claims(systems: Sequence[str]) -> list[claims.Claim]:
    own = {one.name: one for one in run_request.systems()}
    facts = [_facts(own[layout.system], layout) for layout in _layouts(systems)]
    return concerning(brought_claims.every(), facts)


def _facts(system: System, layout: Layout) -> dict[str, Declared]:
    """Return the facts that a system declares of a layout, and those that only others have."""
    others = known_facts.not_of_system(system.name).items()
    return {**{name: {"not_applicable": why} for name, why in others}, **of_layout(system, layout)}


def _lines(topic: Listing, systems: Sequence[str]) -> Iterable[str]:
    if topic is Listing.LAYOUTS:
        return listing.layout_lines(_layouts(systems))
    return listing.claim_lines(_claims(systems))


def _tables(topic: Listing, systems: Sequence[str]) -> Iterable[RenderableType]:
    match topic:
        case Listing.SYSTEMS:
            return [listing.systems(run_request.systems())]
        case Listing.LAYOUTS:
            return [listing.layouts(_layouts(systems))]
        case Listing.SCENARIOS:
            return [listing.scenarios(map(run_request.scenario, run_request.scenario_names()))]
        case Listing.SUITES:
            return [listing.suites({name: suites.suite(name) for name in suites.names()})]
        case Listing.FAULTS:
            return listing.faults()
        case Listing.OPERATIONS:
            return listing.operations()
        case Listing.CLIENTS:
            return [listing.clients(run_request.systems())]
        case Listing.CLAIMS:
            return [listing.claims(_claims(systems))]
        case Listing.FACTS:
            return [listing.facts(known_facts.every())]
