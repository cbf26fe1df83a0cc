"""Several consumer groups of one queue: each gets every message, and each is judged alone."""

import pytest

from spark_analysis.engine.judge import judge as judge_by_kernels
from spark_analysis.engine.kernel.records import BadRecords
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.words import Fate, Redelivered
from tests.oracle.judge import judge
from tests.oracle.sends import sends
from tests.rigs.histories.both_judges import Memory, judged_by_both, raw_columns
from tests.rigs.histories.by_hand import QUEUE, History, counts
from tests.rigs.histories.ways import Via

BILLING, AUDIT = "orders-billing", "orders-audit"
OF_BILLING, OF_AUDIT = 2, 3  # consumers
AUDITOR = 9


def two_groups(*, drained: bool = True) -> History:
    return History().group("billing", OF_BILLING).group("audit", OF_AUDIT, drained=drained)


def confirmed(*sequences: int) -> History:
    history = two_groups()
    for sequence in sequences:
        history.publish(sequence).confirm(sequence)
    return history


def billed(history: History, sequence: int, at_ms: float | None = None) -> History:
    return history.deliver(sequence, at_ms=at_ms, queue=BILLING, consumer=OF_BILLING)


def audited(
    history: History,
    sequence: int,
    at_ms: float | None = None,
    redelivered: Redelivered = Redelivered.NO,
) -> History:
    return history.deliver(
        sequence, at_ms=at_ms, queue=AUDIT, consumer=OF_AUDIT, redelivered=redelivered
    )


def by_queue(findings: Findings, *measures: str) -> dict[str, dict[str, int]]:
    """The counts of these measures, by queue."""
    queues = sorted({row.queue for row in findings.counts if row.measure in measures})
    return {queue: dict(counts(findings, *measures, queue=queue)) for queue in queues}


def test_what_one_group_misses_is_lost_for_that_group_alone() -> None:
    findings = judge(*billed(confirmed(1), 1).build())
    assert by_queue(findings, "lost") == {AUDIT: {"lost replicated": 1}}
    assert [(row.queue, row.measure) for row in findings.affected] == [(AUDIT, "lost")]


def test_what_both_groups_miss_is_lost_for_each_and_one_example() -> None:
    findings = judge(*confirmed(1).build())
    lost = {"lost replicated": 1}
    assert by_queue(findings, "lost") == {AUDIT: lost, BILLING: lost}
    assert len([row for row in findings.examples if row.measure == "lost"]) == 1


def test_a_message_for_both_groups_is_no_duplicate_and_is_sent_once() -> None:
    findings = judge(*audited(billed(confirmed(1), 1), 1).build())
    assert by_queue(findings, "lost", "duplicated", "misrouted", "unexpected") == {}
    assert by_queue(findings, "state", "confirmed", "operations") == {
        QUEUE: {"state acknowledged": 1, "confirmed replicated": 1, "operations": 1}
    }
    assert by_queue(findings, "in_order") == {AUDIT: {"in_order": 1}, BILLING: {"in_order": 1}}


def test_what_one_group_gets_twice_is_a_duplicate_of_that_group() -> None:
    findings = judge(*audited(audited(billed(confirmed(1), 1), 1), 1).build())
    assert by_queue(findings, "duplicated") == {AUDIT: {"duplicated stored_twice": 1}}


def test_a_redelivery_to_one_group_says_nothing_of_another_group() -> None:
    history = audited(billed(confirmed(1), 1), 1).client_event("lost", worker=OF_AUDIT)
    history.acknowledge(1, consumer=OF_BILLING)
    findings = judge(*audited(history, 1, redelivered=Redelivered.YES).build())
    assert by_queue(findings, "duplicated") == {AUDIT: {"duplicated redelivery": 1}}


@pytest.mark.parametrize("queue", [QUEUE, AUDIT])
def test_two_masters_of_a_log_are_masters_for_each_group(queue: str) -> None:
    history = audited(audited(billed(confirmed(1), 1), 1), 1)
    findings = judge(*history.competing_leaders(0, 1_000, queue=queue).build())
    assert by_queue(findings, "duplicated") == {AUDIT: {"duplicated diverged": 1}}


def test_order_is_that_of_each_group() -> None:
    history = billed(billed(confirmed(1, 2), 1), 2)
    findings = judge(*audited(audited(history, 2), 1).build())
    assert by_queue(findings, "in_order", "reordered") == {
        AUDIT: {"in_order": 1, "reordered": 1},
        BILLING: {"in_order": 2},
    }


def test_one_group_is_not_given_again_what_its_connection_held() -> None:
    history = audited(billed(confirmed(1), 1), 1).client_event("lost", worker=OF_AUDIT)
    findings = judge(*history.build())
    assert by_queue(findings, "not_redelivered") == {AUDIT: {"not_redelivered": 1}}


