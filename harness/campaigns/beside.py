"""Two systems beside each other: whether the same cells come to the same verdicts and times.

1. Cells are the same where scenario, layout and client are: a reference and what it stands for
   have layouts of one name.
2. Of a claim both are of one class where some outcome came on both sides; that it does not apply
   is an outcome, too. Where one side could judge it in no run, nothing is said of it.
3. Times are medians; they agree within a factor of two, or 100 ms. One that was not reached counts
   for as long as it was seen. Where one side has none that is known, nothing is said.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from harness.campaigns.packed import Packed
from harness.campaigns.page_tables import NONE, cells_of, out_of, silences
from harness.claims.judge import ClaimOutcome
from harness.compare.medians import Median, Time, median
from harness.judging.result import RunReport
from harness.report.markdown import Markup, code, escaped, head, joined, row
from harness.report.page import formats
from harness.report.page.totals import claims_of

FACTOR, SLACK_S = 2.0, 0.1
AGREE, DIFFER, UNKNOWN = "agree", "**differ**", "not known"

_Runs = Sequence[RunReport]
_Outcomes = Mapping[str, Counter[ClaimOutcome]]  # by claim: in how many runs
_Middle = Median | None  # None: not known


def beside(packs: Sequence[Packed]) -> Iterator[str]:
    """Verdicts and times of each cell that two systems have."""
    yield from head(
        *("scenario", "layout", "systems", "runs", "claims of one class"),
        *("of two classes", "out", "longest silence", "times"),
    )
    for (scenario, layout, client), systems, (first, second) in _pairs(packs):
        same, differing = _classes(_outcomes(first), _outcomes(second))
        times = [(_middle(of(first)), _middle(of(second))) for of in (out_of, silences)]
        where = Markup(f"{code(layout)} {escaped(client)}")
        place = code(scenario), where, joined(", ", systems)
        numbers = f"{len(first)}, {len(second)}", str(same)
        middles = (
            ", ".join(NONE if one is None else one.describe(formats.seconds) for one in both)
            for both in times
        )
        differ = joined("; ", differing) or NONE
        yield row((*place, *numbers, differ, *middles, _compared(times)))


def _pairs(
    packs: Sequence[Packed],
) -> Iterator[tuple[tuple[str, str, str], tuple[str, str], tuple[_Runs, _Runs]]]:
    """Yield scenario, layout and client, two systems, in the order in which they were first
    played, and the runs of each."""
    places: dict[tuple[str, str, str], dict[str, _Runs]] = {}
    for (scenario, system, layout, client), runs in cells_of(packs):
        places.setdefault((scenario, layout, client), {})[system] = runs
    played = list(dict.fromkeys(run.cell[1] for pack in packs for run in pack.runs))
    for place, by_system in places.items():
        for pair in combinations(sorted(by_system, key=played.index), 2):
            yield place, pair, (by_system[pair[0]], by_system[pair[1]])


def _outcomes(runs: _Runs) -> _Outcomes:
    unknown = ClaimOutcome.INCONCLUSIVE
    return {
        claim: Counter(one.outcome for one in found.verdicts if one.outcome is not unknown)
        for claim, found in claims_of(runs).items()
    }


def _classes(first: _Outcomes, second: _Outcomes) -> tuple[int, list[Markup]]:
    """How many claims are of one class on both sides, and each that is not."""
    same, differing = 0, []
    for claim in first.keys() & second.keys():
        here, there = first[claim], second[claim]
        if here.keys() & there.keys():
            same += 1
        elif here and there:
            differing.append(Markup(f"{code(claim)}: {_counted(here)}, {_counted(there)}"))
    return same, sorted(differing)


def _counted(outcomes: Counter[ClaimOutcome]) -> str:
    return " and ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))


def _middle(times: Sequence[Time]) -> _Middle:
    return median(times) if times else None


def _compared(times: Sequence[tuple[_Middle, _Middle]]) -> str:
    known = [sorted((one.median, other.median)) for one, other in times if one and other]
    if any(high - low > SLACK_S and high > FACTOR * low for low, high in known):
        return DIFFER
    judged = sum(any(both) for both in times)
    return AGREE if known and len(known) == judged else UNKNOWN
