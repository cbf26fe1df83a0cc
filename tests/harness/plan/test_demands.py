"""What a workload demands of queues: where a system has none of it, the cell says why."""

from dataclasses import replace

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.amqp_section import AmqpWorkload
from harness.plan.clients.requirements import chosen_client
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan

WHY = {"transient_queues": "they last", "cancel_on_ha_failover": "it is no argument of theirs"}
LASTING = replace(SYSTEM, cannot=WHY)


def reasons(**workload: object) -> list[str]:
    return obstacles(plan(**workload).scenario, LASTING, LAYOUT, chosen_client("pika"), "compose")


def test_demand_that_brokers_do_not_meet_is_reported_with_reason() -> None:
    assert reasons(durable=False) == [
        "rabbitmq-mirrored has no queues that need not outlive their broker: they last"
    ]
    notified = AmqpWorkload(cancel_on_ha_failover=True)
    assert reasons(amqp=notified) == [
        "rabbitmq-mirrored has no consumers that get a notice of a new master: "
        "it is no argument of theirs"
    ]


def test_without_demands_there_is_no_obstacle() -> None:
    notified = AmqpWorkload(cancel_on_ha_failover=True)
    assert reasons() == []
    assert reasons(amqp=notified, consumers=0) == []
    scenario = plan(durable=False).scenario
    assert obstacles(scenario, SYSTEM, LAYOUT, chosen_client("pika"), "compose") == []
