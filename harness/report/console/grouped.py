"""The verdicts of one run on a terminal: what has one reason stands once, with its claims.

1. A broken promise, and harm that a warning foretold, keeps its own line.
2. Claims that could not be judged for the same reason share one line: reason, what to do, names.
3. Claims that held share one line of names. `--all` gives every claim its line.
"""

from collections.abc import Callable, Iterable, Iterator

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.report.lines import by_urgency
from harness.report.undecided import reasons

Line = tuple[str, ClaimVerdict]  # and a verdict that the line is of, for its style


def grouped(
    verdicts: Iterable[ClaimVerdict], line_of: Callable[[ClaimVerdict], str]
) -> Iterator[Line]:
    """Yield the lines of a run's claims that apply. `line_of` makes the line of a single claim."""
    groups: dict[tuple[object, ...], list[ClaimVerdict]] = {}
    for verdict in by_urgency(verdicts):
        if verdict.outcome is not ClaimOutcome.NOT_APPLICABLE:
            groups.setdefault(_key(verdict), []).append(verdict)
    for same in groups.values():
        first = same[0]
        yield (line_of(first) if len(same) == 1 else _together(same)), first


def _key(verdict: ClaimVerdict) -> tuple[object, ...]:
    """Return what a claim shares with those that stand in its line."""
    if verdict.outcome is ClaimOutcome.PASS and not verdict.warns:
        return (ClaimOutcome.PASS,)
    if verdict.outcome is ClaimOutcome.INCONCLUSIVE:
        return (ClaimOutcome.INCONCLUSIVE, verdict.is_promise, reasons(verdict), verdict.advice)
    return (verdict.claim,)


def _together(same: list[ClaimVerdict]) -> str:
    first = same[0]
    head = f"{first.word}, {len(same)} claims: "
    names = ", ".join(one.claim for one in same)
    if first.outcome is ClaimOutcome.PASS:
        return head + names
    advice = f". To do: {'; '.join(first.advice)}" if first.advice else ""
    return f"{head}{'; '.join(reasons(first))}{advice}\n{names}"
