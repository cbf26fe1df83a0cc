"""Spark and the oracle agree row for row about whose sends failed."""

from collections import Counter

import pytest

from tests.rigs.histories.both_judges import sends_by_both
from tests.rigs.histories.fixed import few_histories

pytestmark = pytest.mark.slow

HISTORIES = 100


def test_kernels_and_the_definition_agree_on_whose_sends_failed() -> None:
    row_counts: Counter[str] = Counter()
    for facts, rows in few_histories()[:HISTORIES]:
        for row in sends_by_both(facts, rows).sends:
            row_counts["rows"] += 1
            row_counts["failed"] += row.failed > 0
            row_counts["all well"] += row.failed == 0
            row_counts["well again"] += 0 < row.sent_by_then < row.sent
            row_counts["of a later window"] += row.window > 1
    # Agreement means little where nothing was said.
    assert min(row_counts.values()) >= 20, row_counts
