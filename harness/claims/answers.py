"""One condition of a claim, checked in one window or over the run, and what it says in words."""

from dataclasses import dataclass, replace

from harness.claims import fact_labels
from harness.claims.claims import Condition
from harness.claims.evidence import Evidence
from harness.claims.values import (
    NO_SENSE,
    Interval,
    NotApplicable,
    Unknown,
    Value,
    Why,
    holds,
    why_of,
)

_ONLY_A_BOUND = "the load ended, or the next fault began, before more of it was recorded"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a requirement was not judged, or what was found of one that was.

    `found`: what was found of the requirement, up to the reason. `condition`, `window`: of the
    requirement, if it is one. `inapplicable`: it makes no sense in the run; else another run could
    decide it.
    """

    why: Why
    found: str = ""
    condition: str = ""
    window: int = 0
    inapplicable: bool = False

    @property
    def cause(self) -> Why:
        """Return the reason alone, which many claims may have in common. A fault that was not
        verified is the reason of every claim about any fault: it names itself."""
        before = f"{NO_SENSE if self.inapplicable else ''}{self.why.before}"
        return replace(self.why, window=self.why.window or self.window, before=before)

    @property
    def brief(self) -> str:
        """Return what was found of the requirement, and why that decides nothing."""
        return f"{self._head}{NO_SENSE if self.inapplicable else ''}{self.found}{self.why}"

    @property
    def text(self) -> str:
        """Return the same, with the requirement."""
        return f"{self.brief}{self._tail}"

    @property
    def below_heading(self) -> str:
        """Return the text of a requirement below a heading that says that it does not apply."""
        return f"{self._head}{self.found}{self.why}{self._tail}"

    @property
    def _head(self) -> str:
        return f"fault {self.window}: " if self.window not in (0, self.why.window) else ""

    @property
    def _tail(self) -> str:
        return f" (`{self.condition}`)" if self.condition else ""


@dataclass(frozen=True, slots=True)
class PredicateAnswer:
    """One condition, checked in one window."""

    condition: Condition
    window: int
    value: Value
    detail: str
    predicted: bool  # by a warning

    @property
    def holds(self) -> bool | None:
        """Return whether the condition holds; None if that is unknown, or makes no sense here."""
        if self.is_not_applicable:
            return None
        return holds(self.value, self.condition.comparator, self.condition.wanted)

    @property
    def is_not_applicable(self) -> bool:
        return isinstance(self.value, NotApplicable)

    @property
    def words(self) -> Reason:
        """Return what was found of a requirement that was judged."""
        needed = fact_labels.wanted(self.condition)
        if self.predicted:
            predicted = needed or fact_labels.needed_answer(self.condition)
            return self._reason(Why(f"{self._measured}; the warning predicts: {predicted}"))
        tail = ""
        if not self.holds and needed:
            none = fact_labels.allows_none(self.condition)
            tail = fact_labels.NONE_ALLOWED if none else f"; the claim needs {needed}"
        return self._reason(Why(f"{self._measured}{tail}"))

    @property
    def false_precondition(self) -> Reason:
        """Return why the claim does not apply."""
        if isinstance(self.value, NotApplicable):
            return self.senseless
        one = self.condition
        needed = fact_labels.wanted(one) or fact_labels.needed_answer(one)
        tail = f"; the claim applies only if this is: {needed}" if needed else ""
        return self._reason(Why(f"{self._measured}{tail}"))

    @property
    def senseless(self) -> Reason:
        """Return why the condition makes no sense in the run."""
        assert isinstance(self.value, NotApplicable), self.value
        return replace(self._reason(Why(self.value.reason)), inapplicable=True)

    @property
    def doubt(self) -> Reason:
        if isinstance(self.value, Unknown):
            return self._reason(why_of(self.value.reason))
        doubt = self.value.doubt if isinstance(self.value, Interval) else ""
        why = why_of(doubt or _ONLY_A_BOUND)
        return self._reason(why, found=f"{self._measured}{fact_labels.UNSURE}")

    @property
    def advice(self) -> str:
        return self.value.advice if isinstance(self.value, Unknown | Interval) else ""

    @property
    def found(self) -> str:
        """Return the value, and how it came about."""
        known = self.value
        value = fact_labels.YES_NO[known] if isinstance(known, bool) else str(known)
        return f"{value} ({self.detail})" if self.detail else value

    @property
    def _measured(self) -> str:
        text = fact_labels.measured(self.condition, self.value)
        return f"{text} ({self.detail})" if self.detail else text

    def _reason(self, why: Why, found: str = "") -> Reason:
        window = self.window if self.condition.of_window else 0
        return Reason(why, found, self.condition.text, window)


def answer(
    condition: Condition, window: int, value: Value, evidence: Evidence, predicted: bool = False
) -> PredicateAnswer:
    """Return the answer to a condition. `predicted`: by a warning."""
    in_words = window and isinstance(value, bool)
    detail = evidence.detail(condition.fact, window) if in_words else ""
    return PredicateAnswer(condition, window, value, detail, predicted)
