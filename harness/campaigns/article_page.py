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
from html import escape
from urllib.parse import quote

from harness.campaigns.stored import CampaignRun
from harness.claims.articles import Compared, article_of
from harness.claims.claims import Beside, Claim
from harness.claims.judge import ClaimOutcome
from harness.compare.compared import Comparison, falls
from harness.compare.rates import rate_of
from harness.plan.model import split_label
from harness.report.markdown import Markup, code, escaped, head, joined, link, row
from harness.view.grouping import by_key

ORDER = (
    ClaimOutcome.FAIL,
    ClaimOutcome.PASS,
    ClaimOutcome.INCONCLUSIVE,
    ClaimOutcome.NOT_APPLICABLE,
)
_CELLS_MAX = 6  # that are named
NOT_RUN, _UNJUDGED = "not run yet", "no run judges it"
_LEAD = (
    "Claims of harness/claims/claims.toml, judged by {runs} runs against {system}. Made by "
    "`mqproof campaign articles`: no verdict stands here without a run. One FAIL refutes a claim; "
    "a PASS says that no run here refuted it; NOT APPLICABLE that no run here does what it asks "
    "for. Where a claim has changed since a run was analysed, the run stands as it was judged "
    "then."
)

Shown = Mapping[ClaimOutcome, Sequence[CampaignRun]]  # the runs that show a claim's outcome


def shown(claim: str, runs: Iterable[CampaignRun]) -> Shown:
    return by_key((run for run in runs if claim in run.outcomes), lambda run: run.outcomes[claim])


def verdict(by: Shown) -> ClaimOutcome | None:
    """None: not run yet."""
    return next((outcome for outcome in ORDER if by.get(outcome)), None)


def page(
    claims: Sequence[Claim], beside: Beside, runs: Sequence[CampaignRun], system: str
) -> Iterator[str]:
    own = [run for run in runs if run.system == system]
    quoted = [claim for claim in claims if _is_of(claim.source, beside)]
    by_claim = {claim.name: shown(claim.name, own) for claim in quoted}
    results = {one.name: falls(one.falls_over, _values(one, own)) for one in beside.compared}
    yield from _head(own, beside, system)
    yield from head("claim", "in English", "source", "verdict", "runs")
    for claim in quoted:
        by = by_claim[claim.name]
        words = _word(verdict(by)), _numbers(by)
        yield row((_link(claim.name), escaped(claim.meaning), escaped(claim.source), *words))
    for one in beside.compared:
        word = _word(results[one.name].outcome)
        yield row((_link(one.name), escaped(one.meaning), escaped(one.place), word, ""))
    for each in beside.unjudged:
        words = escaped(each.meaning), escaped(each.place)
        yield row((_link(each.name), *words, _UNJUDGED, ""))
    for claim in quoted:
        yield from _claim(claim, by_claim[claim.name])
    for one in beside.compared:
        yield from _compared(one, results[one.name], own)
    for each in beside.unjudged:
        yield from _title(each.name, _UNJUDGED, each.sentence, each.meaning, each.place)
        yield f"- {escaped(each.why.strip())}"


def _link(name: str) -> Markup:
    return link(name, f"#{quote(name)}")


def _head(runs: Sequence[CampaignRun], beside: Beside, system: str) -> Iterator[str]:
    brokers = sorted({run.broker for run in runs} - {""})
    named = f" ({joined(', ', brokers)})" if brokers else ""
    articles = (f"- {escaped(one.name)}: {escaped(str(one))}" for one in beside.articles)
    lead = _LEAD.format(runs=len(runs), system=f"{escaped(system)}{named}")
    yield from ("# What the articles claim", "", lead, "", *articles, "")


def _claim(claim: Claim, by: Shown) -> Iterator[str]:
    yield from _title(claim.name, _word(verdict(by)), claim.sentence, claim.meaning, claim.source)
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
    """Yield how many runs, where they ran, and the latest of them whole."""
    yield f"- {outcome} in {len(runs)} of its runs: {_cells(runs)}"
    last = runs[-1]
    reason = last.reasons.get(claim)
    why = f": {escaped(reason)}" if reason else ""
    place = f"{last.scenario} on {last.layout}, seed {last.seed}, repeat {last.repeat}"
    yield f"  - {escaped(f'{last.experiment}, {place}')}{why}"
    yield f"  - {code(last.replay)}"


def _cells(runs: Iterable[CampaignRun]) -> str:
    """Return the cells with most runs, and how many others there are."""
    cells = Counter(f"{run.scenario} on {run.layout}" for run in runs)
    most = sorted(cells.items(), key=lambda cell: (-cell[1], cell[0]))
    text = ", ".join(f"{escaped(cell)} ({number})" for cell, number in most[:_CELLS_MAX])
    others = most[_CELLS_MAX:]
    if not others:
        return text
    return f"{text}; {sum(number for _, number in others)} more in {len(others)} other cells"


def _compared(one: Compared, result: Comparison, runs: Sequence[CampaignRun]) -> Iterator[str]:
    yield from _title(one.name, _word(result.outcome), one.sentence, one.meaning, one.place)
    words = f"{one.measure} of {one.scenario} falls over {', '.join(one.falls_over)}"
    yield f"- must hold: {escaped(words)}"
    if result.text:
        yield f"- {escaped(result.text)}"
    judged = [run for run in runs if run.scenario == one.scenario]
    for layout in one.falls_over:
        own = [run for run in judged if split_label(run.layout)[0] == layout]
        if own:
            yield f"  - {escaped(own[-1].experiment)}: {code(own[-1].replay)}"


def _title(name: str, word: str, sentence: str, meaning: str, source: str) -> Iterator[str]:
    yield from ("", f'<a id="{escape(name)}"></a>', "", f"## {escaped(name)}: {word}", "")
    yield from (f"> {escaped(sentence)}", "", f"{escaped(meaning)} ({escaped(source)})", "")


def _values(one: Compared, runs: Iterable[CampaignRun]) -> dict[str, list[float]]:
    """The measure by layout: a column of the stored runs."""
    values: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        value = getattr(run, one.measure) if run.scenario == one.scenario else None
        if value is not None:
            values[split_label(run.layout)[0]].append(value)
    return values


def _is_of(source: str, beside: Beside) -> bool:
    """Whether an article says so; mqproof's own claims stand in no article."""
    return any(article_of(source) == article.name for article in beside.articles)


def _numbers(by: Shown) -> str:
    """In how many runs it was refuted, what that leaves open, and those that decided nothing."""
    found = rate_of(outcome for outcome, runs in by.items() for _ in runs)
    counts = [found.describe("FAIL")] if found.runs else []
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
