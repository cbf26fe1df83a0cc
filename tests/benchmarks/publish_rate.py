"""Publish rate against the number of mirrors (0, 1, 2, 4) and without mirroring, on five nodes.

usage: python -m tests.benchmarks.publish_rate run FOLDER [--system S] [--repeats 5]
       python -m tests.benchmarks.publish_rate table FOLDER [--system S]
`run` plays the scenario publish-rate (two publishers at maximum pace, no consumer, nothing is
broken) on one layout after another, each on a cluster of its own, until each has so many runs
whose rate was judged; the one with fewest goes first, so that what drifts on the machine meets
all. It gives up a layout after UNJUDGED_MAX runs in turn that were not judged. Nothing else should
run on the machine meanwhile: a run whose publishers were held up has no rate.
`table` prints Markdown: confirmed messages a second (of the mart `steady_state`) by layout, with
its interval, and what the articles claim of it. Five nodes, a proxy and two publishers share this
machine's cores: compare rows, not digits.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.campaigns.page_tables import middle
from harness.campaigns.playing import play
from harness.campaigns.stored import CampaignRun, found
from harness.claims.claims import shipped_beside
from harness.compare.compared import falls
from harness.compare.medians import Time
from harness.plan.model import split_label

SCENARIO = "publish-rate"
LAYOUTS = ("unmirrored-5", "mirrors-0", "mirrors-1", "mirrors-2", "mirrors-4")
SYSTEMS = ("rabbitmq-mirrored", "reference-mirrored")
PROFILE = "T=10"
UNJUDGED_MAX = 3

Rates = dict[str, list[float]]  # by layout, without its profile: one a judged run


def rates(runs: Sequence[CampaignRun], system: str) -> Rates:
    """Confirmed messages a second of every run of the scenario whose rate was judged."""
    known: Rates = {}
    for one in runs:
        if (one.scenario, one.system) == (SCENARIO, system) and one.confirmed_per_s is not None:
            known.setdefault(split_label(one.layout)[0], []).append(one.confirmed_per_s)
    return known


def run(folder: Path, system: str, repeats: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    in_vain = dict.fromkeys(LAYOUTS, 0)
    while True:
        counts = {layout: len(rates(found(folder), system).get(layout, ())) for layout in LAYOUTS}
        left = [one for one in LAYOUTS if counts[one] < repeats and in_vain[one] < UNJUDGED_MAX]
        if not left:
            break
        layout = min(left, key=lambda one: counts[one])
        play(folder, [SCENARIO, "--system", system, "--layout", f"{layout}@{PROFILE}"], print)
        more = len(rates(found(folder), system).get(layout, ())) > counts[layout]
        in_vain[layout] = 0 if more else in_vain[layout] + 1


def table(runs: Sequence[CampaignRun], system: str) -> Iterator[str]:
    known = rates(runs, system)
    begun = Counter(
        split_label(one.layout)[0]
        for one in runs
        if (one.scenario, one.system) == (SCENARIO, system)
    )
    yield f"| {system} | runs | confirmed a second: median | of unmirrored |"
    yield "| --- | --- | --- | --- |"
    base = statistics.median(known[LAYOUTS[0]]) if known.get(LAYOUTS[0]) else None
    for layout in LAYOUTS:
        values = known.get(layout, [])
        columns = _runs(len(values), begun[layout]), _median(values), _share(values, base)
        yield f"| {layout} | {' | '.join(columns)} |"
    yield ""
    yield from claims(known)


def claims(known: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """What the articles claim of these layouts beside each other."""
    for one in shipped_beside().compared:
        if one.scenario == SCENARIO:
            result = falls(one.falls_over, known)
            outcome = str(result.outcome) if result.outcome else "not run yet"
            yield f"- **{outcome}** {one.name}: {one.meaning} ({one.place}) {result.text}".rstrip()


def _runs(judged: int, begun: int) -> str:
    return f"{judged}{f', {begun - judged} not judged' if begun > judged else ''}"


def _median(values: Sequence[float]) -> str:
    return middle([Time(value) for value in values], "{:,.0f}".format)


def _share(values: Sequence[float] | None, base: float | None) -> str:
    return f"{100 * statistics.median(values) / base:.0f} %" if values and base else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--system", choices=SYSTEMS, default=SYSTEMS[0])
    parser.add_argument("--repeats", type=int, default=5)
    said = parser.parse_args()
    if said.what == "run":
        run(said.folder, said.system, said.repeats)
    print("\n".join(table(found(said.folder), said.system)))


if __name__ == "__main__":
    main()
