"""Which messages could have shown a class of delays or transactions: its denominator."""

import pytest

from spark_analysis.definition.judge import judge
from spark_analysis.schema.words import Fate, Outcome, Via
from tests.rigs.histories.by_hand import History, counts


def shown(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), "could_show"))


def delayed() -> History:
    return History().publish(1, at_ms=10).terms(1, due_ms=5_010)


def in_transaction(fate: Fate) -> History:
    return History().publish(1, at_ms=10).terms(1, fate=fate)


def test_a_delayed_message_that_never_came_shows_nothing() -> None:
    assert shown(delayed().confirm(1)) == {}
    assert shown(delayed().confirm(1).deliver(1, at_ms=5_010, via=Via.AUDIT)) == {}


def test_an_unconfirmed_delayed_message_can_only_be_early() -> None:
    unconfirmed = delayed().deliver(1, at_ms=5_010)
    assert shown(unconfirmed) == {"could_show early": 1}
    assert shown(unconfirmed.confirm(1)) == {"could_show early": 1, "could_show overdue": 1}


def test_a_first_copy_without_delay_cannot_be_overdue() -> None:
    history = delayed().confirm(1).publish(1, at_ms=20, attempt=2).confirm(1, attempt=2)
    history.deliver(1, at_ms=30, attempt=2).deliver(1, at_ms=5_010)
    assert shown(history) == {"could_show early": 1}


@pytest.mark.parametrize(
    ("fate", "measure"),
    [(Fate.COMMIT, "torn_transaction"), (Fate.COMMIT_WHEN_CHECKED, "unchecked")],
)
def test_a_commit_shows_something_only_if_it_was_confirmed(fate: Fate, measure: str) -> None:
    assert shown(in_transaction(fate)) == {}
    assert shown(in_transaction(fate).confirm(1)) == {f"could_show {measure}": 1}


@pytest.mark.parametrize("fate", [Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED])
def test_a_rollback_could_be_delivered_whatever_its_sender_heard(fate: Fate) -> None:
    assert shown(in_transaction(fate)) == {"could_show rolled_back_but_delivered": 1}


def test_a_commit_that_was_refused_is_rolled_back() -> None:
    refused = in_transaction(Fate.COMMIT).settle(1, Outcome.REFUSED)
    assert shown(refused) == {"could_show rolled_back_but_delivered": 1}
