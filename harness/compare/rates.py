"""How often a thing happened in the runs of a cell, and how far that number bounds its rate.

1. The unit is the run: a violation is a run that had one, however many messages it cost.
2. With a violation, the rate has a 95 % confidence interval (Clopper-Pearson, exact): two sides,
   2.5 % each. Without a violation it has a 95 % one-sided bound (exact, too): only the upper end
   is of use and takes all 5 % (1 - 0.05 ** (1 / n): 26 % after 10 runs, under 10 % after 29).
   The two have different names in every text; `Rate.describe` and `Rate.bounds` write them.
3. Runs that stop at the first violation are no fixed number; the interval holds all the same: its
   lower end is the same for both ways to count, its upper end is larger than it had to be.
4. A run that could not be judged is neither: it is a number of its own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import scipy  # its parts are loaded when they are asked for: scipy.stats would take a second

from harness.claims.judge import ClaimOutcome, ClaimResult

CONFIDENCE = 0.95
BOUNDS_FROM = 3  # runs: of fewer, bounds say next to nothing, so reports leave them out
SHORT, IN_FULL = "95 % CI:", "95 % confidence interval (CI):"
UNJUDGED_MAX = 0.2  # of a cell's runs: with more it says so before anything else


@dataclass(frozen=True, slots=True)
class Rate:
    """In how many of the judged runs, and what that says of the rate: 0 to 1, `low` to `high`.
    Without a violation `low` is 0 and `high` is a one-sided bound."""

    violated: int
    runs: int
    low: float
    high: float

    def describe(self, what: str) -> str:
        """Return `lost in 0 of 10 runs (95 % one-sided bound: at most 26 %)`."""
        return f"{self.counted(what)} ({self.bounds})" if self.runs else self.counted(what)

    def brief(self, what: str) -> str:
        """Return what `describe` does; of a run or two without bounds."""
        return self.describe(what) if self.runs >= BOUNDS_FROM else self.counted(what)

    def counted(self, what: str) -> str:
        """Return `lost in 0 of 10 runs`, without bounds."""
        if not self.runs:
            return f"{what}: unknown, no run was judged".removeprefix(": ")
        noun = "run" if self.runs == 1 else "runs"
        return f"{what} in {self.violated:,} of {self.runs:,} {noun}".lstrip()

    @property
    def bounds(self) -> str:
        """Return `95 % one-sided bound: at most 26 %`, or `95 % CI: 6.7 to 65 %`."""
        if not self.violated:
            return f"{per_cent(CONFIDENCE)} one-sided bound: at most {per_cent(self.high)}"
        return f"{SHORT} {per_cent(self.low).removesuffix(' %')} to {per_cent(self.high)}"


@dataclass(frozen=True, slots=True)
class Tried:
    """A claim over the runs of a cell. Runs to which it does not apply are in no number."""

    rate: Rate
    not_judged: int
    warns: bool = False  # it predicts harm: what is counted are runs in which that did not come

    @property
    def mostly_unjudged(self) -> bool:
        return too_many(self.not_judged, self.rate.runs + self.not_judged)

    @property
    def described(self) -> str:
        """Return the rate of runs that broke a promise, or in which a warning's harm came (then
        `self.rate` is of the others)."""
        if not self.warns:
            return self.rate.describe("violated")
        return self.came_true.describe("came true")

    @property
    def brief(self) -> str:
        """Return `described`; of a run or two without bounds."""
        return self.came_true.brief("came true") if self.warns else self.rate.brief("violated")

    @property
    def came_true(self) -> Rate:
        """Return in how many of the runs it was not violated."""
        return rate(self.rate.runs - self.rate.violated, self.rate.runs)

    @property
    def applied(self) -> bool:
        """Return whether it applied to a run, or may have."""
        return bool(self.rate.runs + self.not_judged)


def spelled_out(page: str) -> str:
    """Return a text that spells its first interval out; later ones stay short."""
    before, short, after = page.partition(SHORT)
    return f"{before}{IN_FULL}{after}" if short and IN_FULL not in before else page


def rate(violations: int, runs: int) -> Rate:
    """Return the rate with its exact bounds; without a run any rate is possible."""
    assert 0 <= violations <= runs, (violations, runs)
    if not runs:
        return Rate(0, 0, 0.0, 1.0)
    beyond = 1 - CONFIDENCE
    if not violations:
        return Rate(0, runs, 0.0, 1 - beyond ** (1 / runs))
    others = runs - violations
    low = scipy.special.betaincinv(violations, others + 1, beyond / 2)
    high = scipy.special.betaincinv(violations + 1, others, 1 - beyond / 2) if others else 1.0
    return Rate(violations, runs, float(low), float(high))


def rate_of(outcomes: Iterable[ClaimOutcome | None]) -> Rate:
    """Return in how many of the runs that decided a claim it failed."""
    counts = Counter(outcomes)
    failed = counts[ClaimOutcome.FAIL]
    return rate(failed, failed + counts[ClaimOutcome.PASS])


def rate_known(runs: Iterable[bool | None]) -> Rate:
    """Return in how many runs it happened, of those in which that is known (not None)."""
    known = [one for one in runs if one is not None]
    return rate(sum(known), len(known))


def table_of(before: Rate, after: Rate) -> list[list[int]]:
    """Return two rates as Fisher's exact test takes them."""
    return [[one.violated, one.runs - one.violated] for one in (after, before)]


