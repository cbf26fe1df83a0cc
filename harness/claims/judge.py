"""Claims against one run: PASS, FAIL, INCONCLUSIVE or NOT APPLICABLE, and why.

1. A false precondition is NOT APPLICABLE, an unknown one INCONCLUSIVE; neither looks further.
2. A violation that is proved is a FAIL, whatever else is unknown. What is unknown comes before
   what makes no sense here, and that before what holds.
3. A claim about fault windows is judged in each, and its counts are of what the windows to which
   it applies can have caused. Beside another fault no run could decide it: it is NOT
   APPLICABLE, unless it speaks of several, or of nodes that were down before. Of two windows with
   one origin it is INCONCLUSIVE: another run may record them apart.
4. What speaks for the broker needs enough that was due while the fault was in force. Of a run
   that is in doubt as a whole nothing holds, a warning's harm neither.
5. A promise is as good as its worst window. A warning came true where its harm came in one; one
   example proves a claim about some cases, which is never refuted.
6. Every verdict says what was judged, what was not and why, and what to do. If a claim does not
   apply, the reason that decides this comes first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from harness.claims import derived, doubts
from harness.claims.answers import PredicateAnswer, Reason, answer
from harness.claims.claims import Claim, Condition
from harness.claims.evidence import Evidence
from harness.claims.stories import story
from harness.claims.values import Why, why_of
from spark_analysis.schema.messages import NO_FAULT

_T = TypeVar("_T", str, Reason)


class ClaimOutcome(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT APPLICABLE"


# A warning foretells harm: PASS would praise harm that occurred.
OF_WARNINGS = {
    ClaimOutcome.PASS: "WARNING CONFIRMED",
    ClaimOutcome.FAIL: "WARNING NOT SEEN",
}
# What people read, in the order in which verdicts are counted.
VERDICT_WORDS = tuple(
    word for one in ClaimOutcome for word in (one.value, OF_WARNINGS.get(one)) if word is not None
)

# The heaviest of several windows, or of several repeats, speaks for all.
_WEIGHT = (
    ClaimOutcome.NOT_APPLICABLE,
    ClaimOutcome.PASS,
    ClaimOutcome.INCONCLUSIVE,
    ClaimOutcome.FAIL,
)
# Of a warning, or of some cases: that it came once is what it says.
_WEIGHT_OF_ONCE = (
    ClaimOutcome.NOT_APPLICABLE,
    ClaimOutcome.FAIL,
    ClaimOutcome.INCONCLUSIVE,
    ClaimOutcome.PASS,
)
NO_OTHER = "the other requirements held, so nothing was violated"
_UNPROVED = "one run without an example refutes no sentence about some cases"


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What was decided about one claim in one run, and by what."""

    claim: str
    outcome: ClaimOutcome
    meaning: str = ""
    sentence: str = ""
    source: str = ""
    judged: tuple[str, ...] = ()  # `0 of 21,400 confirmed messages were lost (`lost == 0`)`
    values: tuple[str, ...] = ()  # that decided it: one for each of `judged`
    story: str = ""  # FAIL: one message's, or one window's
    advice: tuple[str, ...] = ()
    known: str = ""  # what is known about this claim already
    warns: bool = False  # the claim predicts harm: FAIL means that the harm was not seen
    some: bool = False  # the claim is about some cases
    about: tuple[str, ...] = ()  # the facts of its predicate: `reordered`, `lost.stored`

    @property
    def is_promise(self) -> bool:
        """Return whether it is a promise: then it decides the exit code."""
        return not (self.warns or self.some)

    @property
    def came_true(self) -> bool:
        """Return whether it is a warning whose harm occurred."""
        return self.warns and self.outcome is ClaimOutcome.PASS

    @property
    def found(self) -> str:
        """Return the value that decided it, `14 of 11,639`; "" if it has several."""
        return self.values[0] if len(self.values) == 1 else ""

    @property
    def word(self) -> str:
        """Return the verdict as people read it: PASS, or WARNING CONFIRMED."""
        return OF_WARNINGS.get(self.outcome, self.outcome.value) if self.warns else self.outcome


