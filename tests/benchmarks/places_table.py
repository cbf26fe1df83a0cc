"""Systems beside each other, scenario by scenario: a CSV row a judged run, a Markdown row a cell.

usage: python -m tests.benchmarks.places_table values VERDICT.JSON ... > RUNS.csv
       python -m tests.benchmarks.places_table table RUNS.csv ...
`values` takes the verdict.json of any experiments; rows of several CSV files add up, so that
sessions do. Makes no figure of its own: each run's stand in its verdict. In the table `runs` are
judged ones, all of whose faults were seen, and of how many the times are known; times are medians,
with the longest in brackets; ≥ where one of them is only a lower bound.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any, Self, TextIO

Json = Mapping[str, Any]
Cell = tuple[str, str, str, str]  # scenario, system, layout, client
HEAD = ("scenario", "system", "runs", "confirmed", "lost", "duplicates, median", "out", "late")
NONE = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """One judged run. `out_s`: None where nobody knows; `late`: None where times are unknown."""

    experiment: str
    run: str
    scenario: str
    system: str
    layout: str
    client: str
    confirmed: int
    lost: int
    stranded: int
    loss_decided: bool
    outage_decided: bool
    out_s: float | None
    bound: bool
    late: tuple[int, int] | None  # missed, of how many operations
    duplicates: Mapping[str, int]

    @property
    def cell(self) -> Cell:
        return (self.scenario, self.system, self.layout, self.client)

    @classmethod
    def of(cls, experiment: str, run: Json) -> Self:
        told, out = run["summary"], run["summary"]["out"]
        late = told["late"]
        return cls(
            experiment=run["piece"] or experiment,
            run=run["name"],
            **run["cell"],
            confirmed=told["confirmed"],
            lost=told["lost"],
            stranded=told["stranded"],
            loss_decided=bool(told["loss_decided_runs"]),
            outage_decided=bool(told["outage_decided_runs"]),
            out_s=out["maximum_s"] if out else None,
            bound=bool(out and out["bound"]),
            late=(late["missed"], late["operations"]) if late["runs"] else None,
            duplicates=told["duplicates"],
        )


def of_verdict(document: Json) -> Iterator[Row]:
    """The judged runs of one verdict.json. One whose faults were not all seen is no try."""
    for run in document["runs"]:
        if run["judged"] and run["summary"]["faults_seen"] == run["summary"]["faults"]:
            yield Row.of(document["experiment"], run)


def write(rows: Iterable[Row], out: TextIO) -> None:
    names = [field.name for field in fields(Row)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        values = (getattr(row, name) for name in names)
        writer.writerow(one if isinstance(one, str) else json.dumps(one) for one in values)


def read(lines: Iterable[str]) -> Iterator[Row]:
    """The rows that `write` wrote."""
    words = {field.name for field in fields(Row) if field.type is str}
    for row in csv.DictReader(lines):
        values = {name: text if name in words else json.loads(text) for name, text in row.items()}
        late = values.pop("late")
        yield Row(**values, late=tuple(late) if late else None)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Markdown, a row a cell; scenarios, and systems in each, as they first come. A run that
    stands in two files counts once."""
    cells: dict[Cell, list[Row]] = {}
    for row in {(row.experiment, row.run): row for row in rows}.values():
        cells.setdefault(row.cell, []).append(row)
    scenarios = list(dict.fromkeys(cell[0] for cell in cells))
    places = list(dict.fromkeys(cell[1:] for cell in cells))
    yield _row(HEAD)
    yield _row(["---"] * len(HEAD))
    order = sorted(cells, key=lambda cell: (scenarios.index(cell[0]), places.index(cell[1:])))
    for cell in order:
        yield _row(_cells(cell, cells[cell]))


def _cells(cell: Cell, runs: Sequence[Row]) -> Iterator[str]:
    scenario, system, layout, _ = cell
    yield f"`{scenario}`"
    yield f"{system} `{layout}`"
    yield f"{len(runs)}, times of {sum(run.outage_decided for run in runs)}"
    yield f"{sum(run.confirmed for run in runs):,}"
    yield _lost(runs)
    yield ", ".join(_duplicates(runs)) or "0"
    yield _out([run for run in runs if run.out_s is not None])
    known = [run.late for run in runs if run.late is not None]
    operations = sum(of for _, of in known)
    yield f"{sum(missed for missed, _ in known) / operations:.2%}" if operations else NONE


def _lost(runs: Sequence[Row]) -> str:
    undecided = sum(not run.loss_decided for run in runs)
    number = sum(run.stranded for run in runs)
    stranded = f", {number:,} stranded" if number else ""
    unknown = f", unknown in {undecided} runs" if undecided else ""
    return f"{sum(run.lost for run in runs):,}{stranded}{unknown}"


def _out(runs: Sequence[Row]) -> str:
    if not runs:
        return NONE
    times = [run.out_s or 0.0 for run in runs]
    least = "≥ " if any(run.bound for run in runs) else ""
    return f"{least}{median(times):.3g} s ({max(times):.3g} s)"


def _duplicates(runs: Sequence[Row]) -> Iterator[str]:
    """What they came of, where half of the runs had any."""
    for name in sorted({name for run in runs for name in run.duplicates}):
        middle = median(run.duplicates.get(name, 0) for run in runs)
        if middle:
            yield f"{middle:,g} {name}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("values", "table"))
    parser.add_argument("files", type=Path, nargs="+")
    said = parser.parse_args()
    texts = [path.read_text(encoding="utf-8") for path in said.files]
    if said.what == "values":
        write((row for text in texts for row in of_verdict(json.loads(text))), sys.stdout)
        return
    print("\n".join(lines(row for text in texts for row in read(text.splitlines()))))


if __name__ == "__main__":
    main()
