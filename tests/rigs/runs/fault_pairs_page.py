"""The page of fault pairs, as Markdown: what planning refuses, and what was played.

`python -m tests.rigs.runs.fault_pairs_page > docs/fault-pairs.md` makes it again; a test compares.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from faults.core.mechanisms import COMPOSE, LOCAL
from harness.plan.model import RunPlan
from tests.rigs.runs import fault_pairs_results as stored
from tests.rigs.runs.fault_pairs import LAYOUT, OTHER, SAME, SYSTEM, TIMES, Pair, pairs, planned

VERIFIED, OPEN, REFUSED, PLANNED = "verified", "open", "refused", "planned"
_SIGNS = {VERIFIED: "V", OPEN: "O", REFUSED: "r", PLANNED: "."}
_HEAD = f"""\
# Faults in combination

*Made by `python -m tests.rigs.runs.fault_pairs_page > docs/fault-pairs.md`; a test compares.*

Each ordered pair of fault kinds is combined in three shapes: the two overlap, the second lies
within the first, or the second opens as the first is undone. Planning refuses a pair with a
reason, or the pair can be played. A pair is *verified* when a run verified that both faults were
active and that both ended. It is *open* when a run of the pair alone did not.

`pytest -m nightly tests/harness/run/test_fault_pairs.py` plays every pair that planning takes, on
`{SYSTEM}` `{LAYOUT}`: several pairs, one after the other, on one cluster. A pair that
such a batch leaves open is played again, alone. `python -m tests.rigs.runs.play_fault_pairs` plays
the pairs that were not played yet, on several clusters at once, and keeps the results. The tables
show these results.

Letters, one for each shape in the order above: `V` verified, `O` open, `r` refused by planning,
`.` planned and not played yet. Rows: the fault that opens first.
"""


@cache
def results() -> stored.Results:
    return stored.load()


@cache
def outcomes(deployment: str) -> Mapping[Pair, tuple[str, str]]:
    """Every pair of a deployment: its outcome, and the reason where it is refused or open."""
    return {pair: _outcome(deployment, pair) for pair in pairs(deployment)}


def _outcome(deployment: str, pair: Pair) -> tuple[str, str]:
    run = planned(pair, deployment)
    if not isinstance(run, RunPlan):
        return REFUSED, run
    if (deployment, pair) not in results():
        return PLANNED, ""
    reason = results()[deployment, pair]
    return (OPEN, reason) if reason else (VERIFIED, "")


def page() -> str:
    """docs/fault-pairs.md."""
    parts = [_HEAD]
    for deployment in (LOCAL, COMPOSE):
        found = outcomes(deployment)
        parts += [f"\n## `{deployment}`\n", _counted(found)]
        for place, title in ((SAME, "On one host"), (OTHER, "On two hosts")):
            parts += [f"\n{title}:\n", *_table(found, place)]
        parts += _open(found)
    parts += ["\n## Why planning refuses\n", *_reasons(outcomes(COMPOSE), outcomes(LOCAL))]
    return "\n".join(parts) + "\n"


def _counted(found: Mapping[Pair, tuple[str, str]]) -> str:
    counts = Counter(outcome for outcome, _ in found.values())
    outcomes = ", ".join(f"{counts[one]:,} {one}" for one in (VERIFIED, OPEN, REFUSED))
    return f"{len(found):,} pairs and shapes: {outcomes}, {counts[PLANNED]:,} not played yet."


def _table(found: Mapping[Pair, tuple[str, str]], place: str) -> Iterator[str]:
    """A pair with a fault of clients has no place: it stands in the second table."""
    kinds = list(dict.fromkeys(pair.first for pair in found))
    yield f"| first | {' | '.join(kinds)} |"
    yield f"|{' --- |' * (len(kinds) + 1)}"
    for first in kinds:
        cells = (_cell(found, first, second, place) for second in kinds)
        yield f"| `{first}` | {' | '.join(cells)} |"


def _cell(found: Mapping[Pair, tuple[str, str]], first: str, second: str, place: str) -> str:
    signs = []
    for time in TIMES:
        places = (place, "") if place == OTHER else (place,)
        pair = next((p for at in places if (p := Pair(first, second, time, at)) in found), None)
        signs.append(_SIGNS[found[pair][0]] if pair else "")
    return "".join(signs) or "-"


def _open(found: Mapping[Pair, tuple[str, str]]) -> Iterator[str]:
    left = {pair: reason for pair, (outcome, reason) in found.items() if outcome == OPEN}
    if left:
        yield "\nOpen:\n"
    for pair, reason in sorted(left.items()):
        yield f"- {pair.name}: {reason}"


def _reasons(*every: Mapping[Pair, tuple[str, str]]) -> Iterator[str]:
    """Each reason once, with the pairs of kinds that it stands against."""
    groups: dict[str, set[str]] = defaultdict(set)
    for found in every:
        for pair, (outcome, reason) in found.items():
            if outcome == REFUSED:
                groups[_general(reason)].add(f"`{pair.first}` + `{pair.second}`")
    for reason, names in sorted(groups.items()):
        yield f"- {reason}: {', '.join(sorted(names))}."


def _general(reason: str) -> str:
    """Without the names of the pair's own targets."""
    text = reason.rpartition("fault 2: ")[2]
    text = re.sub(r"fault 1 \(\w+ [^)]*\)", "the first fault", text)
    text = re.sub(r"\ban? \w+ (is verified|hides|comes)", r"the second \1", text)
    return text.partition(": let ")[0]


if __name__ == "__main__":
    print(page(), end="")
