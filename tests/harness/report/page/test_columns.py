"""What cells are called: by column and scenario, or by their number."""

from harness.report.page.columns import PLACES_MAX, labels
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import page_of, summed
from tests.rigs.runs.reports import CELL, OTHER, SKIPPED

CUT = ("cut-one-node", *CELL[1:])


def test_cell_is_called_by_its_column_and_the_number_of_its_scenario() -> None:
    runs = (summed(Story(), cell=CUT), summed(Story()), summed(Story(), cell=OTHER))
    assert labels(page_of(*runs)) == {CUT: "A2", CELL: "A1", OTHER: "B1"}


def test_cell_of_the_only_scenario_is_called_by_its_column() -> None:
    made = page_of(summed(Story()), summed(Story(), cell=OTHER), skipped=(SKIPPED,))
    assert labels(made) == {CELL: "A", OTHER: "B"}


def test_cells_without_columns_are_numbered() -> None:
    alone = page_of(summed(Story()), summed(Story(), cell=CUT))
    assert labels(alone) == {CELL: "1", CUT: "2"}
    many = [(CELL[0], CELL[1], f"layout-{number}", CELL[3]) for number in range(PLACES_MAX + 1)]
    made = page_of(*(summed(Story(), cell=cell) for cell in many))
    assert labels(made)[many[-1]] == str(PLACES_MAX + 1)