@dataclass(frozen=True, slots=True)
class ClaimVerdict(ClaimResult):
    """One claim against one run. `reasons`: why requirements were not judged. `seen`: what was
    judged, without the conditions."""

    reasons: tuple[Reason, ...] = ()
    seen: tuple[str, ...] = ()

    @property
    def not_judged(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.reasons)

    @property
    def inapplicable(self) -> tuple[str, ...]:
        """Return those of `not_judged` that make no sense in the run."""
        return tuple(one.text for one in self.reasons if one.inapplicable)

    @property
    def undecided(self) -> tuple[Reason, ...]:
        """Return the reasons of requirements that another run could decide."""
        return tuple(one for one in self.reasons if not one.inapplicable)


@dataclass(frozen=True, slots=True)
class _Part:
    """A claim in one window."""

    outcome: ClaimOutcome
    judged: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    story: str = ""
    advice: tuple[str, ...] = ()
    found: tuple[str, ...] = ()  # the value of each line of `judged`
    seen: tuple[str, ...] = ()  # each line of `judged` without its condition

    @property
    def pairs(self) -> Iterable[tuple[str, str]]:
        return zip(self.judged, self.found, strict=True)


def judge(claim: Claim, evidence: Evidence) -> ClaimVerdict:
    """Return the verdict of one claim about one run.

    A claim about fault windows is judged in each of them; any other claim, and one about windows
    in a run without any, is judged once, over the run (window 0).
    """
    windows = evidence.facts.planned_windows if claim.of_windows else ()
    numbers = [window.number for window in windows]
    obstacles = {window: _obstacle(claim, evidence, window) for window in numbers or [0]}
    # What a fault that is not judged may have caused refutes nothing by way of the others.
    judged = frozenset(window for window, part in obstacles.items() if part is None)
    among = judged if numbers else None
    parts: dict[int, _Part] = {}
    for window, part in obstacles.items():
        if part is None:
            answers = [
                answer(
                    one, window, evidence.claimed(one.fact, window, among), evidence, claim.warns
                )
                for one in claim.predicate
            ]
            part = _with_enough(claim, evidence, window, _of_predicate(answers, evidence))
        elif not window and claim.is_promise and evidence.only_faults_end_brokers:
            part = _broken_by_no_fault(claim, evidence) or part
        parts[window] = part
    return _verdict(claim, _deciding_first(parts, evidence))


def _broken_by_no_fault(claim: Claim, evidence: Evidence) -> _Part | None:
    """Return the result of a claim about queues that last, if they do not, or perhaps not, and
    what no fault of the cluster can have caused refutes it all the same; None: nothing does."""
    others = tuple(one for one in claim.precondition if one.fact != "keeps")
    if others == claim.precondition or _precondition(
        replace(claim, precondition=others), evidence, 0
    ):
        return None
    spared = (one.number for one in evidence.facts.windows if one.spares_brokers)
    by_none = frozenset((NO_FAULT, *spared))
    answers = [
        answer(one, 0, evidence.claimed(one.fact, 0, by_none), evidence) for one in claim.predicate
    ]
    part = _of_predicate(answers, evidence)
    return part if part.outcome is ClaimOutcome.FAIL else None


def worst(outcomes: Iterable[ClaimOutcome]) -> ClaimOutcome:
    """FAIL before INCONCLUSIVE before PASS before NOT APPLICABLE; of none, NOT APPLICABLE."""
    return max(outcomes, key=_WEIGHT.index, default=ClaimOutcome.NOT_APPLICABLE)


def over_runs(verdicts: Iterable[ClaimResult]) -> ClaimOutcome:
    """Return the outcome of one claim over several runs: for a promise the gravest; a warning, or
    a claim about some cases, has come true if it did in one run."""
    parts = list(verdicts)
    once = any(not one.is_promise for one in parts)
    weight = _WEIGHT_OF_ONCE if once else _WEIGHT
    return max(
        (one.outcome for one in parts), key=weight.index, default=ClaimOutcome.NOT_APPLICABLE
    )


