"""Remarks beside the count of a claim: cases that it allows, or that it cannot judge."""

from harness.claims.counted import Among, Counted
from harness.claims.values import Interval, Value

_WITHOUT_ORDER = ("not_promised", "not_at_once")  # details of `not_judged`


def remarked(counts: Counted, name: str, among: Among, value: Value) -> Value:
    """Return the value of the count `name`, with the remark in its text."""
    remark = _remark(counts, name, among)
    if not remark or not isinstance(value, Interval):
        return value
    return value.remarked(remark)


def _remark(counts: Counted, name: str, among: Among) -> str:
    if name == "reordered":
        more = counts.total("not_judged")
        more -= sum(counts.total("not_judged", detail) for detail in _WITHOUT_ORDER)
        return f"{more:,} more could not be judged for order" if more else ""
    late = counts.requeued(among)[1] if name == "duplicated.redelivery_after_ack" else 0
    if not late:
        return ""
    were = "was" if late == 1 else "were"
    return (
        f"{late:,} more {were} acknowledged less than 1 s before the redelivery, a fault or the "
        "end of a connection, perhaps too late for the broker: the claim allows it"
    )
