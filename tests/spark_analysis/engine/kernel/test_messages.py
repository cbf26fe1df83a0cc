import numpy as np

from spark_analysis.engine.kernel.events.messages import Messages, fold
from spark_analysis.engine.kernel.records import Attempts, Settlements, Terms
from spark_analysis.schema.words import LEVELS
from tests.rigs.histories.both_judges import Memory, raw_columns
from tests.rigs.histories.by_hand import History


def test_an_attempt_that_was_not_made_has_no_row() -> None:
    history = History().publish(1).publish(1, attempt=3).publish(2).publish(2, attempt=2)
    known = folded(history)
    assert rows(known, (0, 1), (0, 2), (0, 3), (0, 4)) == [0, -1, 1, -1]
    assert rows(known, (1, 1), (1, 2), (1, 3), (-1, 1), (-1, 2), (-1, 3)) == [2, 3, *[-1] * 4]


def test_without_publishes_no_attempt_has_a_row() -> None:
    assert rows(folded(History()), (-1, 1), (-1, 2)) == [-1, -1]


def rows(known: Messages, *attempts: tuple[int, int]) -> list[int]:
    """The row of each (slot, attempt)."""
    slot, attempt = np.array(attempts).T
    return known.rows.find(slot, attempt).tolist()


def folded(history: History) -> Messages:
    _, raw = history.build()
    reader = Memory(raw_columns(raw))
    return fold(reader.read(Attempts), reader.read(Settlements), reader.read(Terms), LEVELS)