def _verdict(claim: Claim, parts: Sequence[_Part]) -> ClaimVerdict:
    """Return the verdict of a claim by the results of its windows, or of the run."""
    weight = _WEIGHT_OF_ONCE if claim.warns or claim.some else _WEIGHT
    outcome = max((part.outcome for part in parts), key=weight.index)
    # Windows to which the claim does not apply say nothing beside those to which it does.
    applicable = [p for p in parts if p.outcome is not ClaimOutcome.NOT_APPLICABLE] or parts
    unproved = claim.some and outcome is ClaimOutcome.FAIL
    found = {line: one for part in applicable for line, one in part.pairs}
    return ClaimVerdict(
        claim=claim.name,
        outcome=ClaimOutcome.INCONCLUSIVE if unproved else outcome,
        meaning=claim.meaning,
        sentence=claim.sentence,
        source=claim.source,
        judged=tuple(found),
        values=tuple(found.values()),
        reasons=_once(
            (
                *([Reason(Why(_UNPROVED))] if unproved else []),
                *(one for part in applicable for one in part.reasons),
            )
        ),
        seen=_once(line for part in applicable for line in part.seen),
        story="" if unproved else next((part.story for part in applicable if part.story), ""),
        advice=_once(line for part in applicable for line in part.advice),
        known=claim.known if outcome is ClaimOutcome.FAIL else "",
        warns=claim.warns,
        some=claim.some,
        about=tuple(one.fact for one in claim.predicate),
    )


def _deciding_first(parts: Mapping[int, _Part], evidence: Evidence) -> list[_Part]:
    """Return the results of windows in order. If the claim applies in none of them, the window in
    which the fewest conditions are false comes first, and of those one whose fault affects a
    broker."""
    if any(one.outcome is not ClaimOutcome.NOT_APPLICABLE for one in parts.values()):
        return list(parts.values())

    def distance(window: int) -> tuple[int, bool]:
        spares = bool(window) and evidence.facts.window(window).spares_brokers
        return len(parts[window].reasons), spares

    return [parts[window] for window in sorted(parts, key=distance)]


def _precondition(claim: Claim, evidence: Evidence, window: int) -> _Part | None:
    """Return why the claim is not judged in a window, or a run; None: it applies."""
    conditions = [
        answer(one, window, evidence.claimed(one.fact, window), evidence)
        for one in (*_unrecorded(claim, evidence), *claim.precondition)
        if not one.excludes_a_fault or evidence.facts.planned_windows
    ]
    false = [one for one in conditions if one.is_not_applicable or one.holds is False]
    # What is false of the whole run decides for every fault, so it comes first.
    false.sort(key=lambda one: one.condition.of_window)
    if false:
        return _Part(
            ClaimOutcome.NOT_APPLICABLE,
            reasons=tuple(one.false_precondition for one in false),
        )
    unknown = [one for one in conditions if one.holds is None]
    if not unknown:
        return None
    return _Part(
        ClaimOutcome.INCONCLUSIVE,
        reasons=tuple(one.doubt for one in unknown),
        advice=_once(one.advice for one in unknown),
    )


def _unrecorded(claim: Claim, evidence: Evidence) -> tuple[Condition, ...]:
    """Return the requirements of a claim if the format has a field for none of them."""
    known = any(one.fact not in evidence.hidden for one in claim.predicate)
    return () if known else claim.predicate


def _obstacle(claim: Claim, evidence: Evidence, window: int) -> _Part | None:
    """Return why the claim is not judged in a window, or a run; None: it is."""
    precondition = _precondition(claim, evidence, window)
    if not window:
        disturbed = _disturbed(evidence, 0) if claim.of_steady_state else None
        return precondition or disturbed
    never = doubts.never_begun(window, evidence.facts)
    if never is not None:
        is_false = precondition and precondition.outcome is ClaimOutcome.NOT_APPLICABLE
        unknown = _not_judged(ClaimOutcome.INCONCLUSIVE, why_of(never.reason), never.advice)
        return precondition if is_false else unknown
    if precondition is None:
        return _disturbed(evidence, window) or _beside_others(claim, evidence, window)
    if precondition.outcome is ClaimOutcome.INCONCLUSIVE:
        return _beside_others(claim, evidence, window) or precondition
    return precondition


def _disturbed(evidence: Evidence, window: int) -> _Part | None:
    """Return the result for a window that an unplanned event disturbed, which no claim covers;
    None without one."""
    why = doubts.disturbed(evidence.facts, *derived.judged_between(window, evidence.facts))
    if why is None:
        return None
    reason = replace(why_of(why.reason), window=window)
    return _not_judged(ClaimOutcome.INCONCLUSIVE, reason, why.advice)


