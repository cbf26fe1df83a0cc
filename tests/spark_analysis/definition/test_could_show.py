"""Which messages could have shown a class of findings: its denominator."""

import pytest

from spark_analysis.definition.judge import judge
from spark_analysis.schema.words import Fate, Outcome, Via
from tests.rigs.histories.by_hand import History, counts

OF_A_QUEUE = "could_show redelivered_without_cause"


def shown(history: History) -> dict[str, int]:
    """Of what a queue gave out there is a test of its own."""
    return {name: number for name, number in every(history).items() if name != OF_A_QUEUE}


def every(history: History) -> dict[str, int]:
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
    assert shown(history) == {"could_show early": 1, "could_show attempt_lost": 1}


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


# --- what needs a second sending, the end of a connection, or a queue ----------------------------


def sent_twice(again_ms: float | None = 30) -> History:
    """Confirmed, and sent once more; None: meant to be, and never sent."""
    history = History().publish(1, at_ms=10).confirm(1)
    if again_ms is None:
        return history.not_sent(1, attempt=2)
    return history.publish(1, at_ms=again_ms, attempt=2)


def test_a_confirmed_copy_can_be_lost_beside_another_one() -> None:
    assert shown(sent_twice()) == {"could_show attempt_lost": 1}
    assert shown(sent_twice().confirm(1, attempt=2)) == {"could_show attempt_lost": 1}
    assert shown(History().publish(1).confirm(1).publish(2).confirm(2)) == {}


def test_a_copy_that_was_not_confirmed_or_not_sent_shows_nothing() -> None:
    twice = History().publish(1, at_ms=10).publish(1, at_ms=20, attempt=2)
    assert shown(twice) == {}
    assert shown(twice.settle(1, Outcome.UNKNOWN)) == {}
    assert shown(twice.confirm(1, attempt=2)) == {"could_show attempt_lost": 1}
    assert shown(sent_twice(None)) == {}


def test_transactions_have_no_copies() -> None:
    assert shown(sent_twice().terms(1, fate=Fate.COMMIT)) == {"could_show torn_transaction": 1}


def held(ended_ms: float = 200, via: Via = Via.LOAD) -> History:
    history = History().publish(1, at_ms=100).confirm(1).deliver(1, at_ms=110, tag=5, via=via)
    return history.client_event("lost", at_ms=ended_ms)


def test_what_a_connection_held_when_it_ended_can_be_forgotten() -> None:
    assert shown(held()) == shown(held(110)) == {"could_show not_redelivered": 1}
    assert shown(held().deliver(1, at_ms=300, connection=2)) == {"could_show not_redelivered": 1}


def test_what_was_acknowledged_or_came_later_is_not_held() -> None:
    assert shown(held(109)) == {}
    assert shown(held().acknowledge(5, at_ms=300)) == {}
    assert shown(held(via=Via.DRAIN)) == {}
    assert shown(History().publish(1).confirm(1).deliver(1)) == {}


def test_a_queue_gives_out_what_has_no_offset() -> None:
    came = History().publish(1).confirm(1).deliver(1).deliver(1)
    assert every(came) == {OF_A_QUEUE: 1}
    assert every(History().publish(1).confirm(1).deliver(1, place="a", offset=0)) == {}
    assert every(History().publish(1).confirm(1).deliver(1, via=Via.DRAIN)) == {}


def test_consumers_that_acknowledge_nothing_hold_nothing() -> None:
    history = History(acknowledges=False).publish(1, at_ms=100).confirm(1)
    assert every(history.deliver(1, at_ms=110).client_event("lost", at_ms=200)) == {}
