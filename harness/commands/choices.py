"""`mqproof list`: what there is to choose from."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import RenderableType

from harness.claims import claims
from harness.commands.shell import Shell
from harness.report import listing
from harness.request import asking, suites


class Topic(StrEnum):
    """What `list` can show."""

    SYSTEMS = "systems"
    LAYOUTS = "layouts"
    SCENARIOS = "scenarios"
    SUITES = "suites"
    FAULTS = "faults"
    OPERATIONS = "operations"
    CLIENTS = "clients"
    CLAIMS = "claims"


def list_(
    context: typer.Context, topic: Annotated[Topic, typer.Argument(help="What to list.")]
) -> int:
    """Show what there is to choose from."""
    shell: Shell = context.obj
    for table in _tables(topic):
        shell.out.print(table)
        shell.out.print()
    return 0


def _tables(topic: Topic) -> Iterable[RenderableType]:
    match topic:
        case Topic.SYSTEMS:
            return [listing.systems(asking.systems())]
        case Topic.LAYOUTS:
            return [listing.layouts(asking.layouts())]
        case Topic.SCENARIOS:
            return [listing.scenarios(map(asking.scenario, asking.scenario_names()))]
        case Topic.SUITES:
            return [listing.suites({name: suites.suite(name) for name in suites.names()})]
        case Topic.FAULTS:
            return listing.faults()
        case Topic.OPERATIONS:
            return listing.operations()
        case Topic.CLIENTS:
            return [listing.clients(asking.systems())]
        case Topic.CLAIMS:
            return listing.claims(claims.shipped())