def too_many(unjudged: int, of: int) -> bool:
    """Whether so many runs could not be judged that a cell has to say so first."""
    return unjudged > UNJUDGED_MAX * of


def violates(verdict: ClaimResult) -> bool:
    """Whether this is a promise that was broken."""
    return verdict.outcome is ClaimOutcome.FAIL and verdict.is_promise


def decided(verdicts: Iterable[ClaimResult]) -> bool:
    """Whether a run was judged: one promise at least was found to hold or not."""
    found = (one.outcome for one in verdicts if one.is_promise)
    return any(one in (ClaimOutcome.PASS, ClaimOutcome.FAIL) for one in found)


def tried(runs: Sequence[Sequence[ClaimResult]]) -> Mapping[str, Tried]:
    """Every claim over the runs of one cell; a run without verdicts was not judged."""
    unjudged = sum(1 for verdicts in runs if not verdicts)
    outcomes: dict[str, Counter[ClaimOutcome]] = {}
    warns: dict[str, bool] = {}
    for verdict in (one for verdicts in runs for one in verdicts):
        outcomes.setdefault(verdict.claim, Counter())[verdict.outcome] += 1
        warns[verdict.claim] = verdict.warns
    return {claim: _tried(found, unjudged, warns[claim]) for claim, found in outcomes.items()}


def per_cent(share: float) -> str:
    """`26 %`, `9.8 %`, `0.81 %`: two figures, but 100 % only where it is all."""
    number = 100 * share
    if number in (0, 100):
        return f"{number:.0f} %"
    text = f"{number:.{_digits(number)}f}"
    return {"100.0": "> 99.9 %", "0.00": "< 0.01 %"}.get(text, f"{text} %")


def _digits(per_cent: float) -> int:
    if per_cent > 99:
        return 1
    if per_cent >= 9.95:
        return 0
    return 1 if per_cent >= 0.995 else 2


def _tried(outcomes: Counter[ClaimOutcome], unjudged: int, warns: bool) -> Tried:
    # Where a claim did not apply to any run, it would not have applied to one that was not judged.
    applied = sum(outcomes.values()) > outcomes[ClaimOutcome.NOT_APPLICABLE]
    not_judged = outcomes[ClaimOutcome.INCONCLUSIVE] + (unjudged if applied else 0)
    return Tried(rate_of(outcomes.elements()), not_judged, warns)
