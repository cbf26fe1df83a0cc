"""`--distribution PATH`: a vendor's own build of the brokers, instead of a released version.

1. Systems that run a distribution are played with it; its version decides their settings.
2. A folder that lacks a part, and a system that does not exist in its version, are bad input.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.plan.layouts.layout_values import VersionedLayout
from harness.plan.model import Layout, System
from harness.plan.problems import EMPTY, Problem
from harness.systems.containers import Distribution
from harness.systems.registry import registry

FLAG = "--distribution"
HELP = "A vendor's own build of the brokers: its unpacked folder."


@dataclass(frozen=True, slots=True)
class Distributed:
    """Layouts, those of chosen systems in the distribution; and what is wrong with that."""

    layouts: tuple[Layout, ...]
    problems: tuple[Problem, ...] = ()


def applied(word: str | None, systems: Sequence[System], layouts: Sequence[Layout]) -> Distributed:
    """`systems`: the chosen ones. `word`: None if no distribution was named."""
    if word is None:
        return Distributed(tuple(layouts))
    if not word:
        return Distributed(tuple(layouts), (Problem(FLAG, EMPTY),))
    folder = Path(word).absolute()
    looks = {
        one.name: look(folder)
        for one in systems
        if (own := registry().systems[one.name].containers) and (look := own.distribution)
    }
    problems = tuple(dict.fromkeys(_problems(word, systems, looks)))
    if problems:
        return Distributed(tuple(layouts), problems)
    return Distributed(
        tuple(
            _in(one, str(folder), looks[one.system].version) if one.system in looks else one
            for one in layouts
        )
    )


def _problems(
    word: str, systems: Sequence[System], looks: dict[str, Distribution]
) -> Iterator[Problem]:
    place = f"{FLAG} {word}"
    if not looks:
        names = ", ".join(one.name for one in systems)
        able = ", ".join(
            name
            for name, one in registry().systems.items()
            if one.containers is not None and one.containers.distribution is not None
        )
        yield Problem(place, f"{names} runs no distribution", advice=f"`--system`: one of {able}")
    for system in (one for one in systems if one.name in looks):
        found = looks[system.name]
        for text in found.problems:
            yield Problem(place, text, expected=found.expected)
        if not found.problems and system.versions is not None:
            for why in _obstacles(system, found.version):
                yield Problem(place, why)


def _obstacles(system: System, version: str) -> Iterator[str]:
    known = system.versions
    assert known is not None, "it is played in versions"
    if not known.knows(version):
        choices = ", ".join(known.choices)
        yield f"it holds {version}, and {system.name} is played in {choices}"
    for why in known.obstacles(version):
        yield f"it holds {version}: {why}"


def _in(layout: Layout, folder: str, version: str) -> Layout:
    own = layout.own
    assert isinstance(own, VersionedLayout), f"{layout.label} has versions"
    return replace(layout, distribution=folder, own=own.in_version(version))
