"""Counts that only some messages can have: delayed ones, those of transactions, those in order.

1. A run without such messages says nothing of them: not applicable, never 0.
2. If a publisher's log is open, one may have been sent off the record, unless none was planned.
3. If a run ended before its drain, no record says which queues promise order: that is unknown.
"""

from collections.abc import Callable, Collection, Mapping

from harness.claims.doubts import Caveat
from harness.claims.values import NotApplicable, Unknown
from spark_analysis.schema.measure import Whole
from spark_analysis.schema.measures import BY_NAME

Total = Callable[[str, str], int]  # of a measure and a detail of it; "": every detail
_NO_ORDER = {
    "not_promised": "several queues or consumers per key",
    "not_at_once": "all were delayed, or in transactions",
}


def without_such(
    measure: str, total: Total, planned: Mapping[Whole, float], open_log: Caveat | None
) -> NotApplicable | Unknown | None:
    """Return why a run says nothing about this measure; None if it does."""
    none = not_applicable(measure, total)
    may_be_sent = planned.get(BY_NAME[measure].part_of) != 0
    return open_log.unknown if none and open_log and may_be_sent else none


def not_applicable(measure: str, total: Total) -> NotApplicable | None:
    """Return why no message on record says anything about this measure; None if one does."""
    needed = BY_NAME[measure].of
    if needed is None or total("could_show", measure):
        return None
    if any(total(needed.measure, detail) for detail in needed.details or ("",)):
        return None
    return NotApplicable(needed.missing)


def no_promise(queues: Collection[str], total: Total) -> NotApplicable | Unknown | None:
    """Return why a run whose deliveries were not judged for order promised none; None if it did.
    `queues`: those whose end is on record."""
    if not queues:
        return Unknown("it is not recorded which queues promise order", "see how the run ended")
    for detail, why in _NO_ORDER.items():
        if total("not_judged", "") == total("not_judged", detail):
            return NotApplicable(f"order is not promised ({why})")
    return None
