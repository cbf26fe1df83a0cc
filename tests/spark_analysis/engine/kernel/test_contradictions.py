"""Records that contradict their format are refused; those at its edge are not."""

import pytest

from spark_analysis.engine.kernel.records import BadRecords
from spark_analysis.schema.words import Fate
from tests.rigs.histories.both_judges import by_kernels, raw_columns
from tests.rigs.histories.by_hand import History


def is_refused(history: History) -> bool:
    facts, rows = history.build()
    try:
        by_kernels(facts, raw_columns(rows))
    except BadRecords:
        return True
    return False


@pytest.mark.parametrize(
    ("table", "column", "known", "unknown"),
    [
        ("settlements", "outcome", [1, 2, 3, 4, 5], [0, 6]),
        ("settlements", "strength", [0, 1, 7], [8]),
        ("deliveries", "via", [1, 2, 3, 4, 5], [0, 6]),
        ("deliveries", "redelivered", [0, 1, 2], [3]),
    ],
)
def test_a_word_without_a_meaning_is_refused(
    table: str, column: str, known: list[int], unknown: list[int]
) -> None:
    def with_word(number: int) -> History:
        """The second of three rows says it, so that no end of the table hides it."""
        history = History().publish(1).publish(2).publish(3)
        history.confirm(1).confirm(2).confirm(3).deliver(1).deliver(2).deliver(3)
        history.rows[table][1][column] = number
        return history

    assert not any(is_refused(with_word(number)) for number in known)
    assert all(is_refused(with_word(number)) for number in unknown)


def test_attempts_are_numbered_from_1() -> None:
    assert not is_refused(History().publish(1, attempt=1))
    assert is_refused(History().publish(2).publish(1, attempt=0))
    assert is_refused(History().publish(2, attempt=2).publish(1, attempt=-1))


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_an_attempt_is_recorded_once(attempt: int) -> None:
    once = History().publish(1, attempt=attempt).publish(2, attempt=attempt)
    assert not is_refused(once)
    assert is_refused(once.publish(1, attempt=attempt))


def test_a_missing_first_attempt_does_not_offset_a_duplicate_record() -> None:
    history = History().publish(1).publish(2, attempt=2)
    assert not is_refused(history)
    assert is_refused(history.publish(1))


def test_retries_of_neighbours_are_not_taken_for_each_other() -> None:
    history = History()
    for sequence in range(3):
        for attempt in range(1, 5):
            history.publish(sequence, attempt=attempt).confirm(sequence, attempt=attempt)
    assert not is_refused(history)


@pytest.mark.parametrize("attempt", [2, 3, 9])
def test_a_settlement_has_an_attempt(attempt: int) -> None:
    history = History().publish(1).publish(2).publish(2, attempt=3)
    assert not is_refused(history.confirm(1).confirm(2, attempt=3))
    assert is_refused(history.confirm(1, attempt=attempt))


def test_a_settlement_has_a_message() -> None:
    assert is_refused(History().publish(1).confirm(2))
    assert is_refused(History().confirm(1))


@pytest.mark.parametrize("other", [{"queue": "bills"}, {"key": 3}])
def test_all_attempts_of_a_message_share_queue_and_key(other: dict[str, int]) -> None:
    for first, second in (({}, other), (other, {})):
        history = History().queue("bills").publish(2, **other)
        history.publish(1, **first).publish(1, attempt=2, **first)
        assert not is_refused(history)
        assert is_refused(history.publish(1, attempt=3, **second))


def with_terms(*attempts: int) -> History:
    """Attempts 1 and 2 of message 1 and attempt 1 of message 2 are made; these have terms."""
    history = History().publish(1).publish(1, attempt=2).publish(2)
    for attempt in attempts:
        history.terms(1, fate=Fate.COMMIT, attempt=attempt)
    return history


def test_terms_have_an_attempt() -> None:
    assert not is_refused(with_terms(1, 2).terms(2, due_ms=1))
    assert is_refused(with_terms(3))
    assert is_refused(with_terms(1).terms(3, due_ms=1))
    assert is_refused(History().terms(1, due_ms=1))


@pytest.mark.parametrize("attempt", [1, 2])
def test_an_attempt_has_terms_once(attempt: int) -> None:
    assert is_refused(with_terms(1, 2, attempt))


def test_a_fate_is_known() -> None:
    for fate, refused in ((0, False), (4, False), (5, True), (255, True)):
        history = with_terms().terms(2, due_ms=1).terms(1).terms(1, attempt=2)
        for row in history.rows["terms"][1:]:
            row["fate"] = fate
        assert is_refused(history) == refused


def test_the_attempts_of_a_message_have_one_fate() -> None:
    assert not is_refused(with_terms(1, 2).terms(2, fate=Fate.ROLLBACK))
    assert is_refused(with_terms(1).terms(1, attempt=2, fate=Fate.ROLLBACK))
    assert is_refused(with_terms(1).terms(1, attempt=2, due_ms=1))
