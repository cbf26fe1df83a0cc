"""Whether enough deliveries of each queue could be judged for order.

1. Order is promised within a queue, so what was judged of one queue says nothing about another.
"""

from collections import Counter
from collections.abc import Iterable

from harness.claims.values import Why
from spark_analysis.schema.messages import Count

DELIVERED = ("in_order", "reordered", "reorder_unknown", "not_judged")  # each message is in one


def too_few(counts: Iterable[Count], group: str) -> Why | None:
    """Return why too few deliveries could be judged for order, of the first such queue; None
    if enough could be of each. `group`: ` in group NAME`, or ""."""
    queues: dict[str, Counter[tuple[str, str]]] = {}
    for row in counts:
        if row.measure in DELIVERED:
            queues.setdefault(row.queue, Counter())[row.measure, row.detail] += row.count
    for queue, each in sorted(queues.items()):
        judged = sum(each[name, ""] for name in ("in_order", "reordered"))
        of = each.total() - each["not_judged", "not_promised"]
        if judged * 2 < of - each["not_judged", "not_at_once"]:
            where = f" of queue {queue}{group}" if len(queues) > 1 else group
            text = f" of {of:,} deliveries{where} could be judged for order"
            return Why(text, judged, "only ")
    return None
