"""The fault windows that may have caused each case.

1. A window may have caused a case if it began before the message should have come, and was not
   over before it came. A host that never returns goes on causing.
2. Cases of one kind with the same possible windows are one row, with their number.
3. The times of a case are known up to the bounds of publisher and consumer together. If a window
   may have caused it by some clock within them, and none by another, it may as well have been
   caused without a fault. So may what an operation may have caused, too, and what was confirmed
   when the window was over: the confirm may have been on its way since the message was sent.
   If it is unknown when a window was over, only what its end had not passed is its for certain.
4. No fault of clients, or of their links, takes from a broker what it has. Such a window counts
   for what is gone only where no other can have caused it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from spark_analysis.schema.facts import Facts, Unsettled, Window
from spark_analysis.schema.measures import BY_NAME
from spark_analysis.schema.messages import NO_FAULT, Attribution
from spark_analysis.schema.service import CONSUMER, PUBLISHER
from tests.oracle.cases import Case, Span


def rows(facts: Facts, cases: Iterable[Case]) -> tuple[Attribution, ...]:
    windows = sorted(facts.windows, key=lambda window: window.number)
    counts = Counter(
        (case.measure, case.detail, _candidates(facts, case.measure, case.span, windows))
        for case in cases
        if case.span is not None
    )
    return tuple(Attribution(facts.run, *what, count) for what, count in sorted(counts.items()))


def _candidates(facts: Facts, measure: str, span: Span, windows: Sequence[Window]) -> str:
    bound_ns = facts.clock_bound_ns(PUBLISHER, CONSUMER)
    since_ns, by_ns = span.since_ns + bound_ns, _moved(span.by_ns, -bound_ns)
    first_ns, last_ns = span.sent_ns - bound_ns, _moved(span.latest_ns, bound_ns)
    of_cluster = [each for each in windows if not each.spares_brokers]
    if BY_NAME[measure].of_brokers and any(
        _reaches(each, first_ns, last_ns) for each in of_cluster
    ):
        windows = of_cluster
    numbers = [each.number for each in windows if _reaches(each, first_ns, last_ns)]
    operated = any(_reaches(each, first_ns, last_ns) for each in facts.operated)
    certain = any(_reaches(_at_least(each), since_ns, by_ns) for each in windows)
    if numbers and (operated or not certain):
        numbers.insert(0, NO_FAULT)
    return ",".join(map(str, numbers))


def _moved(at_ns: int | None, by_ns: int) -> int | None:
    return None if at_ns is None else at_ns + by_ns


def _at_least(window: Window) -> Window:
    """Return the window as short as it may have been."""
    return window if window.over_ns is not None else replace(window, over_ns=window.ended_ns)


def _reaches(window: Unsettled, since_ns: int, by_ns: int | None) -> bool:
    begins = by_ns is None or window.origin_ns <= by_ns
    return begins and (window.over_ns is None or window.over_ns >= since_ns)
