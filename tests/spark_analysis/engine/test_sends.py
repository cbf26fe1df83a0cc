"""Spark and the plain definition agree row for row about whose sends failed."""

from collections import Counter

import pytest

from tests.rigs.histories.both_judges import sends_by_both
from tests.rigs.histories.fixed import few_histories

pytestmark = pytest.mark.slow

HISTORIES = 100


def test_kernels_and_the_definition_agree_on_whose_sends_failed() -> None:
    told: Counter[str] = Counter()
    for facts, rows in few_histories()[:HISTORIES]:
        for row in sends_by_both(facts, rows).sends:
            told["rows"] += 1
            told["failed"] += row.failed > 0
            told["all well"] += row.failed == 0
            told["well again"] += 0 < row.sent_by_then < row.sent
            told["of a later window"] += row.window > 1
    # Agreement means little where nothing was said.
    assert min(told.values()) >= 20, told
