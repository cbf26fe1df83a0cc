"""One condition of a claim, checked in one window or over the run, and what it says in words."""

import re
from dataclasses import dataclass

from harness.claims import fact_labels
from harness.claims.claims import Condition
from harness.claims.evidence import Evidence
from harness.claims.values import Interval, NotApplicable, Unknown, Value, holds

_ONLY_A_BOUND = "the load ended, or the next fault began, before more of it was recorded"
# A fault that was not verified is the reason of every claim about any fault: it names itself.
_NAMES_A_FAULT = re.compile(r"fault \d+: ")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a requirement was not judged.

    `text`: what was found of the requirement, and why that decides nothing. `why`: the latter
    alone, which many claims may have in common. `inapplicable`: the requirement makes no sense in
    the run; else another run could decide it.
    """

    text: str
    why: str
    inapplicable: bool = False


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
    def words(self) -> str:
        """Return what was found of a requirement."""
        needed = fact_labels.wanted(self.condition)
        tail = f"; the claim predicts {needed}" if self.predicted and needed else ""
        if not self.predicted and not self.holds and needed:
            none = fact_labels.allows_none(self.condition)
            tail = fact_labels.NONE_ALLOWED if none else f"; the claim needs {needed}"
        return self._line(f"{self._measured}{tail}")

    @property
    def false_precondition(self) -> Reason:
        """Return why the claim does not apply."""
        if isinstance(self.value, NotApplicable):
            return self.senseless
        one = self.condition
        needed = fact_labels.wanted(one) or fact_labels.needed_answer(one)
        tail = f"; the claim is about: {needed}" if needed else ""
        return self._reason(f"{self._measured}{tail}")

    @property
    def senseless(self) -> Reason:
        """Return why the condition makes no sense in the run."""
        return self._reason(str(self.value), inapplicable=True)

    @property
    def doubt(self) -> Reason:
        if isinstance(self.value, Unknown):
            return self._reason(self.value.reason)
        doubt = self.value.doubt if isinstance(self.value, Interval) else ""
        why = doubt or _ONLY_A_BOUND
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

    @property
    def _fault(self) -> str:
        return f"fault {self.window}: " if self.window and self.condition.of_window else ""

    def _line(self, text: str) -> str:
        return f"{self._fault}{text} (`{self.condition.text}`)"

    def _reason(self, why: str, found: str = "", inapplicable: bool = False) -> Reason:
        fault = "" if _NAMES_A_FAULT.match(why) else self._fault
        return Reason(self._line(f"{found}{why}"), f"{fault}{why}", inapplicable)


def answer(
    condition: Condition, window: int, value: Value, evidence: Evidence, predicted: bool = False
) -> PredicateAnswer:
    """Return the answer to a condition. `predicted`: by a warning."""
    in_words = window and isinstance(value, bool)
    detail = evidence.detail(condition.fact, window) if in_words else ""
    return PredicateAnswer(condition, window, value, detail, predicted)
