"""When one spell of failing sends ends, and another begins."""

import numpy as np

from tests.benchmarks.failing_spells import spells


def test_a_spell_ends_where_none_failed_for_so_long() -> None:
    failed_s = np.array([3.0, 5.0, 25.0, 45.1, 700.0])
    assert [*spells(failed_s, 20.0)] == [(3.0, 25.0, 3), (45.1, 45.1, 1), (700.0, 700.0, 1)]
    assert [*spells(np.array([]), 20.0)] == []
