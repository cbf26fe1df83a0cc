"""Which messages could have shown a class of findings: its denominator."""

import pytest

from spark_analysis.schema.words import Fate, Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, History, counts
from tests.rigs.histories.ways import Via


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
    assert shown(history) == {"could_show early": 1, "could_show attempt_lost": 1}


@pytest.mark.parametrize(
    ("fate", "measure"),
    [(Fate.COMMIT, "torn_transaction"), (Fate.COMMIT_WHEN_CHECKED, "unchecked")],
)
def test_a_commit_shows_something_only_if_it_was_confirmed(fate: Fate, measure: str) -> None:
    assert shown(in_transaction(fate)) == {}
    assert shown(in_transaction(fate).confirm(1)) == {f"could_show {measure}": 1}


@pytest.mark.parametrize("fate", [Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED])
def test_a_rollback_shows_something_only_if_it_was_answered(fate: Fate) -> None:
    """Else its delivery would prove nothing."""
    assert shown(in_transaction(fate)) == {}
    assert shown(in_transaction(fate).settle(1, Outcome.UNKNOWN)) == {}
    answered = in_transaction(fate).settle(1, Outcome.REFUSED)
    assert shown(answered) == {"could_show rolled_back_but_delivered": 1}


def test_a_commit_that_was_refused_is_rolled_back() -> None:
    refused = in_transaction(Fate.COMMIT).settle(1, Outcome.REFUSED)
    assert shown(refused) == {"could_show rolled_back_but_delivered": 1}


# --- a confirmed copy needs a second sending -----------------------------------------------------


def sent_twice() -> History:
    return History().publish(1, at_ms=10).publish(1, at_ms=20, attempt=2)


@pytest.mark.parametrize("confirmed", [(1,), (2,), (1, 2)])
def test_a_copy_can_be_lost_of_what_was_sent_again_and_confirmed(confirmed: tuple[int]) -> None:
    history = sent_twice()
    for attempt in confirmed:
        history.confirm(1, attempt=attempt)
    assert shown(history) == {"could_show attempt_lost": 1}, "whatever came of it"


def test_several_copies_of_one_message_count_once() -> None:
    history = sent_twice().publish(1, attempt=3).confirm(1).confirm(1, attempt=3)
    assert shown(history.publish(2).confirm(2)) == {"could_show attempt_lost": 1}


def test_no_copy_can_be_lost_of_what_was_sent_once_or_never_confirmed() -> None:
    assert shown(History().publish(1).confirm(1).publish(2).confirm(2)) == {}
    assert shown(sent_twice()) == {}
    assert (
        shown(sent_twice().settle(1, Outcome.UNKNOWN).settle(1, Outcome.REFUSED, attempt=2)) == {}
    )


def test_an_attempt_that_never_went_out_is_no_copy() -> None:
    assert shown(History().publish(1).confirm(1).not_sent(1, attempt=2)) == {}
    assert shown(History().not_sent(1).publish(1, attempt=2).confirm(1, attempt=2)) == {}
    late = History().not_sent(1).publish(1, attempt=2).publish(1, attempt=3)
    assert shown(late.confirm(1, attempt=2)) == {"could_show attempt_lost": 1}


def test_a_confirm_of_what_was_returned_confirms_no_copy() -> None:
    returned = sent_twice().settle(1, Outcome.RETURNED).confirm(1)
    assert shown(returned) == {}
    assert shown(returned.confirm(1, attempt=2)) == {"could_show attempt_lost": 1}


def test_a_transaction_has_no_copies() -> None:
    committed = sent_twice().terms(1, fate=Fate.COMMIT).confirm(1)
    assert shown(committed) == {"could_show torn_transaction": 1}


# --- something unacknowledged needs a connection that held it when it ended ----------------------

HELD = {"could_show not_redelivered": 1}


def given(via: Via = Via.LOAD, ended_ms: float = 200) -> History:
    """Delivered at 110 ms by a connection that ended."""
    history = History().publish(1, at_ms=100).confirm(1).deliver(1, at_ms=110, tag=5, via=via)
    return history.client_event("lost", at_ms=ended_ms)


