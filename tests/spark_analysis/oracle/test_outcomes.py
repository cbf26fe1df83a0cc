"""What publishers were reported, set against what came."""

from spark_analysis.schema.words import Outcome, Strength, Via
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, affected, counts, ns

OUTCOMES = ("state", "lost_indeterminate", "revived", "refused_but_delivered", "attempt_lost")


def outcomes(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), *OUTCOMES))


def test_a_message_confirmed_at_any_attempt_is_acknowledged() -> None:
    history = History().publish(1).settle(1, Outcome.UNKNOWN).publish(1, attempt=2)
    history.confirm(1, attempt=2).deliver(1, attempt=2)
    assert outcomes(history) == {"state acknowledged": 1}


def test_a_message_of_unknown_outcome_is_indeterminate_and_not_refused() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED)
    history.publish(1, attempt=2).settle(1, Outcome.UNKNOWN, attempt=2)
    assert outcomes(history) == {"state indeterminate": 1, "lost_indeterminate": 1}


def test_a_message_that_nothing_confirms_is_indeterminate() -> None:
    history = History(confirms=False).publish(1).settle(1, Outcome.UNCONFIRMED).deliver(1)
    assert outcomes(history) == {"state indeterminate": 1, "revived": 1}


def test_a_sent_attempt_without_settlement_makes_its_message_indeterminate() -> None:
    history = History().publish(1).settle(1, Outcome.RETURNED).publish(1, attempt=2)
    assert outcomes(history) == {"state indeterminate": 1, "lost_indeterminate": 1}


def test_an_attempt_that_was_not_sent_needs_no_settlement() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).not_sent(1, attempt=2)
    assert outcomes(history) == {"state refused": 1}


def test_returned_outweighs_refused() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED)
    history.publish(1, attempt=2).settle(1, Outcome.RETURNED, attempt=2)
    assert outcomes(history) == {"state returned": 1}


def test_a_message_that_was_never_sent_is_not_sent() -> None:
    assert outcomes(History().not_sent(1)) == {"state not_sent": 1}


def test_confirmed_messages_are_counted_by_their_strongest_confirm_level() -> None:
    history = History().publish(1).confirm(1, strength=Strength.SLAVE_NOT_AVAILABLE)
    history.publish(1, attempt=2).confirm(1, attempt=2, strength=Strength.REPLICATED)
    history.publish(2).confirm(2, strength=Strength.STORED).deliver(2)
    history.publish(3).settle(3, Outcome.UNKNOWN)
    assert counts(judge(*history.build()), "confirmed") == {
        "confirmed replicated": 1,
        "confirmed stored": 1,
    }


def test_a_settlement_of_no_attempt_makes_no_message() -> None:
    assert outcomes(History().confirm(1)) == {}


def test_states_are_counted_in_the_queue_of_the_message() -> None:
    findings = judge(*History().queue("bills").publish(1, queue="bills").build())
    assert counts(findings, "state") == {}
    assert counts(findings, "state", queue="bills") == {"state indeterminate": 1}


def test_a_delivered_indeterminate_message_is_revived_at_first_delivery() -> None:
    history = History().publish(1).settle(1, Outcome.UNKNOWN)
    history.deliver(1, at_ms=70, via=Via.DRAIN).deliver(1, at_ms=50)
    findings = judge(*history.build())
    assert counts(findings, "revived", "lost_indeterminate") == {"revived": 1}
    assert affected(findings, "revived") == [("", 1, 0, ns(50))]


def test_an_undelivered_indeterminate_message_dates_from_its_first_sent_attempt() -> None:
    history = History().not_sent(1).publish(1, at_ms=20, attempt=2).publish(1, at_ms=30, attempt=3)
    findings = judge(*history.build())
    assert affected(findings, "lost_indeterminate") == [("", 1, 0, ns(20))]


def test_an_indeterminate_message_found_only_by_audit_was_not_delivered() -> None:
    history = History().publish(1).settle(1, Outcome.UNKNOWN)
    history.deliver(1, at_ms=90, via=Via.AUDIT).deliver(1, at_ms=80, via=Via.AUDIT)
    findings = judge(*history.build())
    expected = {"lost_indeterminate found": 1}
    assert counts(findings, "revived", "lost_indeterminate") == expected
    assert affected(findings, "lost_indeterminate") == [("found", 1, 0, ns(80))]


def test_a_refused_message_that_is_nowhere_is_refused() -> None:
    findings = judge(*History().publish(1).settle(1, Outcome.REFUSED).build())
    assert findings.affected[0].measure == "missed"
    assert outcomes(History().publish(1).settle(1, Outcome.REFUSED)) == {"state refused": 1}


def test_a_refused_attempt_does_not_forbid_a_confirmed_messages_delivery() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).publish(1, attempt=2)
    history.confirm(1, attempt=2, strength=Strength.STORED).deliver(1, attempt=2)
    assert outcomes(history) == {"state acknowledged": 1}


def test_a_refused_message_in_a_broken_header_was_not_delivered() -> None:
    history = History().publish(0, producer=0).settle(0, Outcome.REFUSED, producer=0)
    assert outcomes(history.deliver_broken()) == {"state refused": 1}


def test_a_refused_message_named_by_another_run_was_not_delivered() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).deliver(1, run_ok=False)
    assert outcomes(history) == {"state refused": 1}
