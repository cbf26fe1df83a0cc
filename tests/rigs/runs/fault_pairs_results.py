"""What was played of the pairs: `fault_pairs.json` beside this module, one row a pair."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.rigs.runs.fault_pairs import Pair

FILE = Path(__file__).with_name("fault_pairs.json")

Results = Mapping[tuple[str, Pair], str]  # deployment and pair -> "": verified; else why not


def load() -> Results:
    rows = json.loads(FILE.read_text())
    return {(row[0], Pair(*row[1:5])): row[5] for row in rows}


def save(results: Results) -> None:
    """Replace the file at once: a reader never meets half of it."""
    rows = [
        json.dumps([deployment, *pair.kinds, pair.time, pair.place, reason])
        for (deployment, pair), reason in sorted(results.items())
    ]
    whole = FILE.with_suffix(".new")
    whole.write_text("[\n" + ",\n".join(rows) + "\n]\n")
    whole.replace(FILE)