def _beside_others(claim: Claim, evidence: Evidence, window: int) -> _Part | None:
    """Return why overlapping faults leave the claim undecided; None: they do not."""
    others = _in_the_way(claim, evidence, window)
    if not others:
        return None
    numbers = " and ".join(str(number) for number in others)
    these = f"faults {numbers} were" if len(others) > 1 else f"fault {numbers} was"
    known = derived.certainly_active(others, evidence.facts)
    reason = f"{these} {'' if known else 'perhaps '}in force at the same time"
    advice = "let one fault end before the next begins"
    if not known or derived.began_at_once(window, others, evidence.facts):
        return _not_judged(ClaimOutcome.INCONCLUSIVE, Why(reason, window=window), advice)
    text = f"{reason}, and the claim speaks of one failed node; to judge it, {advice}"
    return _not_judged(ClaimOutcome.NOT_APPLICABLE, Why(text, window=window))


def _in_the_way(claim: Claim, evidence: Evidence, window: int) -> list[int]:
    """The faults that were in force at the same time, and that the claim does not speak of."""
    if claim.beside_others:
        return []
    admitted = derived.died_before(window, evidence.facts) if claim.beside_dead else ()
    return [number for number in derived.beside(window, evidence.facts) if number not in admitted]


def _of_predicate(answers: Sequence[PredicateAnswer], evidence: Evidence) -> _Part:
    """Return the result of a predicate by the answers to its conditions; all must hold."""
    inapplicable = [one for one in answers if one.is_not_applicable]
    unknown = [one for one in answers if one.holds is None and not one.is_not_applicable]
    decided = [one for one in answers if one.holds is not None]
    false = [one for one in decided if one.holds is False]
    # What makes no sense here stands last: with it alone the claim would not apply.
    reasons = (*(one.doubt for one in unknown), *(one.senseless for one in inapplicable))
    part = _Part(
        ClaimOutcome.PASS,
        judged=tuple(one.words.text for one in decided),
        seen=tuple(one.words.brief for one in decided),
        reasons=reasons,
        advice=_once(one.advice for one in unknown),
        found=tuple(one.found for one in decided),
    )
    if false:
        stories = (story(one.condition.fact, one.window, evidence) for one in false)
        first = next(filter(None, stories), "")
        return replace(part, outcome=ClaimOutcome.FAIL, story=first)
    if unknown:
        return replace(part, outcome=ClaimOutcome.INCONCLUSIVE)
    if inapplicable:
        rest = (Reason(Why(NO_OTHER)),) if decided and not decided[0].predicted else ()
        outcome = ClaimOutcome.NOT_APPLICABLE
        return replace(part, outcome=outcome, reasons=(*reasons, *rest))
    doubt = evidence.doubts.run
    # That a warning's harm was found says something only where the run can be believed.
    return part if doubt is None else _open(part, doubt.why, doubt.advice)


def _with_enough(claim: Claim, evidence: Evidence, window: int, part: _Part) -> _Part:
    """Return the result of a window. What speaks for the broker needs enough that was due."""
    # That a warning did not come true, or no example came, speaks for the broker as a PASS does.
    favours = ClaimOutcome.FAIL if claim.warns or claim.some else ClaimOutcome.PASS
    if part.outcome is not favours:
        return part
    if (doubt := evidence.doubts.run) is not None:
        return _open(part, doubt.why, doubt.advice)
    little = evidence.serving.too_little(window) if window else None
    if little is None:
        return part
    return _open(part, replace(why_of(little.reason), window=window), little.advice)


def _open(part: _Part, why: Why, advice: str) -> _Part:
    """Return a result that is not decided after all."""
    return replace(
        part,
        outcome=ClaimOutcome.INCONCLUSIVE,
        reasons=(Reason(why),),
        story="",
        advice=(advice,),
    )


def _not_judged(outcome: ClaimOutcome, why: Why, *advice: str) -> _Part:
    """Return the result of a window, or of the run, in which no requirement is looked at."""
    return _Part(outcome, reasons=(Reason(why),), advice=advice)


def _once(found: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(one for one in found if one))