@pytest.mark.parametrize(
    ("ended_ms", "found"), [(200, HELD), (110, HELD), (109.999_999, {})], ids=str
)
def test_a_connection_holds_what_it_received_before_it_ended(
    ended_ms: float, found: dict[str, int]
) -> None:
    assert shown(given(ended_ms=ended_ms)) == found


def test_a_held_message_counts_once_even_if_redelivered() -> None:
    again = given().deliver(1, at_ms=300, connection=2, tag=1)
    assert shown(again) == HELD
    assert shown(again.acknowledge(1, connection=2)) == HELD
    twice = given().deliver(1, at_ms=300, connection=2, tag=1)
    assert shown(twice.client_event("closed", at_ms=400, connection=2)) == HELD
    assert shown(given().deliver(1, at_ms=300, via=Via.AUDIT, tag=9)) == HELD


def test_messages_acknowledged_before_the_end_are_not_held() -> None:
    assert shown(given().acknowledge(5, at_ms=200)) == {}
    assert shown(given().acknowledge(5, at_ms=200.000_001)) == HELD, "no frame reached the broker"
    assert shown(given().acknowledge(6, at_ms=150)) == HELD, "another one was"


def test_messages_settled_by_another_delivery_are_not_held() -> None:
    def second(acknowledged: int | None) -> History:
        history = History().publish(1, at_ms=100).confirm(1)
        history.deliver(1, at_ms=105, connection=3, tag=7).deliver(1, at_ms=110, tag=5)
        if acknowledged is not None:
            history.acknowledge(acknowledged, at_ms=400, connection=3)
        return history.client_event("lost", at_ms=200)

    assert shown(second(None)) == shown(second(8)) == HELD
    assert shown(second(7)) == {}


def test_another_attempt_of_a_message_settles_nothing() -> None:
    history = History().publish(1, at_ms=100).publish(1, at_ms=101, attempt=2)
    history.deliver(1, at_ms=105, attempt=2, connection=3, tag=7).deliver(1, at_ms=110, tag=5)
    history.acknowledge(7, connection=3)
    assert shown(history.client_event("lost", at_ms=200)) == HELD


@pytest.mark.parametrize(
    ("via", "found"),
    [(Via.LOAD, HELD), (Via.RETRY_TOPIC, HELD), (Via.DRAIN, {}), (Via.AUDIT, {}), (Via.HALF, {})],
)
def test_only_consumers_of_the_load_hold_messages(via: Via, found: dict[str, int]) -> None:
    assert shown(given(via)) == found


def test_a_living_connection_and_a_stray_are_not_held() -> None:
    assert shown(History().publish(1).confirm(1).deliver(1)) == {}
    assert shown(given().client_event("lost", at_ms=300, connection=9)) == HELD
    stray = History().publish(1).confirm(1).deliver(2, at_ms=110).client_event("lost", at_ms=200)
    assert shown(stray) == {}
    other_run = History().publish(1).confirm(1).deliver(1, at_ms=110, run_ok=False)
    assert shown(other_run.client_event("lost", at_ms=200)) == {}


def test_consumers_that_acknowledge_nothing_hold_nothing() -> None:
    history = History(acknowledges=False).publish(1, at_ms=100).confirm(1)
    assert shown(history.deliver(1, at_ms=110).client_event("lost", at_ms=200)) == {}


def test_a_killed_consumer_held_what_it_had_not_acknowledged() -> None:
    def killed(until_ms: float | None = None) -> History:
        history = History().publish(1, at_ms=100).confirm(1).deliver(1, at_ms=110, tag=5)
        return history.away(CONSUMER, 200, until_ms)

    assert shown(killed()) == shown(killed().deliver(1, at_ms=300, consumer=7)) == HELD
    assert shown(killed().acknowledge(5)) == {}
    assert shown(killed(until_ms=400)) == {}, "it was frozen"
    assert shown(killed().client_event("lost", at_ms=109)) == HELD, "it lived on after that"
    assert shown(killed().client_event("lost", at_ms=110)) == HELD
