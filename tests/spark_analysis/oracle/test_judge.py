"""Whole runs: every mart at once, and what all of them omit."""

from dataclasses import replace

from spark_analysis.schema.availability import Availability, Second, Stage
from spark_analysis.schema.curves import Latency, Sending
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.messages import Affected, Count
from spark_analysis.schema.service import Exposure, Service
from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, ns


def test_a_calm_run_has_nothing_but_good_news() -> None:
    history = History(run="calm", load_ms=(0, 100)).publish(1).confirm(1).deliver(1)
    assert judge(*history.build()) == Findings(
        counts=(
            Count("calm", "orders", "confirmed", "replicated", 1),
            Count("calm", "orders", "in_order", "", 1),
            Count("calm", "orders", "operations", "", 1),
            Count("calm", "orders", "state", "acknowledged", 1),
        ),
        affected=(),
        seconds=(Second("calm", 0, 1, 0, 1, 1),),
        availability=(
            Availability("calm", 0, "orders", 1, 0, ns(1), ns(1), False),
            Availability("calm", 0, "", 1, 0, ns(1), ns(1), False),
        ),
        attributions=(),
        stages=(),
        outages=(),
        service=(),
        exposure=(),
        consumption=(),
        starvation=(),
        doubts=(),
        marks=(),
        examples=(),
        later=(),
        latencies=(Latency("calm", 0, ns(1), ns(1), 1),),
        sending=(Sending("calm", 1, 0, 1, 0),),
    )


def test_a_run_without_rows_is_judged_by_its_facts() -> None:
    history = History(load_ms=(0, 100)).window(40)
    facts, _ = history.build()
    assert judge(facts, {}) == Findings(
        counts=(),
        affected=(),
        seconds=(),
        availability=(
            Availability("run", 0, "", 0, 0, 0, 0, False),
            Availability("run", 1, "", 0, 0, 0, ns(40), False),
        ),
        stages=(
            Stage("run", 1, "consumers_resumed", False, ns(60), 0),
            Stage("run", 1, "sustained_success", False, ns(60), 0),
            Stage("run", 1, "first_success", False, ns(60), 0),
            Stage("run", 1, "backlog_drained", False, ns(60), 0),
        ),
        attributions=(),
        outages=(),
        service=(
            Service("run", 1, "run", "", "fault", ns(40), ns(40), 0, 0, 0, "few"),
            Service("run", 1, "run", "", "healed", ns(3_040), ns(100), 0, 0, 0, "few"),
        ),
        exposure=(Exposure("run", 1, ns(40), ns(40), 0, 0),),
        consumption=(),
        starvation=(),
        doubts=(),
        marks=(),
        examples=(),
        later=(),
        latencies=(),
        sending=(),
    )


def test_a_bad_run_says_everything_at_once() -> None:
    history = History(load_ms=(0, 100), deadline_ms=10).publish(1, at_ms=1).confirm(1, at_ms=20)
    history.publish(2, at_ms=2).settle(2, Outcome.REFUSED).deliver(2, at_ms=30)
    history.deliver(2, at_ms=40, payload_ok=False)
    findings = judge(*history.build())
    assert sorted(findings.affected) == [
        Affected("run", "orders", "corrupt", "payload", 1, 2, 1, ns(40)),
        Affected("run", "orders", "duplicated", "stored_twice", 1, 2, 1, ns(40)),
        Affected("run", "orders", "lost", "replicated", 1, 1, 0, ns(1)),
        Affected("run", "orders", "missed", "", 1, 1, 0, ns(1)),
        Affected("run", "orders", "missed", "", 1, 2, 0, ns(2)),
        Affected("run", "orders", "refused_but_delivered", "refused", 1, 2, 1, ns(30)),
    ]
    assert findings.counts == (
        Count("run", "orders", "confirmed", "replicated", 1),
        Count("run", "orders", "corrupt", "payload", 1),
        Count("run", "orders", "denied", "refused", 1),
        Count("run", "orders", "duplicated", "stored_twice", 1),
        Count("run", "orders", "lost", "replicated", 1),
        Count("run", "orders", "missed", "", 2),
        Count("run", "orders", "not_judged", "not_certain", 1),
        Count("run", "orders", "operations", "", 2),
        Count("run", "orders", "refused_but_delivered", "refused", 1),
        Count("run", "orders", "state", "acknowledged", 1),
        Count("run", "orders", "state", "refused", 1),
    )


def test_a_delivery_of_an_unsent_message_counts_as_no_delivery() -> None:
    findings = judge(*History(paced=False).not_sent(1).deliver(1).deliver(1).build())
    assert findings.seconds == ()
    assert findings.counts == (
        Count("run", "orders", "state", "not_sent", 1),
        Count("run", "orders", "unexpected", "not_sent", 2),
    )


def test_one_sent_attempt_is_enough_to_be_delivered() -> None:
    history = History(paced=False).not_sent(1).publish(1, attempt=2).confirm(1, attempt=2)
    findings = judge(*history.deliver(1, attempt=2).build())
    assert findings.counts == (
        Count("run", "orders", "confirmed", "replicated", 1),
        Count("run", "orders", "in_order", "", 1),
        Count("run", "orders", "state", "acknowledged", 1),
    )


def with_canaries(history: History) -> History:
    history.publish(1, at_ms=41_000, producer=-1).confirm(1, producer=-1)
    history.deliver(1, producer=-1).deliver(1, producer=-1)
    history.publish(2, producer=-2).deliver(3, producer=-2, run_ok=False, payload_ok=False)
    return history.settle(4, Outcome.REFUSED, producer=-3).deliver(4, producer=-3)


def test_canaries_are_left_out_of_everything() -> None:
    calm = History().window(40_000).publish(1).confirm(1).deliver(1)
    expected = judge(*calm.build())
    assert judge(*with_canaries(calm).build()) == expected


def test_producer_0_is_no_canary() -> None:
    history = History().publish(1, producer=0)
    assert judge(*history.build()).counts != ()


def test_a_queue_without_a_name_is_the_empty_one() -> None:
    history = History().deliver(1)
    history.rows["deliveries"][0]["queue"] = None
    assert judge(*history.build()).counts == (Count("run", "", "unexpected", "never_sent", 1),)


def test_a_table_that_no_verdict_needs_is_not_read() -> None:
    facts, rows = History().publish(1).confirm(1).deliver(1).build()
    assert judge(facts, {**rows, "operations": [{}]}) == judge(facts, rows)


def test_windows_are_judged_by_number_in_any_reported_order() -> None:
    facts, rows = History().window(10_000).window(20_000).publish(1).confirm(1).build()
    backwards = replace(facts, windows=facts.windows[::-1])
    assert judge(backwards, rows) == judge(facts, rows)
