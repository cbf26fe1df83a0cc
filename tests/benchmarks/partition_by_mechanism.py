"""The same partition by packet filter and by Toxiproxy on the peers' links, in turn, as one table.

usage: python tests/benchmarks/partition_by_mechanism.py run FOLDER [--pairs 10] [--scenario NAME]
       python tests/benchmarks/partition_by_mechanism.py table FOLDER [--scenario NAME]
`run` plays the scenario (cut-one-node) on a layout with direct peer links and on the same layout
with peer links through Toxiproxy, one after the other, each on a cluster of its own, until each
has so many judged runs below FOLDER; the one with fewer goes first, so that what drifts on the
machine meets both. It gives up a side after three runs in turn that were not judged. Nothing else
should run on the machine meanwhile. Needs Docker.
`table` prints Markdown from what there is: per measure the median of the judged runs, the least,
the greatest and their number; and how far the medians are apart.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from faults.kinds import COMPOSE, mechanism
from harness.deploy.catalogue import load_layout

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
        for row in json.loads(path.read_text())["comparison"]:
            meant = (row["system"], row["scenario"]) == (SYSTEM, scenario) and not row["detail"]
            if meant and row["judged"] and row["median"] is not None:
                unit = 1e9 if row["unit"] == "ns" else 1
                # Each experiment plays its cell once: the median is that run's value.
                found[row["layout"], row["measure"]].append(row["median"] / unit)
    return found


def judged(folder: Path, scenario: str) -> dict[str, int]:
    """Runs by layout whose availability was judged: those that a median is made of."""
    found = read(folder, scenario)
    return {layout: len(found.get((layout, "degraded"), ())) for layout in LAYOUTS}


def run(folder: Path, scenario: str, pairs: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    in_vain = dict.fromkeys(LAYOUTS, 0)
    while True:
        counts = judged(folder, scenario)
        left = [one for one in LAYOUTS if counts[one] < pairs and in_vain[one] < UNJUDGED_MAX]
        if not left:
            break
        layout = min(left, key=lambda one: counts[one])
        play(folder, scenario, layout)
        more = judged(folder, scenario)[layout] > counts[layout]
        in_vain[layout] = 0 if more else in_vain[layout] + 1
    for layout in LAYOUTS:
        print(f"{layout}: {judged(folder, scenario)[layout]} judged runs of {pairs}")


def play(folder: Path, scenario: str, layout: str) -> None:
    words = [scenario, "--system", SYSTEM, "--layout", layout, "--judge", "expectations"]
    command = [sys.executable, "-m", "harness", "run", *words, "--results", str(folder)]
    began = time.monotonic()
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    print(f"{layout}: {time.monotonic() - began:.0f} s, exit {ended.returncode}", flush=True)
    if ended.returncode not in (0, 1, 2):
        sys.exit(ended.stderr)


def table(folder: Path, scenario: str) -> Iterator[str]:
    found = read(folder, scenario)
    by = [mechanism("partition", COMPOSE, load_layout(SYSTEM, one).peer_links) for one in LAYOUTS]
    sides = " | ".join(word.replace("_", " ") for word in by)
    yield f"| {scenario} | {sides} | medians differ by |"
    yield "| --- | --- | --- | --- |"
    for measure in (*TIMES, *COUNTS):
        values = [found.get((layout, measure), []) for layout in LAYOUTS]
        if any(values):
            told = [measure, *(_told(measure, one) for one in values), _gap(*values)]
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
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--scenario", default=SCENARIO)
    said = parser.parse_args()
    if said.what == "run":
        run(said.folder, said.scenario, said.pairs)
    print("\n".join(table(said.folder, said.scenario)))


if __name__ == "__main__":
    main()
