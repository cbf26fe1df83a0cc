import numpy as np

from spark_analysis.engine.kernel.records import Text


def test_a_slot_without_a_message_is_among_no_words() -> None:
    text = Text(("bills", "orders"), np.array([1, -1, 0], np.int32))
    assert text.among("orders").tolist() == [True, False, False]
    assert text.among().tolist() == [False, False, False]
