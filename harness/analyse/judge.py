"""Claims against one run: PASS, FAIL, INCONCLUSIVE or NOT APPLICABLE, and why (DESIGN.md 4).

1. A false precondition is NOT APPLICABLE, an unknown one INCONCLUSIVE; neither looks further.
2. A violation that is proved is a FAIL, whatever else is unknown.
3. Every verdict says what was judged, what was not and why, and what to do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.analyse.claims import Claim, Condition
from harness.analyse.evidence import Evidence
from harness.analyse.stories import story
from harness.analyse.truth import Interval, Moot, Unknown, Value, holds


class Outcome(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT APPLICABLE"


# The heaviest of several windows, or of several repeats, speaks for all.
_WEIGHT = (Outcome.NOT_APPLICABLE, Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.FAIL)


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One claim against one run."""

    claim: str
    outcome: Outcome
    meaning: str
    sentence: str
    source: str
    judged: tuple[str, ...] = ()  # `lost == 0: 0 of 21,400`
    not_judged: tuple[str, ...] = ()  # the fact, and why
    story: str = ""  # FAIL: one message's, or one window's
    advice: tuple[str, ...] = ()
    known: str = ""  # what is known about this claim already
    warns: bool = False  # the claim predicts harm: a FAIL is a warning that did not come true


@dataclass(frozen=True, slots=True)
class _Answer:
    """One condition, asked in one window."""

    condition: Condition
    window: int
    value: Value
    holds: bool | None  # None: unknown
    detail: str

    @property
    def moot(self) -> bool:
        return isinstance(self.value, Moot)

    @property
    def words(self) -> str:
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        detail = f" ({self.detail})" if self.detail and not isinstance(self.value, Moot) else ""
        return f"{self._prefix}{self.condition.text}: {value}{detail}"

    @property
    def doubt(self) -> str:
        if isinstance(self.value, Unknown):
            return f"{self._prefix}{self.condition.text}: {self.value.reason}"
        doubt = self.value.doubt if isinstance(self.value, Interval) else ""
        return f"{self._prefix}{self.condition.text}: {self.value}, but {doubt or 'not for sure'}"

    @property
    def advice(self) -> str:
        return self.value.advice if isinstance(self.value, Unknown | Interval) else ""

    @property
    def _prefix(self) -> str:
        return f"window {self.window}: " if self.window and self.condition.of_window else ""


def judge(claims: Iterable[Claim], evidence: Evidence) -> tuple[ClaimVerdict, ...]:
    """A verdict for every claim, in their order."""
    return tuple(_judge(claim, evidence) for claim in claims)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """FAIL before INCONCLUSIVE before PASS before NOT APPLICABLE; of none, NOT APPLICABLE."""
    return max(outcomes, key=_WEIGHT.index, default=Outcome.NOT_APPLICABLE)


def exit_code(runs: Iterable[Sequence[ClaimVerdict]]) -> int:
    """`--judge claims`: 1 any FAIL, 2 any INCONCLUSIVE or a run in which nothing was judged."""
    outcomes: list[Outcome] = []
    for verdicts in runs:
        told = [one.outcome for one in verdicts if one.outcome is not Outcome.NOT_APPLICABLE]
        outcomes += told or [Outcome.INCONCLUSIVE]
    return {Outcome.FAIL: 1, Outcome.PASS: 0}.get(worst(outcomes), 2)


def _judge(claim: Claim, evidence: Evidence) -> ClaimVerdict:
    conditions = (*claim.precondition, *claim.predicate)
    windows = [window.number for window in evidence.facts.windows]
    by_window = any(condition.of_window for condition in conditions) and windows
    parts = [_judge_once(claim, evidence, window) for window in (windows if by_window else [0])]
    outcome = worst(part.outcome for part in parts)
    # Windows to which the claim does not apply say nothing beside those to which it does.
    told = [p for p in parts if p.outcome is not Outcome.NOT_APPLICABLE] or parts
    return ClaimVerdict(
        claim=claim.name,
        outcome=outcome,
        meaning=claim.meaning,
        sentence=claim.sentence,
        source=claim.source,
        judged=_once(line for part in told for line in part.judged),
        not_judged=_once(line for part in told for line in part.not_judged),
        story=next((part.story for part in told if part.story), ""),
        advice=_once(line for part in told for line in part.advice),
        known=claim.known if outcome is Outcome.FAIL else "",
        warns=claim.warns,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A claim in one window."""

    outcome: Outcome
    judged: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    story: str = ""
    advice: tuple[str, ...] = ()


def _judge_once(claim: Claim, evidence: Evidence, window: int) -> _Part:
    asked = [_ask(condition, evidence, window) for condition in claim.precondition]
    false = [one for one in asked if one.moot or one.holds is False]
    if false:
        return _Part(Outcome.NOT_APPLICABLE, not_judged=tuple(one.words for one in false))
    unknown = [one for one in asked if one.holds is None]
    if unknown:
        return _inconclusive([], unknown)
    return _predicate([_ask(one, evidence, window) for one in claim.predicate], evidence)


def _predicate(answers: list[_Answer], evidence: Evidence) -> _Part:
    moot = [one for one in answers if one.moot]
    unknown = [one for one in answers if one.holds is None and not one.moot]
    decided = [one for one in answers if one.holds is not None]
    false = [one for one in decided if one.holds is False]
    if false:
        return _Part(
            Outcome.FAIL,
            judged=tuple(one.words for one in decided),
            not_judged=tuple(one.doubt for one in unknown) + tuple(one.words for one in moot),
            story=next(filter(None, (_story(one, evidence) for one in false)), ""),
            advice=_once(one.advice for one in unknown),
        )
    if moot:
        return _Part(
            Outcome.NOT_APPLICABLE,
            judged=tuple(one.words for one in decided),
            not_judged=tuple(one.words for one in moot),
        )
    if unknown:
        return _inconclusive(decided, unknown)
    return _Part(Outcome.PASS, judged=tuple(one.words for one in decided))


def _inconclusive(decided: list[_Answer], unknown: list[_Answer]) -> _Part:
    return _Part(
        Outcome.INCONCLUSIVE,
        judged=tuple(one.words for one in decided),
        not_judged=tuple(one.doubt for one in unknown),
        advice=_once(one.advice for one in unknown),
    )


def _ask(condition: Condition, evidence: Evidence, window: int) -> _Answer:
    value = evidence.value(condition.fact, window)
    answer = None
    if not isinstance(value, Moot):
        answer = holds(value, condition.comparator, condition.wanted)
    asked_of_window = isinstance(value, bool) and window
    detail = evidence.detail(condition.fact, window) if asked_of_window else ""
    return _Answer(condition, window, value, answer, detail)


def _story(answer: _Answer, evidence: Evidence) -> str:
    return story(answer.condition.fact, answer.window, evidence)


def _once(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in lines if line))
