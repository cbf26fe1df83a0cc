"""The versions under test that verdict.json files name, together and by cell."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.judging.verdict_file import read
from harness.plan.model import Cell, cell_of
from harness.plan.problems import each

SEVERAL = ", "  # between versions, if there were several


def versions(paths: Sequence[Path]) -> dict[str, str]:
    """Return the versions under test, all of them if there were several. Raise PlanError."""
    return _all_versions(document.versions for document in each(paths, read))


def cell_versions(paths: Sequence[Path]) -> dict[Cell, dict[str, str]]:
    """Return the versions under test of each cell. Raise PlanError."""
    found: dict[Cell, list[Mapping[str, str]]] = {}
    for document in each(paths, read):
        for cell in dict.fromkeys(cell_of(run.cell) for run in document.runs):
            found.setdefault(cell, []).append(document.versions)
    return {cell: _all_versions(of_cell) for cell, of_cell in found.items()}


def _all_versions(found: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """In the order of their texts: nights that play in another order have the same."""
    texts: dict[str, set[str]] = {}
    for one in found:
        for name, version in one.items():
            texts.setdefault(name, set()).add(version)
    return {name: SEVERAL.join(sorted(texts[name])) for name in sorted(texts)}
