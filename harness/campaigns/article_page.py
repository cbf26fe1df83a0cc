"""The page "what the articles claim": each claim, and the run on the real broker that shows it.

1. No verdict without a run: the page says "not run yet", or that no run can judge the claim.
2. One FAIL refutes; else one PASS stands beside runs that decided nothing: a claim is FAIL, PASS,
   INCONCLUSIVE, NOT APPLICABLE, or not run yet, in this order. The page has all numbers of runs.
3. What a claim asks for is judged as it was when the run was analysed: `mqproof analyse` an
   experiment again where claims.toml has changed since.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.campaigns.markdown import escaped, row
from harness.campaigns.runs import CampaignRun
from harness.claims.articles import Compared, Unjudged
from harness.claims.claims import Beside, Claim
from harness.claims.judge import ClaimOutcome
from harness.compare.compared import Comparison, falls
from harness.compare.rates import rate

ORDER = (
    ClaimOutcome.FAIL,
    ClaimOutcome.PASS,
    ClaimOutcome.INCONCLUSIVE,
    ClaimOutcome.NOT_APPLICABLE,
)
NOT_RUN = "not run yet"

Shown = Mapping[ClaimOutcome, Sequence[CampaignRun]]  # the runs that show a claim's outcome


def shown(claim: str, runs: Iterable[CampaignRun]) -> Shown:
    by: dict[ClaimOutcome, list[CampaignRun]] = defaultdict(list)
    for run in runs:
        outcome = run.outcomes.get(claim)
        if outcome is not None:
            by[outcome].append(run)
    return by


def verdict(by: Shown) -> ClaimOutcome | None:
    """None: not run yet."""
    return next((outcome for outcome in ORDER if by.get(outcome)), None)


def page(
    claims: Sequence[Claim], beside: Beside, runs: Sequence[CampaignRun], system: str
) -> Iterator[str]:
    """Markdown lines."""
    own = [run for run in runs if run.system == system]
    quoted = [claim for claim in claims if _is_of(claim.source, beside)]
    by_claim = {claim.name: shown(claim.name, own) for claim in quoted}
    results = {one.name: falls(one.falls_over, _values(one, own)) for one in beside.compared}
    yield from _head(own, beside, system)
    yield "| claim | in English | source | verdict | runs |"
    yield "| --- | --- | --- | --- | --- |"
    for claim in quoted:
        fields = (
            f"[{claim.name}](#{claim.name})",
            claim.meaning,
            claim.source,
            _word(verdict(by_claim[claim.name])),
            _numbers(by_claim[claim.name]),
        )
        yield row(fields)
    for one in beside.compared:
        word = _word(results[one.name].outcome)
        yield row((f"[{one.name}](#{one.name})", one.meaning, one.place, word, ""))
    for each in beside.unjudged:
        link = f"[{each.name}](#{each.name})"
        yield row((link, each.meaning, each.place, "no run judges it", ""))
    for claim in quoted:
        yield from _claim(claim, by_claim[claim.name])
    for one in beside.compared:
        yield from _compared(one, results[one.name], own)
    for each in beside.unjudged:
        yield from _unjudged(each)


def _head(runs: Sequence[CampaignRun], beside: Beside, system: str) -> Iterator[str]:
    brokers = sorted({run.broker for run in runs} - {""})
    named = f" ({', '.join(brokers)})" if brokers else ""
    yield "# What the articles claim"
    yield ""
    yield (
        f"Claims of harness/claims/claims.toml, judged by {len(runs)} runs against "
        f"{system}{named}. Made by `mqproof campaign articles`: no verdict stands here "
        f"without a run. One FAIL refutes a claim; a PASS says that no run here refuted it; "
        f"NOT APPLICABLE that no run here does what it asks for. Where a claim has changed since "
        f"a run was analysed, the run stands as it was judged then."
    )
    yield ""
    for article in beside.articles:
        yield f"- {article.name}: {escaped(str(article))}"
    yield ""


def _claim(claim: Claim, by: Shown) -> Iterator[str]:
    yield from _title(claim.name, verdict(by), claim.sentence, claim.meaning, claim.source)
    for other in claim.also:
        yield f"- also {escaped(other)}"
    conditions = "; ".join(condition.text for condition in claim.precondition) or "nothing"
    yield f"- asks for: {escaped(conditions)}"
    yield f"- must hold: {escaped('; '.join(one.text for one in claim.predicate))}"
    if claim.known:
        yield f"- known: {escaped(claim.known)}"
    for outcome in ORDER[:3]:
        if by.get(outcome):
            yield from _runs(outcome, by[outcome], claim.name)


def _runs(outcome: ClaimOutcome, runs: Sequence[CampaignRun], claim: str) -> Iterator[str]:
    """How many, where, and the latest of them whole."""
    cells = Counter(f"{run.scenario} on {run.layout}" for run in runs)
    where = ", ".join(f"{cell} ({number})" for cell, number in sorted(cells.items()))
    yield f"- {outcome} in {len(runs)} of its runs: {where}"
    last = runs[-1]
    why = f": {escaped(last.why(claim))}" if last.why(claim) else ""
    yield (
        f"  - {last.experiment}, {last.scenario} on {last.layout}, seed {last.seed}, repeat "
        f"{last.repeat}{why}"
    )
    yield f"  - `{last.replay}`"


def _compared(one: Compared, result: Comparison, runs: Sequence[CampaignRun]) -> Iterator[str]:
    yield from _title(one.name, result.outcome, one.sentence, one.meaning, one.place)
    yield f"- must hold: {one.measure} of {one.scenario} falls over {', '.join(one.falls_over)}"
    if result.text:
        yield f"- {result.text}"
    judged = [run for run in runs if run.scenario == one.scenario]
    for layout in one.falls_over:
        own = [run for run in judged if run.layout.partition("@")[0] == layout]
        if own:
            yield f"  - {own[-1].experiment}: `{own[-1].replay}`"


def _unjudged(one: Unjudged) -> Iterator[str]:
    yield from _title(one.name, None, one.sentence, one.meaning, one.place, "no run judges it")
    yield f"- {escaped(one.why.strip())}"


def _title(
    name: str,
    outcome: ClaimOutcome | None,
    sentence: str,
    meaning: str,
    source: str,
    word: str = "",
) -> Iterator[str]:
    yield ""
    yield f'<a id="{name}"></a>'
    yield ""
    yield f"## {name}: {word or _word(outcome)}"
    yield ""
    yield f"> {escaped(sentence)}"
    yield ""
    yield f"{escaped(meaning)} ({escaped(source)})"
    yield ""


def _values(one: Compared, runs: Iterable[CampaignRun]) -> dict[str, list[float]]:
    """The measure by layout: a column of the stored runs."""
    values: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        value = getattr(run, one.measure) if run.scenario == one.scenario else None
        if value is not None:
            values[run.layout.partition("@")[0]].append(value)
    return values


def _is_of(source: str, beside: Beside) -> bool:
    """Whether an article says so; mqproof's own claims stand in no article."""
    return any(source.partition(", ")[0] == article.name for article in beside.articles)


def _numbers(by: Shown) -> str:
    """In how many runs it was refuted, what that leaves open, and those that decided nothing."""
    failed = len(by.get(ClaimOutcome.FAIL, ()))
    decided = failed + len(by.get(ClaimOutcome.PASS, ()))
    counts = [rate(failed, decided).describe("FAIL")] if decided else []
    counts += [f"{len(by[outcome])} {outcome}" for outcome in ORDER[2:] if by.get(outcome)]
    return ", ".join(counts)


def _word(outcome: ClaimOutcome | None) -> str:
    if outcome is ClaimOutcome.NOT_APPLICABLE:
        return f"{outcome} to any run"
    return str(outcome) if outcome is not None else NOT_RUN


def only(beside: Beside, articles: Sequence[str]) -> Beside:
    """What stands in these articles; everything where none is named."""
    if not articles:
        return beside
    kept = replace(beside, articles=tuple(a for a in beside.articles if a.name in articles))
    return replace(
        kept,
        compared=tuple(one for one in beside.compared if _is_of(one.place, kept)),
        unjudged=tuple(one for one in beside.unjudged if _is_of(one.place, kept)),
    )
