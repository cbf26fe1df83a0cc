"""Nights as they stand on record: of one cell or several, one after another."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from harness.compare.medians import Time
from harness.compare.rates import Tried, rate
from harness.compare.versus import LOSS, Counted, Ran, Side
from harness.judging.exits import Exit
from harness.nightly.record import Alarmed, CellOfNight, CellResult, Night, PlannedCell, Played
from harness.plan.model import Cell
from tests.harness.nightly.verdicts import CELL, PROMISE

FIRST = datetime(2026, 1, 1, 22, 0, tzinfo=UTC)


def good(cells: Sequence[Cell] = (CELL,), runs: int = 30) -> Side:
    """A baseline: nothing was lost, and it was out for 3.0 to 3.3 s."""
    out = tuple(Time(3 + 0.01 * number) for number in range(runs))
    kept = Counted(Tried(rate(0, runs), 0), "It comes.")
    ran = Ran(runs, {LOSS: kept, PROMISE: kept}, {"total_downtime": out})
    return Side("good", dict.fromkeys(cells, ran))


def night(
    number: int,
    out_s: float = 3.1,
    lost: bool = False,
    cells: Sequence[Cell] = (CELL,),
    label: str = "",
    version: str = "3.10.8",
    alarms: tuple[Alarmed, ...] = (),
    exit_code: int | None = Exit.PASSED,
) -> Night:
    began = FIRST + timedelta(days=number)
    name = f"{began:%Y%m%d}-220000-{number:04x}"
    harm = {LOSS: CellResult(int(lost), 1, 0, False, "Lost."), PROMISE: CellResult(0, 1, 0, False)}
    return Night(
        name=name,
        title="Every night",
        label=label,
        began=began.isoformat(),
        ends=(began + timedelta(hours=8)).isoformat(),
        planned=tuple(PlannedCell(cell, 1, "it was never judged", 60, "now") for cell in cells),
        left_out=(),
        played=tuple(
            Played(
                cell,
                began.isoformat(),
                f"{began:%Y%m%d}-2201{place:02d}-{number:04x}",
                60,
                0,
                True,
            )
            for place, cell in enumerate(cells)
        ),
        cells=tuple(
            CellOfNight(cell, 1, harm, {"total_downtime": (Time(out_s),)}) for cell in cells
        ),
        versions={"rabbitmq": version},
        alarms=alarms,
        exit_code=exit_code,
    )
