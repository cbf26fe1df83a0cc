"""Why claims could not be judged: a reason that many of them share is given once.

1. A reason is what stood in the way, without the condition that a claim asks.
2. Promises alone: no warning, and no claim about some cases, keeps an experiment undecided.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.judging.result import Report

_CONDITION = re.compile(r"^(window \d+: )?[a-z_][a-z0-9_.]* (?:==|!=|<=|>=|<|>) [^:]*: ")
_VALUE = re.compile(r"^(window \d+: )?[^:]*?, but ")  # what was found, before what is against it
_OF_RUN = re.compile(r"^window \d+: (?=fault \d+: )")  # a fault in doubt is every window's reason


@dataclass(frozen=True, slots=True)
class Undecided:
    """`claims`: by name, in their order. `runs`: in how many of them one was not judged for it."""

    reasons: tuple[str, ...]
    advice: tuple[str, ...]
    claims: tuple[str, ...]
    runs: int


def reasons(verdict: ClaimVerdict) -> tuple[str, ...]:
    """Return why a claim could not be judged, without the conditions that it asks."""
    return tuple(dict.fromkeys(map(_reason, verdict.not_judged)))


def _reason(text: str) -> str:
    without_condition = _CONDITION.sub(r"\1", text)
    return _OF_RUN.sub("", _VALUE.sub(r"\1", without_condition))


def undecided(report: Report) -> Iterator[Undecided]:
    """Yield what kept promises open, the reason with most claims first."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[tuple[str, str]]] = {}
    for run in report.runs:
        if not run.verdicts:
            why = (run.failure or "the run was not judged",)
            groups.setdefault((why, ()), []).append((run.name, ""))
        for one in run.verdicts:
            if one.is_promise and one.outcome is ClaimOutcome.INCONCLUSIVE:
                groups.setdefault((reasons(one), one.advice), []).append((run.name, one.claim))
    made = [
        Undecided(
            why,
            advice,
            tuple(dict.fromkeys(claim for _, claim in found if claim)),
            len({name for name, _ in found}),
        )
        for (why, advice), found in groups.items()
    ]
    yield from sorted(made, key=lambda one: -len(one.claims))
