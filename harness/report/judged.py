"""One history's verdicts, as one JSON object and as lines for a person.

1. The object has the keys of VERDICT; its readers need no other file.
2. Lines begin with what was counted, and then what was broken; claims that do not apply are one
   line together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.claims.evidence import Evidence
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.claims.times import NS
from harness.histories.history import History
from harness.judging.exits import Exit, of_claims
from harness.report.lines import counted_text, verdict_line
from harness.view.grouping import by_key
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.service import RUN
from spark_analysis.schema.words import window_numbers


@dataclass(frozen=True, slots=True)
class JudgedHistory:
    """One history, and what was found of it. `theirs`: what other tools say of it, and why."""

    file: str
    history: History
    evidence: Evidence
    verdicts: tuple[ClaimVerdict, ...]
    theirs: tuple[Mapping[str, Any], ...]
    undeclared: bool  # the promises of this broker are not declared

    @property
    def counts(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for row in self.evidence.findings.counts:
            found[row.measure] += row.count
        return found


_HINT = (
    "  the history does not record what this broker promises, and claims depend on it: add "
    "--declare durable=true --declare persistent=true --declare no_ack=false, or the true values"
)
_FIRST = (ClaimOutcome.FAIL, ClaimOutcome.INCONCLUSIVE, ClaimOutcome.PASS)


def said(judged: JudgedHistory) -> dict[str, Any]:
    evidence = judged.evidence
    details: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in evidence.findings.counts:
        if row.detail:
            details[row.measure][row.detail] += row.count
    return {
        "name": judged.history.facts.run,
        "counts": dict(sorted(judged.counts.items())),
        "details": {name: dict(sorted(each.items())) for name, each in sorted(details.items())},
        "claims": {verdict.claim: _claim(verdict) for verdict in judged.verdicts},
        **outages(evidence),
        "stages": stages(evidence),
        "doubts": list(doubts(judged.history, evidence)),
        **({"theirs": list(judged.theirs)} if judged.theirs else {}),
    }


def outages(evidence: Evidence) -> dict[str, Any]:
    """How long the run was out in all, and every outage of it."""
    history = evidence.facts.paced and evidence.facts.confirms
    of_run = (row for row in evidence.findings.outages if row.scope == RUN)
    total_s = sum(row.until_ns - row.from_ns for row in of_run) / NS
    return {
        "outage_s": total_s if history else None,
        "outages": [
            {
                "scope": row.scope,
                "name": row.name,
                "from_s": row.from_ns / NS,
                "until_s": row.until_ns / NS,
                "ended": row.ended,
                "due": row.due,
                "bad": row.bad,
                "windows": list(window_numbers(row.windows)),
            }
            for row in sorted(evidence.findings.outages)
        ],
    }


def stages(evidence: Evidence) -> dict[str, float | None]:
    """Seconds from the fault to each stage: the largest of all windows; None: one missed it."""
    found: dict[str, float | None] = {}
    for row in sorted(evidence.findings.stages):
        before_s = found.get(row.stage, 0.0)
        reached = row.reached and before_s is not None
        found[row.stage] = max(before_s or 0.0, row.after_ns / NS) if reached else None
    return found


def doubts(history: History, evidence: Evidence) -> Iterator[str]:
    """What could not be judged, and why, in sentences."""
    yield from history.doubts
    yield from dict.fromkeys(doubt.sentence for doubt in evidence.doubts)


def lines(judged: JudgedHistory) -> Iterator[str]:
    code = of_claims([judged.verdicts])
    yield f"{judged.history.facts.run} ({judged.file}): {_meaning(code)}"
    yield f"  counted: {', '.join(_counted(judged.counts))}"
    applying = [one for one in judged.verdicts if one.outcome in _FIRST]
    applying.sort(key=lambda one: _FIRST.index(one.outcome))
    for alike in by_key(applying, _reason).values():
        names = ", ".join(one.claim for one in alike)
        yield f"  {verdict_line(replace(alike[0], claim=names))}"
    if others := len(judged.verdicts) - len(applying):
        yield f"  {ClaimOutcome.NOT_APPLICABLE}: {others} more claims"
    for doubt in doubts(judged.history, judged.evidence):
        yield f"  caveat: {doubt}"
    yield from _their_lines(judged.theirs)
    if judged.undeclared:
        yield _HINT


def _reason(verdict: ClaimVerdict) -> tuple[str, ...]:
    """Return what INCONCLUSIVE claims have in common if they are one line; else the claim."""
    if verdict.outcome is ClaimOutcome.INCONCLUSIVE and not verdict.judged and not verdict.story:
        return (verdict.word, *verdict.not_judged, *verdict.advice)
    return (verdict.claim,)


def _meaning(code: Exit) -> str:
    return {Exit.PASSED: "passed", Exit.FAILED: "failed"}.get(code, "not decided")


def _counted(counts: Mapping[str, int]) -> Iterator[str]:
    """The gravest first, and of how many; what only says how well a run was served is no count."""
    for measure in REGISTER:
        number = counts.get(measure.name, 0)
        if number and measure.grade not in (Grade.SERVICE, Grade.CENSUS):
            yield f"{measure.name} {number:,}"
    yield f"confirmed {counts.get('confirmed', 0):,}"


def _their_lines(theirs: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for one in theirs:
        for checker, says in one["says"].items():
            pairs = ", ".join(f"{key} {value}" for key, value in says.items() if value != {})
            yield f"  {one['tool']} says, {checker}: {pairs}"
        for line in one["why"]:
            yield f"    {line}"


def last_line(every: Sequence[JudgedHistory], code: Exit) -> str:
    files = f"{len(every)} {'history' if len(every) == 1 else 'histories'}"
    counted = "claims" if len(every) == 1 else "verdicts"
    ending = f"{files}, {counted}: {counted_text(one.verdicts for one in every)}"
    return f"verdict: {_meaning(code)} (exit code {code}), {ending}"


def _claim(verdict: ClaimVerdict) -> dict[str, Any]:
    why = [*verdict.not_judged, *filter(None, [verdict.story]), *verdict.advice]
    return {
        "outcome": verdict.outcome.value,
        "verdict": verdict.word,
        "warns": verdict.warns,
        "judged": list(verdict.judged),
        "why": "; ".join(why),
    }
