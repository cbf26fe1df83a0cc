"""How evidence names facts: a sentence for counts (of their measure), a label for others.

`UNSURE` stands before the reason why a count is not certain, and nowhere else.
"""

from harness.claims.claims import Condition
from harness.claims.values import Interval
from harness.plan.vocabulary import COUNTS, fact
from spark_analysis.schema import measures
from spark_analysis.schema.words import level_text

UNSURE = "; uncertain, because "  # between what was counted and why that is not certain
NONE_ALLOWED = "; the claim allows none"

_COMPARED = {
    "==": "",
    "!=": "anything but ",
    ">=": "at least ",
    "<=": "at most ",
    ">": "more than ",
    "<": "less than ",
}
YES_NO = {True: "yes", False: "no"}


def measured(condition: Condition, value: object) -> str:
    """Return a fact and its value: `428 of 2,299 confirmed messages were lost`, `consumers: 0`."""
    name, _, detail = condition.fact.partition(".")
    words = YES_NO[value] if isinstance(value, bool) else str(value)
    measure = measures.BY_NAME.get(name) if name in COUNTS else None
    if measure is None or not isinstance(value, Interval):
        known = fact(condition.fact)
        return f"{known.label if known else condition.fact}: {words}"
    count = value.count
    text = measure.sentence(count.number, count.groups)
    text = f"{text} ({_detail_of(name, detail)})" if detail else text
    if not count.beside or count.beside.startswith("("):
        return f"{text} {count.beside}".rstrip()
    return f"{text}, {count.beside}" if "(" in count.beside else f"{text} ({count.beside})"


def wanted(condition: Condition) -> str:
    """Return the values that a condition allows: `at least 1`, `kill, stop or freeze`; "" for yes
    and no."""
    if any(isinstance(one, bool) for one in condition.wanted):
        return ""
    unit = " s" if condition.fact.endswith("_s") else ""
    words = [f"{one:g}{unit}" if isinstance(one, float) else str(one) for one in condition.wanted]
    *others, last = words
    text = f"{', '.join(others)} or {last}" if others else last
    return f"{_COMPARED[condition.comparator]}{text}"


def needed_answer(condition: Condition) -> str:
    """Return the yes or no that a condition allows; "" if it allows other values."""
    wanted = condition.wanted[0]
    if not isinstance(wanted, bool):
        return ""
    return YES_NO[wanted is (condition.comparator == "==")]


def allows_none(condition: Condition) -> bool:
    """Return whether a condition says that a count must be 0."""
    name = condition.fact.partition(".")[0]
    return name in COUNTS and condition.comparator == "==" and condition.wanted == (0.0,)


def _detail_of(name: str, detail: str) -> str:
    """Return the detail of a measure in words: a title of the register, or a confirm level."""
    known = measures.detail(name, detail)
    return known.title if known is not None else f"confirmed {level_text(detail)}"
