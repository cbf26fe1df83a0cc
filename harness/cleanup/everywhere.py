"""Heals wherever something of ours may be left: this machine, clusters of others, containers."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from faults.core.model import FaultError
from harness.cleanup import local_leftovers
from harness.cleanup.docker_projects import DockerProjects
from harness.cleanup.external_projects import ExternalProjects
from harness.cleanup.heal import EVERYBODY, Chosen, HealResult, Projects, clear, heal, mend
from harness.cleanup.local_projects import LocalProjects
from harness.deploy.engine import NoEngine, connect
from harness.deploy.owner import alive
from harness.plan.problems import PlanError, Problem, no_folder, unknown

Say = Callable[[str], None]


async def heal_all(say: Say, chosen: Chosen = EVERYBODY, dry: bool = False) -> bool:
    """Undo active faults of dead runs and remove their clusters; return whether all succeeded.

    `dry`: only report what it would do. Raise PlanError if nothing matches the choice.
    """
    rows = []
    for projects in _everywhere(say):
        async for row in heal(projects, alive, chosen, dry):
            say(_text(row))
            rows.append(row)
    for row in local_leftovers.clear(chosen, dry):
        say(_text(row))
        rows.append(row)
    for row in local_leftovers.clean_dead_keepers(chosen, dry, all(row.ok for row in rows)):
        say(_text(row))
        rows.append(row)
    if not rows and not chosen.there:
        raise PlanError([await _nowhere(chosen)])
    if not rows:
        say("nothing was left behind")
    return all(row.ok for row in rows)


async def _nowhere(chosen: Chosen) -> Problem:
    """Neither a folder, nor anything that stands."""
    experiments: set[str] = set()
    for projects in _everywhere(lambda _: None):
        with suppress(FaultError):
            experiments |= {one.experiment.name for one in await projects.find()}
    if chosen.experiment:
        return unknown("--experiment", "experiment", chosen.experiment, sorted(experiments))
    return no_folder("--results", chosen.results, "the results folder of earlier runs")


async def settle(clusters: Collection[str], say: Say) -> None:
    """Retry, and report, the removal of what a run left around external clusters."""
    projects = ExternalProjects()
    for project in [one for one in await projects.find() if one.name in clusters]:
        rows = [row async for row in mend(projects, project, "run")]
        for row in (*rows, await clear(projects, project.name)):
            say(f"{_text(row)}{'' if row.ok else '; try: mqproof heal'}")


def _everywhere(say: Say) -> Iterator[Projects]:
    yield LocalProjects()
    yield ExternalProjects()
    try:
        yield DockerProjects(connect())
    except NoEngine as absent:
        say(f"no containers were looked for: no Docker engine: {absent.reason}")


def _text(row: HealResult) -> str:
    return f"{row.project}: {row.what}{f': {row.doubt}' if row.doubt else ''}"
