import numpy as np

from spark_analysis.engine.kernel.doubts import covered_ns


def test_overlapping_spans_count_once() -> None:
    spans = np.array([[30, 40], [0, 10], [5, 12], [6, 8]])
    assert covered_ns(spans, 0, 100) == 22


def test_only_what_lies_within_counts() -> None:
    assert covered_ns(np.array([[0, 10], [95, 120]]), 5, 100) == 10
    assert covered_ns(np.array([[0, 10]]), 20, 30) == 0
    assert covered_ns(np.array([[0, 10]]), 8, 2) == 0


def test_no_stalls_cover_no_time() -> None:
    assert covered_ns(np.zeros((0, 2), np.int64), 0, 100) == 0
