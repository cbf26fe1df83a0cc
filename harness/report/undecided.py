"""Why claims could not be judged: a reason that many of them share is given once.

1. A reason is what stood in the way, without the condition that a claim asks.
2. Runs whose reasons differ only in a leading number share one, with the range: `1 to 3 more …`.
3. Promises alone: no warning, and no claim about some cases, keeps an experiment undecided.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.judging.result import Report, RunReport
from harness.view.grouping import by_key

Cell = tuple[str, str, str, str]
# A condition, and the value that was found, before what is against it.
_CONDITION = re.compile(
    r"^(fault \d+: )?[a-z_][a-z0-9_.]* (?:==|!=|<=|>=|<|>) [^:]*?"
    r"(?:: |, found (?:[^:]*?, but )?)"
)
_NUMBER = re.compile(r"^(fault \d+: )?([\d,]+)(?= )")  # `3 more are possible: …`
_OF_RUN = re.compile(r"^fault \d+: (?=fault \d+: )")  # a fault in doubt is every claim's reason


class Undecided(NamedTuple):
    """`claims`: by name, in their order. `runs`: in how many of them one was not judged for it.
    `cells`: of these runs."""

    reasons: tuple[str, ...]
    advice: tuple[str, ...]
    claims: tuple[str, ...]
    runs: int
    cells: tuple[Cell, ...] = ()


class _OpenClaim(NamedTuple):
    """A claim that a run leaves open; without a name: all claims of the run."""

    run: RunReport
    claim: str
    reasons: tuple[str, ...]
    advice: tuple[str, ...] = ()


def reasons(verdict: ClaimVerdict) -> tuple[str, ...]:
    """Return why a claim could not be judged, without the conditions that it asks."""
    texts = (_OF_RUN.sub("", _CONDITION.sub(r"\1", text)) for text in verdict.not_judged)
    return tuple(dict.fromkeys(texts))


def undecided(report: Report) -> Iterator[Undecided]:
    """Yield what kept promises open, the reason with most claims first."""
    groups = by_key(
        _open_claims(report), lambda each: (tuple(map(_masked, each.reasons)), each.advice)
    )
    made = [
        Undecided(
            tuple(map(_with_range, zip(*(each.reasons for each in found), strict=True))),
            advice,
            tuple(dict.fromkeys(each.claim for each in found if each.claim)),
            len({each.run.name for each in found}),
            tuple(dict.fromkeys(each.run.cell for each in found)),
        )
        for (_, advice), found in groups.items()
    ]
    yield from sorted(made, key=lambda one: -len(one.claims))


def _open_claims(report: Report) -> Iterator[_OpenClaim]:
    for run in report.runs:
        if not run.verdicts:
            yield _OpenClaim(run, "", (run.failure or "the run was not judged",))
        for one in run.verdicts:
            if one.is_promise and one.outcome is ClaimOutcome.INCONCLUSIVE:
                yield _OpenClaim(run, one.claim, reasons(one), one.advice)


def _masked(reason: str) -> str:
    return _NUMBER.sub(r"\1#", reason)


def _with_range(same: Sequence[str]) -> str:
    """Return a reason with the range of its number: `same` differ in that only."""
    found = _NUMBER.match(same[0])
    if found is None:
        return same[0]
    texts = {match[2] for match in map(_NUMBER.match, same) if match}
    numbers = sorted(texts, key=lambda text: int(text.replace(",", "")))
    several = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else numbers[0]
    return f"{found[1] or ''}{several}{same[0][found.end() :]}"
