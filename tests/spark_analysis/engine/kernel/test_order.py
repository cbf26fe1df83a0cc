"""The checker finds overtaken messages by the latest so far; these tests compare every pair."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.arrays import NEVER
from spark_analysis.engine.kernel.fates import order
from spark_analysis.engine.kernel.fates.order import Sendings

SMALL = st.integers(0, 2)
SENT = st.integers(0, 6)
MESSAGES = st.lists(st.tuples(SMALL, SMALL, SENT, st.just(NEVER) | SENT, SMALL), max_size=10)


@given(MESSAGES, st.randoms(use_true_random=False), st.sampled_from([1, 3, 1000]))
def test_order_agrees_with_comparing_every_pair(
    messages: list[tuple[int, int, int, int, int]], chance: Random, together: int
) -> None:
    slots = list(range(len(messages)))
    chance.shuffle(slots)
    line, connection, sent_ns, confirmed_ns = (
        np.array([each[place] for each in messages], np.int64) for place in range(4)
    )
    is_first = np.array([each[4] > 0 for each in messages], np.bool_)
    sendings = Sendings(sent_ns, confirmed_ns, connection, np.array(slots, np.int64), is_first)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "MANY", together)
        found = sendings.overtaken(line)
    assert found.tolist() == [
        any(
            messages[y][0] == messages[x][0]
            and (
                messages[x][3] < messages[y][2]
                or (
                    messages[y][1] == messages[x][1]
                    and (
                        messages[x][2] < messages[y][2]
                        or (
                            messages[x][2] == messages[y][2]
                            and is_first[x]
                            and is_first[y]
                            and slots[x] < slots[y]
                        )
                    )
                )
            )
            for y in range(x)
        )
        for x in range(len(messages))
    ]
