"""The same scenario on layouts beside each other, played in turn, as one table.

usage: python -m tests.benchmarks.layouts_beside run FOLDER [--runs 10] [--scenario NAME]
           [--layout NAME ...]
       python -m tests.benchmarks.layouts_beside table FOLDER [--scenario NAME] [--layout NAME ...]
By default: cut-one-node by packet filter and by Toxiproxy on the peers' links. `run` plays the
scenario on one layout after the other, each on a cluster of its own, until each has so many judged
runs below FOLDER; the one with fewest goes first, so that what drifts on the machine meets all. It
gives up a layout after three runs in turn that were not judged. Nothing else should run on the
machine meanwhile. Needs Docker.
`table` prints Markdown from what there is: per measure the median of the judged runs, the least,
the greatest and their number; of two layouts how far their medians are apart. Of every experiment
below FOLDER the runs of that scenario count, where it plays them once.
"""

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmarks.judged_runs import play

SYSTEM = "rabbitmq-mirrored"
LAYOUTS = ("all-automatic@T=10", "all-automatic-toxiproxy@T=10")
SCENARIO = "cut-one-node"
TIMES = ("silence", "degraded", "first_success", "consumers_resumed", "backlog_drained")
COUNTS = ("lost", "stranded", "loss_unknown", "lost_indeterminate", "duplicated", "reordered")
UNJUDGED_MAX = 3

Values = dict[tuple[str, str], list[float]]  # by layout and measure: one a judged run


def read(folder: Path, scenario: str) -> Values:
    """What every finished experiment below `folder` found; times in seconds."""
    found: Values = defaultdict(list)
    for path in sorted(folder.glob("*/verdict.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))["comparison"]:
            meant = (row["system"], row["scenario"]) == (SYSTEM, scenario) and not row["detail"]
            if meant and row["judged"] == 1 and row["median"] is not None:
                unit = 1e9 if row["unit"] == "ns" else 1
                # The median of one run is that run's value.
                found[row["layout"], row["measure"]].append(row["median"] / unit)
    return found


def judged(folder: Path, scenario: str, layouts: Sequence[str]) -> dict[str, int]:
    """Runs by layout whose availability was judged: those that a median is made of."""
    found = read(folder, scenario)
    return {layout: len(found.get((layout, "degraded"), ())) for layout in layouts}


def run(folder: Path, scenario: str, layouts: Sequence[str], runs: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    in_vain = dict.fromkeys(layouts, 0)
    while True:
        counts = judged(folder, scenario, layouts)
        left = [one for one in layouts if counts[one] < runs and in_vain[one] < UNJUDGED_MAX]
        if not left:
            break
        layout = min(left, key=lambda one: counts[one])
        play(folder, [scenario, "--system", SYSTEM, "--layout", layout])
        more = judged(folder, scenario, layouts)[layout] > counts[layout]
        in_vain[layout] = 0 if more else in_vain[layout] + 1
    for layout, number in judged(folder, scenario, layouts).items():
        print(f"{layout}: {number} judged runs of {runs}")


def table(folder: Path, scenario: str, layouts: Sequence[str]) -> Iterator[str]:
    found = read(folder, scenario)
    head = [scenario, *layouts, *(["medians differ by"] if len(layouts) == 2 else [])]
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for measure in (*TIMES, *COUNTS):
        values = [found.get((layout, measure), []) for layout in layouts]
        if any(values):
            told = [measure, *(_told(measure, one) for one in values)]
            told += [_gap(*values)] if len(layouts) == 2 else []
            yield f"| {' | '.join(told)} |"


def _told(measure: str, values: list[float]) -> str:
    if not values:
        return "not judged"
    ends = (statistics.median(values), min(values), max(values))
    middle, low, high = (_number(measure, value) for value in ends)
    return f"{middle} ({low} to {high}; {len(values)} runs)"


def _number(measure: str, value: float) -> str:
    return f"{value:,.2f} s" if measure in TIMES else f"{value:,g}"


def _gap(one: list[float], other: list[float]) -> str:
    if not one or not other:
        return ""
    a, b = statistics.median(one), statistics.median(other)
    return f"{100 * (b - a) / a:+.0f} %" if a else ("nothing" if a == b else f"{b - a:+,g}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--scenario", default=SCENARIO)
    parser.add_argument("--layout", action="append", default=[])
    said = parser.parse_args()
    layouts = tuple(said.layout) or LAYOUTS
    if said.what == "run":
        run(said.folder, said.scenario, layouts, said.runs)
    print("\n".join(table(said.folder, said.scenario, layouts)))


if __name__ == "__main__":
    main()