def test_a_consumer_that_died_leaves_the_losses_of_other_groups_proved() -> None:
    findings = judge(*confirmed(1).log_open(OF_AUDIT).build())
    assert by_queue(findings, "lost", "loss_unknown") == {
        AUDIT: {"loss_unknown consumer_log": 1},
        BILLING: {"lost replicated": 1},
    }
    assert [row.worker for row in findings.doubts if row.reason == "consumer_log"] == [OF_AUDIT]


def test_what_is_left_in_the_queue_of_one_group_is_unknown_for_that_group() -> None:
    findings = judge(*two_groups(drained=False).publish(1).confirm(1).build())
    assert by_queue(findings, "lost", "loss_unknown") == {
        AUDIT: {"loss_unknown drain": 1},
        BILLING: {"lost replicated": 1},
    }
    assert [row.queue for row in findings.doubts if row.reason == "drain"] == [AUDIT]


@pytest.mark.parametrize("queue", [QUEUE, AUDIT])
def test_what_the_audit_found_is_stranded_for_who_did_not_get_it(queue: str) -> None:
    history = billed(confirmed(1), 1)
    history.deliver(1, queue=queue, consumer=AUDITOR, via=Via.AUDIT)
    findings = judge(*history.build())
    assert by_queue(findings, "lost", "stranded") == {AUDIT: {"stranded replicated": 1}}


def test_a_message_of_another_queue_is_misrouted_in_its_group() -> None:
    history = two_groups().group("bills", 4, of="payments")
    history.publish(1).confirm(1)
    audited(billed(history, 1), 1).deliver(1, queue="payments-bills", consumer=4)
    assert by_queue(judge(*history.build()), "misrouted") == {QUEUE: {"misrouted": 1}}


_OF_CHECKS = ("lost", "loss_unknown", "unchecked", "unchecked_unknown")


@pytest.mark.parametrize("via", [Via.LOAD, Via.RETRY_TOPIC])
def test_what_one_groups_consumers_got_was_committed_for_the_others(via: Via) -> None:
    history = of_a_check().deliver(1, queue=BILLING, consumer=OF_BILLING, via=via)
    found = by_queue(judged_by_both(*history.build()), *_OF_CHECKS)
    assert found == {AUDIT: {"lost replicated": 1}}


def test_what_a_drain_got_may_have_been_committed_late() -> None:
    history = of_a_check().deliver(1, queue=BILLING, consumer=AUDITOR, via=Via.DRAIN)
    found = by_queue(judged_by_both(*history.build()), *_OF_CHECKS)
    assert found == {AUDIT: {"loss_unknown pending": 1, "unchecked_unknown": 1}}


def test_what_no_group_got_was_perhaps_never_committed() -> None:
    open_end = {"loss_unknown pending": 1, "unchecked_unknown": 1}
    found = by_queue(judged_by_both(*of_a_check().build()), *_OF_CHECKS)
    assert found == {AUDIT: open_end, BILLING: open_end}


def of_a_check() -> History:
    """A message that is committed when the broker checks."""
    history = History(checks_within_ms=100)
    history.group("billing", OF_BILLING).group("audit", OF_AUDIT)
    return history.publish(1).terms(1, fate=Fate.COMMIT_WHEN_CHECKED).confirm(1)


def test_consumption_has_resumed_when_the_last_group_consumes() -> None:
    history = two_groups().window(1_000, ended_ms=20_000).publish(1, at_ms=1_500).confirm(1)
    findings = judge(*audited(billed(history, 1, 1_600), 1, 1_900).build())
    (resumed,) = (row for row in findings.stages if row.stage == "consumers_resumed")
    assert (resumed.reached, resumed.after_ns) == (True, 900_000_000)
    assert [row.delivered for row in findings.seconds if row.delivered] == [1]


def test_consumption_resumes_for_each_group_by_itself() -> None:
    history = two_groups().window(10_000, ended_ms=20_000).publish(1, at_ms=11_000).confirm(1)
    findings = judge(*billed(history, 1).build())
    found = {row.name: row.resumed for row in findings.consumption if row.scope == "queue"}
    assert found == {BILLING: True, AUDIT: False}
    (resumed,) = (row for row in findings.stages if row.stage == "consumers_resumed")
    assert not resumed.reached


def test_sends_and_outages_are_those_of_the_queue_that_was_sent_to() -> None:
    history = two_groups().window(10_000, ended_ms=20_000)
    history.flow(range(1, 50), from_ms=9_000, every_ms=100, deliver_after_ms=None)
    findings = judge(*history.build())
    assert {row.queue for row in findings.availability} == {"", QUEUE}
    assert {row.name for row in findings.service if row.scope == "queue"} == {QUEUE}
    assert [row.sent for row in sends(*history.build()).sends] == [39]


def test_a_delivery_of_no_group_is_not_judged() -> None:
    facts, rows = confirmed(1).deliver(1, queue=QUEUE).build()
    with pytest.raises(BadRecords, match="in no queue of a consumer group"):
        judge_by_kernels(facts, Memory(raw_columns(rows)))
