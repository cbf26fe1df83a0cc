"""Layouts of the user's own on the command line: files that are asked for beside built-in names.

1. Every file is read for every requested system, and all mistakes are reported.
2. A name is one layout's: of a built-in one, or of another file's, things would be taken for true
   that are true of that one.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from harness.outside.text import brief
from harness.plan.model import Layout, System
from harness.plan.problems import Problem
from harness.systems import catalogue
from harness.systems.catalogue import CatalogueError


@dataclass(frozen=True, slots=True)
class ReadLayouts:
    """`labels`: all words that were asked for, those of files as the labels that they gave."""

    layouts: tuple[Layout, ...]
    labels: tuple[str, ...]
    problems: tuple[Problem, ...]


def read(
    words: Sequence[str],
    system_names: Sequence[str],
    systems: Sequence[System],
    built_in: Sequence[Layout],
) -> ReadLayouts:
    """`asked`: the names of systems, the first of all where there are none; a name that is no
    system's is reported elsewhere."""
    chosen = [one for one in systems if one.name in system_names] if system_names else systems[:1]
    known = {layout.name for layout in built_in}
    found: dict[tuple[str, str], Layout] = {}
    files: dict[str, str] = {}  # the name of a layout -> the file that gave it
    labels: list[str] = []
    problems: list[Problem] = []
    for word in words:
        file = catalogue.split_profile(word)[0]
        if not catalogue.is_path(file):
            labels.append(word)
            continue
        for system in chosen:
            try:
                layout = catalogue.load_layout(system.name, word)
            except CatalogueError as error:
                problems += error.problems
                continue
            problems += _taken(layout.name, file, known, files)
            found[system.name, layout.label] = layout
            labels.append(layout.label)
    once = tuple(dict.fromkeys(problems))
    return ReadLayouts(tuple(found.values()), tuple(dict.fromkeys(labels)), once)


def _taken(
    name: str, file: str, known: Collection[str], files: dict[str, str]
) -> Iterator[Problem]:
    if name in known:
        text = f"{brief(name)} is the name of a built-in layout; choose another name"
        yield Problem(file, text)
    other = files.setdefault(name, file)
    if other != file:
        yield Problem(file, f"{brief(name)} is the layout of {other}, too: rename one of them")
