"""The fault windows that may have caused each case.

1. A window may have caused a case if it began before the message should have come, and was not
   over before it came. A host that never returns goes on causing.
2. Cases of one kind with the same possible windows are one row, with their number.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from spark_analysis.definition.cases import Case, Span
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.messages import Attribution


def rows(facts: Facts, cases: Iterable[Case]) -> tuple[Attribution, ...]:
    windows = sorted(facts.windows, key=lambda window: window.number)
    counts = Counter(
        (case.measure, case.detail, _candidates(case.span, windows))
        for case in cases
        if case.span is not None
    )
    return tuple(Attribution(facts.run, *what, count) for what, count in sorted(counts.items()))


def _candidates(span: Span, windows: Sequence[Window]) -> str:
    return ",".join(
        str(each.number)
        for each in windows
        if (span.by_ns is None or each.origin_ns <= span.by_ns)
        and (each.over_ns is None or each.over_ns >= span.since_ns)
    )
