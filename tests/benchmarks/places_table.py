"""Systems beside each other, scenario by scenario, as Markdown.

usage: mqproof analyse EXPERIMENT ... ; python -m tests.benchmarks.places_table VERDICT.JSON
Makes no figure of its own: everything stands in the verdict.json of a report over several
experiments. `runs`: judged ones, and of how many the times are known; times are medians, with the
longest in brackets; a bound (nobody saw the end) is marked with ≥.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]
HEAD = ("scenario", "system", "runs", "confirmed", "lost", "duplicates, median", "out", "late")
NONE = "-"


def lines(verdict: Json) -> Iterator[str]:
    """Markdown, a row a scenario and place; scenarios in the order in which they first come."""
    yield _row(HEAD)
    yield _row(["---"] * len(HEAD))
    doubled = _duplicates(verdict["comparison"])
    places = verdict["places"]
    names = dict.fromkeys(each["scenario"] for place in places for each in place["scenarios"])
    for name in names:
        for place in places:
            for each in place["scenarios"]:
                if each["scenario"] == name:
                    key = (name, place["system"], place["layout"], place["client"])
                    yield _row(_cells(each, place, doubled.get(key, [])))


def _cells(each: Json, place: Json, duplicates: Sequence[str]) -> Iterator[str]:
    yield f"`{each['scenario']}`"
    yield f"{place['system']} `{place['layout']}`"
    yield f"{each['judged']}, times of {each['outage_decided_runs']}"
    yield f"{each['confirmed']:,}"
    yield _lost(each)
    yield ", ".join(duplicates) or "0"
    yield _span(each["out"])
    late = each["late"]
    yield f"{late['missed'] / late['operations']:.2%}" if late["operations"] else NONE


def _lost(each: Json) -> str:
    undecided = each["judged"] - each["loss_decided_runs"]
    stranded = f", {each['stranded']:,} stranded" if each["stranded"] else ""
    unknown = f", unknown in {undecided} runs" if undecided else ""
    return f"{each['lost']:,}{stranded}{unknown}"


def _span(told: Json | None) -> str:
    if told is None:
        return NONE
    least = "≥ " if told["bound"] else ""
    return f"{least}{told['median_s']:.3g} s ({told['maximum_s']:.3g} s)"


def _duplicates(rows: Sequence[Json]) -> dict[tuple[str, str, str, str], list[str]]:
    """By cell: what the duplicates came of, where half of the runs had any."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows:
        if row["measure"] == "duplicated" and row["detail"] and row["median"]:
            key = (row["scenario"], row["system"], row["layout"], row["client"])
            found.setdefault(key, []).append(f"{row['median']:,g} {row['detail']}")
    return found


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("verdict", type=Path)
    said = parser.parse_args()
    print("\n".join(lines(json.loads(said.verdict.read_text(encoding="utf-8")))))


if __name__ == "__main__":
    main()
