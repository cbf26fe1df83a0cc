"""Every scenario on every layout, real beside reference, in pieces that add up over sessions.

usage: python tests/benchmarks/real_and_reference.py run FOLDER [--minutes 60] [--repeats 5]
       python tests/benchmarks/real_and_reference.py table FOLDER
       python tests/benchmarks/real_and_reference.py values FOLDER > FOLDER/earlier.csv
`run` plays one experiment after another, each all scenarios once on one layout of one system,
whichever has fewest judged runs so far, and keeps it below FOLDER; it stops when every cell has
enough judged runs, or time is up. Nothing else should run on the machine meanwhile: a run whose
workers were held up is not judged, and is played again. Where workers get real time, several such
loops may share a machine, each with a `--system` or a `--layout` of its own.
`table` prints Markdown from what there is: medians over the judged runs, and whether both agree:
their medians of an outage lie within a factor of two, or within 100 ms.
`values` prints every judged value as CSV. What a file of that kind in FOLDER holds counts, too.
"""

import argparse
import csv
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import judged_runs

SYSTEMS = ("rabbitmq-mirrored", "reference-mirrored")
LAYOUTS = ("all-automatic", "all-manual", "exactly-2", "exactly-2-manual", "unmirrored")
UNMIRRORED = ("master-crash", "master-stop", "master-freeze", "client-link-hang", "cut-one-node")
SCENARIOS = (*UNMIRRORED, "mirror-crash", "unsynchronised-mirror")
LAST = "master-freeze"  # it may leave a split brain, and then the next run needs a new cluster
PROFILE = "T=10"
TIMES = ("degraded", "silence", "consumers_resumed")
COUNTS = ("lost", "stranded", "duplicated")
NEAR_S, FACTOR = 0.1, 2.0

Cell = tuple[str, str, str]  # system, layout, scenario


class Value(NamedTuple):
    """One measure of one judged run; seconds, or a count."""

    experiment: str
    system: str
    layout: str
    scenario: str
    measure: str
    value: float


Values = dict[tuple[Cell, str], list[float]]  # by cell and measure: one a judged run


def scenarios(layout: str) -> tuple[str, ...]:
    return UNMIRRORED if layout == "unmirrored" else SCENARIOS


def cells(systems: tuple[str, ...], layouts: tuple[str, ...]) -> Iterator[Cell]:
    for system in systems:
        for layout in layouts:
            for scenario in scenarios(layout):
                yield system, layout, scenario


def judged(folder: Path) -> Iterator[Value]:
    """What every finished experiment below `folder` found, and what earlier ones had; seconds."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as lines:
            for row in csv.DictReader(lines):
                yield Value(**{**row, "value": float(row["value"])})
    for path in sorted(folder.glob("*/verdict.json")):
        for row in json.loads(path.read_text())["comparison"]:
            if row["detail"] or not row["judged"] or row["median"] is None:
                continue
            layout = row["layout"].partition("@")[0]
            unit = 1e9 if row["unit"] == "ns" else 1
            # Each experiment plays a cell once: the median is that run's value.
            found = row["median"] / unit
            yield Value(
                path.parent.name, row["system"], layout, row["scenario"], row["measure"], found
            )


def read(folder: Path) -> Values:
    found: Values = defaultdict(list)
    for each in judged(folder):
        found[(each.system, each.layout, each.scenario), each.measure].append(each.value)
    return found


def missing(
    found: Values, systems: tuple[str, ...], layouts: tuple[str, ...], repeats: int
) -> dict[tuple[str, str], list[str]]:
    """(system, layout) -> the scenarios that lack judged runs, the poorest pair first."""
    counts = {cell: len(found.get((cell, "degraded"), ())) for cell in cells(systems, layouts)}
    poor: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (system, layout, scenario), count in sorted(counts.items(), key=lambda one: one[1]):
        if count < repeats:
            poor[system, layout].append(scenario)
    return poor


def run(
    folder: Path,
    systems: tuple[str, ...],
    layouts: tuple[str, ...],
    minutes: float,
    repeats: int,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + 60 * minutes
    while time.monotonic() < ends:
        poor = missing(read(folder), systems, layouts, repeats)
        if not poor:
            print("every cell has enough judged runs")
            return
        (system, layout), wanted = next(iter(poor.items()))
        play(folder, system, layout, wanted)


def play(folder: Path, system: str, layout: str, wanted: list[str]) -> None:
    words = ["--system", system, "--layout", f"{layout}@{PROFILE}"]
    ordered = sorted(wanted, key=lambda scenario: scenario == LAST)
    if judged_runs.play(folder, [*ordered, *words]) not in (0, 1, 2):
        sys.exit(f"{system} {layout}: no verdict")


def table(folder: Path) -> Iterator[str]:
    found = read(folder)
    yield "| scenario | layout | measure | RabbitMQ | reference | |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for layout in LAYOUTS:
        for scenario in scenarios(layout):
            for measure in (*TIMES, *COUNTS):
                sides = [
                    found.get(((system, layout, scenario), measure), []) for system in SYSTEMS
                ]
                if any(sides):
                    told = [_told(measure, values) for values in sides]
                    row = (scenario, layout, measure, *told, _agree(measure, *sides))
                    yield f"| {' | '.join(row)} |"


def print_values(folder: Path) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(Value._fields)
    kept = (*TIMES, *COUNTS)
    writer.writerows(value for value in judged(folder) if value.measure in kept)


def _told(measure: str, values: list[float]) -> str:
    if not values:
        return "not judged"
    digits = 3 if measure in TIMES else 0
    low, middle, high = (
        f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values))
    )
    return f"{middle} ({low} to {high}; {len(values)})"


def _agree(measure: str, real: list[float], reference: list[float]) -> str:
    if measure != "degraded" or not real or not reference:
        return ""
    a, b = statistics.median(real), statistics.median(reference)
    return "agree" if abs(a - b) <= NEAR_S or max(a, b) <= FACTOR * min(a, b) else "**differ**"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table", "values"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--system", choices=SYSTEMS, action="append")
    parser.add_argument("--layout", choices=LAYOUTS, action="append")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--repeats", type=int, default=5)
    said = parser.parse_args()
    if said.what == "run":
        systems, layouts = tuple(said.system or SYSTEMS), tuple(said.layout or LAYOUTS)
        run(said.folder, systems, layouts, said.minutes, said.repeats)
    elif said.what == "table":
        print("\n".join(table(said.folder)))
    else:
        print_values(said.folder)


if __name__ == "__main__":
    main()
