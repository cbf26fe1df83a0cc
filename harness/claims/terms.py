"""Counts that only some messages can have, delayed ones or those of transactions.

1. A run without such messages says nothing of them: not applicable, never 0.
"""

from collections.abc import Callable

from harness.claims.values import NotApplicable
from spark_analysis.schema.measures import BY_NAME

Total = Callable[[str, str], int]  # of a measure and a detail of it; "": every detail


def not_applicable(measure: str, total: Total) -> NotApplicable | None:
    """Return why a run says nothing about this measure; None if it does."""
    needed = BY_NAME[measure].of
    if needed is None or total("could_show", measure):
        return None
    if any(total(needed.measure, detail) for detail in needed.details or ("",)):
        return None
    return NotApplicable(needed.missing)
