"""Which fault windows may have caused what.

1. A window may have caused a case if it began by the time that the thing should have come, and was
   not over before the thing was there. A host that never returns goes on causing.
2. Cases of the same kind that the same windows may have caused are one row, with their number.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from spark_analysis.definition.cases import Case, Span
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.messages import Charge


def rows(facts: Facts, cases: Iterable[Case]) -> tuple[Charge, ...]:
    windows = sorted(facts.windows, key=lambda window: window.number)
    tally = Counter(
        (case.measure, case.detail, _candidates(case.span, windows))
        for case in cases
        if case.span is not None
    )
    return tuple(Charge(facts.run, *what, count) for what, count in sorted(tally.items()))


def _candidates(span: Span, windows: Sequence[Window]) -> str:
    return ",".join(
        str(each.number)
        for each in windows
        if (span.by_ns is None or each.origin_ns <= span.by_ns)
        and (each.over_ns is None or each.over_ns >= span.since_ns)
    )
