"""How often the gate alarms though nothing changed, and how soon when something did.

    python -m tests.benchmarks.gate_alarms FOLDER [--sets 1000] [--longer 1.3]

1. FOLDER holds experiments, as a baseline does: some 30 runs a cell. A set draws a baseline of so
   many runs, and 20 nights of one run a cell, from them; where nothing is changed both are alike.
2. The 20 sets that the gate itself is asked of, night after night, are the first of them.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from harness.compare.gate import gate, level_of
from harness.compare.longer import CAUGHT, WITHIN, Baseline
from harness.compare.medians import Time, median
from harness.compare.rates import Tried, rate
from harness.compare.versus import LOSS, Counted, Ran, Side
from harness.nightly.message import baseline_of
from harness.plan.seeds import stream

BY_GATE = 20  # sets


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("folder", type=Path)
    words.add_argument("--sets", type=int, default=1000)
    words.add_argument("--longer", type=float, default=1.3)
    options = words.parse_args()
    recorded = baseline_of(options.folder)
    level = level_of(recorded)
    print(f"{len(recorded.cells)} cells; an alarm by chance in {level:.2g} of answers")
    false = _sets_with_an_alarm(recorded, level, options.sets)
    print(f"nothing changed: {false} of {options.sets} sets of {WITHIN} nights with an alarm")
    print(f"the gate itself, of {BY_GATE} such sets: {_by_gate(recorded)} with an alarm")
    print(f"one run lost something: {_lost(recorded)} cells alarm at once")
    print()
    print("| cell | time | runs | median | spread | caught when longer | smallest caught |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for cell, ran in recorded.cells.items():
        for measure, times in ran.times.items():
            print(_row(" · ".join(cell[:3]), measure, times, level, options.longer, options.sets))


def _row(
    cell: str, measure: str, times: Sequence[Time], level: float, factor: float, sets: int
) -> str:
    chance = stream(0, "caught", cell, measure)
    caught = sum(_caught(times, level, factor, chance) for _ in range(sets))
    smallest = Baseline(times, level).smallest_caught()
    low, high = np.percentile([one.value for one in times], (25, 75))
    middle = median(times).median
    spread = f"{100 * (high - low) / middle:.0f} %" if middle else "-"
    change = "none" if smallest is None else f"{100 * (smallest - 1):.0f} % longer"
    goal = "" if smallest is not None and smallest <= factor else f" (under {CAUGHT:.0%})"
    return (
        f"| {cell} | {measure} | {len(times)} | {middle:.2f} s | {spread} | "
        f"{100 * (factor - 1):.0f} % longer: {caught} of {sets} | {change}{goal} |"
    )


def _caught(times: Sequence[Time], level: float, factor: float, chance: Random) -> bool:
    """Of a baseline and 20 nights, both drawn."""
    baseline = Baseline(chance.choices(times, k=len(times)), level)
    drawn = [one.value * factor for one in chance.choices(times, k=WITHIN)]
    return baseline.caught(np.array([drawn])) > 0


def _sets_with_an_alarm(recorded: Side, level: float, sets: int) -> int:
    chance = stream(0, "nothing changed")
    return sum(
        any(
            _caught(times, level, 1.0, chance)
            for ran in recorded.cells.values()
            for times in ran.times.values()
        )
        for _ in range(sets)
    )


def _by_gate(recorded: Side) -> int:
    chance = stream(0, "nights")
    alarmed = 0
    for _ in range(BY_GATE):
        nights = [Side(f"night {number}", _night(recorded, chance)) for number in range(WITHIN)]
        alarmed += any(
            gate(recorded, nights[: number + 1]).alarms for number in range(len(nights))
        )
    return alarmed


def _night(recorded: Side, chance: Random) -> dict[tuple[str, str, str, str], Ran]:
    """One run a cell: each promise kept or broken as often as in the baseline."""
    return {
        cell: Ran(
            1,
            {name: _drawn(one, chance) for name, one in ran.claims.items()},
            {name: (chance.choice(times),) for name, times in ran.times.items()},
        )
        for cell, ran in recorded.cells.items()
    }


def _drawn(one: Counted, chance: Random) -> Counted:
    known = one.tried.rate
    broken = bool(known.runs) and chance.random() * known.runs < known.violated
    return Counted(Tried(rate(int(broken), min(1, known.runs)), 0, one.tried.warns), one.meaning)


def _lost(recorded: Side) -> int:
    """Cells that alarm at once where one run lost something, of those whose baseline has none."""
    lost = Counted(Tried(rate(1, 1), 0), "")
    return sum(
        bool(gate(recorded, [Side("tonight", {cell: Ran(1, {LOSS: lost}, {})})]).alarms)
        for cell, ran in recorded.cells.items()
        if not ran.claims[LOSS].tried.rate.violated
    )


if __name__ == "__main__":
    main()
