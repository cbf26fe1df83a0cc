"""The key `processing`: what it may be, where it is refused, and which clients can do it."""

from dataclasses import replace

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients import amqp, rocketmq
from harness.plan.clients.amqp_section import AmqpWorkload
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.declared import declared
from harness.plan.experiment import Catalogue, ExperimentOptions
from harness.plan.experiment import plan as plan_of
from harness.plan.files.toml import read_scenario
from harness.plan.model import Scenario
from harness.plan.problems import PlanError
from harness.report import dry_run
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan, workload

TEXT = """
title = "Slow consumers"
[workload]
queues = ["orders"]
publishers = 1
rate = 100
{keys}
"""
SLOW = 'consumers = 1\nprocessing = "20 ms"\n'
EVERY = tuple(one.name for one in (*amqp.CLIENTS, *rocketmq.CLIENTS))


def read(keys: str) -> Scenario:
    return read_scenario("slow", TEXT.format(keys=keys))


def problems(keys: str) -> str:
    with pytest.raises(PlanError) as found:
        read(keys)
    return str(found.value)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("", 0.0),
        ('processing = "0 s"', 0.0),
        ('processing = "1 ms"', 0.001),
        ('processing = "20 ms"', 0.02),
        ('processing = "10 s"', 10.0),
    ],
)
def test_it_is_a_length_of_time_or_none(line: str, seconds: float) -> None:
    assert read(f"consumers = 1\n{line}").workload.processing_s == seconds


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ('"0.5 ms"', "must be from 1 ms to 10 s, or 0 s for none"),
        ('"10.5 s"', "must be from 1 ms to 10 s, or 0 s for none"),
        ('"1 T"', "may not be written in layout timers"),
        ("20", "a length of time is a text with a unit"),
        ('"none"', "is not a length of time"),
    ],
)
def test_another_value_is_refused(value: str, wrong: str) -> None:
    assert wrong in problems(f"consumers = 1\nprocessing = {value}")


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ('acknowledge = "none"', "with acknowledge = 'none' no acknowledgement waits"),
        ('[workload.amqp]\nconsume = "get"', "a consumer that polls waits for no acknowledgement"),
        ("[workload.amqp]\nprefetch = 0", "without a prefetch count no consumer gets slower"),
    ],
)
def test_it_is_refused_where_no_consumer_would_get_slower(keys: str, wrong: str) -> None:
    assert wrong in problems(f"{SLOW}{keys}")
    assert read(f'consumers = 1\nprocessing = "0 s"\n{keys}').workload.processing_s == 0


def test_without_consumers_it_is_refused() -> None:
    assert "the workload has no consumers" in problems('consumers = 0\nprocessing = "20 ms"')


def test_mistakes_beside_it_are_reported_too() -> None:
    found = problems(f'{SLOW}acknowledge = "none"\nkeys = 0')
    assert "no acknowledgement waits" in found
    assert "keys" in found


def reasons(client: str, **changes: object) -> str:
    scenario = replace(plan().scenario, workload=workload(**changes))
    system = replace(SYSTEM, clients=EVERY)
    return "; ".join(obstacles(scenario, system, LAYOUT, chosen_client(client), "compose"))


@pytest.mark.parametrize("client", EVERY)
def test_every_client_but_that_of_streams_can_be_slow(client: str) -> None:
    found = reasons(client, processing_s=0.02)
    assert ("cannot do slow consumers" in found) is (client == "pika-stream")
    assert "slow consumers" not in chosen_client(client).wanted(workload())
    assert "slow consumers" not in chosen_client(client).wanted(
        workload(consumers=0, processing_s=0.02)
    )


LONG = "cannot do long processing"


@pytest.mark.parametrize(("prefetch", "is_long"), [(200, True), (199, False)])
def test_nothing_is_held_for_as_long_as_rabbitmqs_limit(prefetch: int, is_long: bool) -> None:
    found = reasons("pika", processing_s=9.0, amqp=AmqpWorkload(prefetch=prefetch))
    assert (f"{LONG}: RabbitMQ closes a channel" in found) is is_long


@pytest.mark.parametrize(
    ("client", "own", "is_long"),
    [
        ("rocketmq-java-5.3.3", RocketWorkload(batch=30), True),
        ("rocketmq-java-5.3.3", RocketWorkload(batch=29), False),
        ("rocketmq-java-5.3.3", RocketWorkload(batch=30, consume="orderly"), False),
        ("rocketmq-java-5.3.3", RocketWorkload(batch=30, consume="pull"), False),
        ("rocketmq-native", RocketWorkload(batch=30), True),
        ("rocketmq-python-5.3.3", RocketWorkload(batch=30), False),
    ],
)
def test_concurrent_consumers_hold_nothing_for_fifteen_minutes(
    client: str, own: RocketWorkload, is_long: bool
) -> None:
    """4 threads: 120 messages of 7.5 s take 15 minutes."""
    assert (LONG in reasons(client, processing_s=7.5, rocketmq=own)) is is_long


def test_it_is_declared_and_shown_before_a_run() -> None:
    assert declared(plan(processing_s=0.02))["processing_s"] == 0.02
    assert declared(plan())["processing_s"] == 0
    request = ExperimentOptions("e", 7, (read(SLOW), replace(read("consumers = 1"), name="fast")))
    shown = "\n".join(dry_run.lines(plan_of(request, Catalogue((SYSTEM,), (LAYOUT,)))))
    assert "acknowledge 1, processing 0.02 s (at most 50/s), deadline 2 s" in shown
    assert "acknowledge 1, deadline 2 s" in shown
