"""What stands side by side, in which order, and what cells are called.

1. A column is a system in one layout, driven by one client. Layouts of a system stand together.
2. A cell is called by the letter of its column and, of several scenarios, the number of its
   scenario: `A`, `B2`. Where columns do not stand side by side, cells are numbered.
"""

from string import ascii_uppercase

from harness.judging.result import Report
from harness.plan.model import Cell
from harness.view.grouping import by_key

Key = tuple[str, str, str]  # system, layout, client
PLACES_MAX = 8  # of more, each has a column too narrow to read; the matrix of cells shows them


def keys_of(report: Report) -> tuple[Key, ...]:
    """Return the columns in the order of their first runs, but layouts of one system one after the
    other. A column to which no scenario applies is one, too."""
    every = [run.cell for run in report.runs] + [one.cell for one in report.skipped]
    keys = list(dict.fromkeys(cell[1:] for cell in every))
    systems = list(dict.fromkeys(system for system, _, _ in keys))
    return tuple(sorted(keys, key=lambda key: systems.index(key[0])))


def letter(number: int) -> str:
    """Return the letter of a column, from 0: after `Z` comes `A2`, because a report that shows no
    columns may have more than 26."""
    turn, place = divmod(number, len(ascii_uppercase))
    return f"{ascii_uppercase[place]}{turn + 1 if turn else ''}"


def letters_of(report: Report) -> dict[Key, str]:
    return {key: letter(place) for place, key in enumerate(keys_of(report))}


def are_side_by_side(report: Report) -> bool:
    """Return whether a page shows columns: two of them have runs, and there is room for all."""
    return len({run.cell[1:] for run in report.runs}) > 1 and len(keys_of(report)) <= PLACES_MAX


def labels(report: Report) -> dict[Cell, str]:
    """Return what pages and tables call each cell that has runs, in the order of these. Scenarios
    are numbered as the page shows them: those that most columns had come first."""
    cells = tuple(dict.fromkeys(run.cell for run in report.runs))
    if not are_side_by_side(report):
        return {cell: str(number) for number, cell in enumerate(cells, start=1)}
    columns = letters_of(report)
    by_column = [cell for key in columns for cell in cells if cell[1:] == key]
    had = by_key(by_column, lambda cell: cell[0])
    scenarios = sorted(had, key=lambda name: -len(had[name]))
    numbers = {name: str(number) for number, name in enumerate(scenarios, start=1)}
    numbers = numbers if len(scenarios) > 1 else {}
    return {cell: f"{columns[cell[1:]]}{numbers.get(cell[0], '')}" for cell in cells}
