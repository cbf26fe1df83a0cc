"""One history's verdicts, as one JSON object and as lines for a person.

1. The object has the keys of VERDICT; whoever reads it needs no other file.
2. Lines begin with what was counted, and then what was broken; claims that do not apply are one
   line together.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from harness.claims.evidence import Evidence
from harness.claims.judge import ClaimVerdict, Outcome
from harness.claims.times import NS
from harness.histories.history import History
from harness.report.lines import outcome_words, verdict_line
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.service import RUN

_FIRST = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)


def said(history: History, evidence: Evidence, verdicts: Sequence[ClaimVerdict]) -> dict[str, Any]:
    """Everything that is said of one history."""
    details: defaultdict[str, Counter[str]] = defaultdict(Counter)
    counts: Counter[str] = Counter()
    for row in evidence.findings.counts:
        counts[row.measure] += row.count
        if row.detail:
            details[row.measure][row.detail] += row.count
    return {
        "name": history.facts.run,
        "counts": dict(sorted(counts.items())),
        "details": {name: dict(sorted(each.items())) for name, each in sorted(details.items())},
        "claims": {verdict.claim: _claim(verdict) for verdict in verdicts},
        **outages(evidence),
        "stages": stages(evidence),
        "doubts": list(doubts(history, evidence)),
    }


def outages(evidence: Evidence) -> dict[str, Any]:
    """How long the run was out in all, and every outage of it."""
    history = evidence.facts.paced and evidence.facts.confirms
    of_run = [row for row in evidence.findings.outages if row.scope == RUN]
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
                "windows": [int(number) for number in row.windows.split(",") if number],
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
    yield from dict.fromkeys(told.sentence for told in evidence.doubts)


def lines(
    history: History, evidence: Evidence, verdicts: Sequence[ClaimVerdict], file: str
) -> Iterator[str]:
    """What is said of one history, for a person."""
    yield f"{history.facts.run} ({file})"
    yield f"  counted: {', '.join(_counted(evidence))}"
    for outcome in _FIRST:
        for verdict in verdicts:
            if verdict.outcome is outcome:
                yield f"  {verdict_line(verdict, '')}"
    others = sum(1 for verdict in verdicts if verdict.outcome is Outcome.NOT_APPLICABLE)
    if others:
        yield f"  {Outcome.NOT_APPLICABLE}: {others} more claims"
    for doubt in doubts(history, evidence):
        yield f"  in doubt: {doubt}"


def _counted(evidence: Evidence) -> Iterator[str]:
    """The gravest first, and of how many; what only says how well a run was served is no count."""
    counts: Counter[str] = Counter()
    for row in evidence.findings.counts:
        counts[row.measure] += row.count
    for measure in REGISTER:
        if counts[measure.name] and measure.grade not in (Grade.SERVICE, Grade.CENSUS):
            yield f"{measure.name} {counts[measure.name]:,}"
    yield f"confirmed {counts['confirmed']:,}"


def last_line(runs: Sequence[Sequence[ClaimVerdict]], code: int) -> str:
    """The outcome of all files together."""
    words = Counter(outcome_words(verdict) for verdicts in runs for verdict in verdicts)
    order = [word for one in Outcome for word in (f"{one}", f"{one} (WARNING)")]
    told = ", ".join(f"{words[word]} {word}" for word in order if words[word])
    meaning = {0: "passed", 1: "failed"}.get(code, "not decided")
    files = f"{len(runs)} {'history' if len(runs) == 1 else 'histories'}"
    return f"verdict: {meaning} (exit code {code}), {files}, claims: {told or 'none was judged'}"


def _claim(verdict: ClaimVerdict) -> dict[str, Any]:
    why = [*verdict.not_judged, *filter(None, [verdict.story]), *verdict.advice]
    return {
        "outcome": verdict.outcome.value,
        "warns": verdict.warns,
        "judged": list(verdict.judged),
        "why": "; ".join(why),
    }
