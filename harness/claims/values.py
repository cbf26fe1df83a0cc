"""What is known of one fact, and whether a comparison with it holds: yes, no, or unknown.

1. A count that incomplete records can only raise is an interval: what is proved stays proved.
2. Unknown says why and what to do about it; it never becomes true or false by itself.
3. Moot: the question makes no sense here (no fault, rate `max`). It is neither true nor unknown.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A number that lies in [low, high]. `text` is how people read it, `doubt` why it is wide."""

    low: float
    high: float
    text: str = ""
    doubt: str = ""
    advice: str = ""

    def __str__(self) -> str:
        if self.text:
            return self.text
        return f"{self.low:g}" if self.low == self.high else f"at least {self.low:g}"


@dataclass(frozen=True, slots=True)
class Unknown:
    reason: str
    advice: str = ""

    def __str__(self) -> str:
        return f"unknown: {self.reason}"


@dataclass(frozen=True, slots=True)
class Moot:
    reason: str

    def __str__(self) -> str:
        return f"not applicable: {self.reason}"


Value = bool | str | Interval | Unknown | Moot
COMPARATORS = ("==", "!=", "<=", ">=", "<", ">")
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def exactly(number: float, text: str = "") -> Interval:
    return Interval(number, number, text)


def at_least(number: float, text: str = "", doubt: str = "", advice: str = "") -> Interval:
    return Interval(number, math.inf, text, doubt, advice)


def holds(value: Value, comparator: str, wanted: tuple[bool | str | float, ...]) -> bool | None:
    """Whether `value comparator wanted` holds; None where that is unknown.

    Several wanted values are alternatives (only with == and words).
    """
    assert comparator in COMPARATORS, comparator
    if isinstance(value, Unknown):
        return None
    assert not isinstance(value, Moot), "a moot fact is asked for before it is compared"
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
