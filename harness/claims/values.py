"""Values of facts, and comparisons with them: true, false, or unknown.

1. A count that incomplete records can only raise is an interval: proved cases stay proved.
2. Unknown has a reason and advice; it never becomes true or false by itself.
3. NotApplicable: the question makes no sense here (no fault, rate `max`). It is neither true nor
   unknown.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Why:
    """Why a value is not known: `orders was not drained`, or by its parts `fault 2: all 1,204 may
    be due to fault 1`. Reports group reasons that differ in their number only.

    `window`: the fault that it names. `before`, `number`: what comes before the text, if anything.
    `near_zero`: the same of a bound that is too short to tell from 0, where it needs other words.
    """

    text: str
    number: int | None = None
    before: str = ""
    window: int = 0
    near_zero: str = ""

    @property
    def head(self) -> str:
        """Return what comes before the number."""
        return f"{f'fault {self.window}: ' if self.window else ''}{self.before}"

    def __str__(self) -> str:
        number = "" if self.number is None else f"{self.number:,}"
        return f"{self.head}{number}{self.text}"

    def and_also(self, text: str) -> "Why":
        return replace(self, text=f"{self.text}{text}")


@dataclass(frozen=True, slots=True)
class CountText:
    """A count as people read it: `37 of 9,690`, ` × 2 groups`, and what is said beside it."""

    number: str
    groups: str = ""
    beside: str = ""

    def __str__(self) -> str:
        return f"{self.number}{self.groups} {self.beside}".rstrip()


@dataclass(frozen=True, slots=True)
class Interval:
    """A number that lies in [low, high]. `text` is how people read it, `doubt` why it is wide."""

    low: float
    high: float
    text: str | CountText = ""
    doubt: str | Why = ""
    advice: str = ""

    def __str__(self) -> str:
        if self.text:
            return str(self.text)
        low = f"{self.low:,.0f}" if float(self.low).is_integer() else f"{self.low:g}"
        return low if self.low == self.high else f"at least {low}"

    @property
    def count(self) -> CountText:
        """Return the text of a number that is a count."""
        return self.text if isinstance(self.text, CountText) else CountText(str(self))

    def remarked(self, remark: str) -> "Interval":
        """Return the number with a remark in its text."""
        beside = f"{self.count.beside} ({remark})".lstrip()
        return replace(self, text=replace(self.count, beside=beside))


@dataclass(frozen=True, slots=True)
class Unknown:
    reason: str | Why
    advice: str = ""

    def __str__(self) -> str:
        return f"unknown: {self.reason}"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    reason: str

    def __str__(self) -> str:
        return f"{NO_SENSE}{self.reason}"


NO_SENSE = "not applicable, because "  # before the reason
Value = bool | str | Interval | Unknown | NotApplicable
COMPARATORS = ("==", "!=", "<=", ">=", "<", ">")
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def why_of(reason: str | Why) -> Why:
    return reason if isinstance(reason, Why) else Why(reason)


def exactly(number: float, text: str | CountText = "") -> Interval:
    return Interval(number, number, text)


def between(low: float, high: float, doubt: str | Why = "", advice: str = "") -> Interval:
    """Return a number of seconds that is known within bounds."""
    return Interval(low, high, from_to(low, high), doubt, advice)


def at_least_s(seconds: float, doubt: str | Why = "", advice: str = "") -> Interval:
    """Return a number of seconds that is known by a lower bound only."""
    found = Interval(seconds, math.inf, "", doubt, advice)
    return replace(found, text=seconds_text(found))


def seconds_text(value: Interval) -> str:
    """Return a time: `1.234 s`, `at least 1.234 s`, `1.2 to 3.4 s`."""
    if value.low == value.high:
        return f"{value.low:.3f} s"
    if math.isinf(value.high):
        return f"at least {value.low:.3f} s"
    return from_to(value.low, value.high)


def from_to(low_s: float, high_s: float) -> str:
    """Return `1.2 to 3.4 s`; bounds that look equal get more digits: `0.000 to 0.003 s`."""
    digits = 1 if f"{low_s:.1f}" != f"{high_s:.1f}" else 3
    return f"{low_s:.{digits}f} to {high_s:.{digits}f} s"


def at_least(
    number: float, text: str | CountText = "", doubt: str | Why = "", advice: str = ""
) -> Interval:
    return Interval(number, math.inf, text, doubt, advice)


def holds(value: Value, comparator: str, wanted: tuple[bool | str | float, ...]) -> bool | None:
    """Return whether `value comparator wanted` holds; None if that is unknown.

    Several wanted values are alternatives (only with == and words).
    """
    assert comparator in COMPARATORS, comparator
    if isinstance(value, Unknown):
        return None
    assert not isinstance(value, NotApplicable), "check for NotApplicable before a comparison"
    if isinstance(value, Interval):
        return _number_holds(value, comparator, wanted[0])
    return (value in wanted) if comparator == "==" else (value not in wanted)


def _number_holds(value: Interval, comparator: str, wanted: bool | str | float) -> bool | None:
    assert isinstance(wanted, int | float), wanted
    if comparator in _ORDERS:
        ends = {_ORDERS[comparator](value.low, wanted), _ORDERS[comparator](value.high, wanted)}
        return ends.pop() if len(ends) == 1 else None
    if wanted < value.low or wanted > value.high:
        return comparator == "!="
    if value.low == value.high:
        return comparator == "=="
    return None
