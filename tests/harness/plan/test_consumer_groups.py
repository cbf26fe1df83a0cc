"""The key `consumer_groups`: what it stands for, who reads what, and what is refused."""

from dataclasses import replace

import pytest

from harness.plan import misbehave
from harness.plan.clients import amqp, rocketmq
from harness.plan.clients.declaration import CAN, UNDECLARED
from harness.plan.clients.requirements import chosen_client
from harness.plan.distribution import (
    consumers_in_all,
    consumers_of,
    group_reading,
    groups,
    read_by,
    read_queues,
)
from harness.plan.files.toml import read_scenario
from harness.plan.layouts.worker_addresses import wanted
from harness.plan.model import Experiment
from harness.plan.problems import PlanError
from harness.plan.workload import Workload
from harness.systems.catalogue import load_layout, load_system
from tests.rigs.runs.plans import SYSTEM, plan

TEXT = """
title = "Groups"
[workload]
queues = ["a", "b"]
publishers = 2
consumers = 2
consumer_groups = {groups}
rate = 100
{more}
"""


def read(groups: str, more: str = "") -> Workload:
    return read_scenario("groups", TEXT.format(groups=groups, more=more)).workload


def problems(groups: str, more: str = "") -> str:
    with pytest.raises(PlanError) as found:
        read(groups, more)
    return str(found.value)


def test_a_number_names_the_groups_and_one_is_none() -> None:
    assert read("2").consumer_groups == ("group-1", "group-2")
    assert read("1").consumer_groups == ()
    assert read('["billing"]').consumer_groups == ("billing",)


def test_each_group_has_its_own_queue_of_each_and_its_own_consumers() -> None:
    workload = read('["x", "y"]')
    assert groups(workload) == {"x": {"a": "a-x", "b": "b-x"}, "y": {"a": "a-y", "b": "b-y"}}
    assert read_queues(workload) == ("a-x", "a-y", "b-x", "b-y")
    shares = [read_by(workload, index) for index in range(consumers_in_all(workload))]
    assert shares == [("a-x",), ("b-x",), ("a-y",), ("b-y",)]
    assert {consumers_of(workload, queue) for queue in read_queues(workload)} == {1}
    assert [group_reading(workload, queue) for queue in ("a-x", "b-y", "a")] == ["x", "y", ""]


def test_without_groups_consumers_read_what_is_sent_to() -> None:
    workload = read("1")
    assert read_queues(workload) == workload.queues
    assert [read_by(workload, index) for index in range(2)] == [("a",), ("b",)]
    assert consumers_in_all(workload) == 2


@pytest.mark.parametrize("value", ["0", "17", "true", "2.5", '"billing"', "[]"])
def test_a_value_out_of_range_is_refused(value: str) -> None:
    assert "must be a list of names, or a number from 1 to 16" in problems(value)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ('["x", "x"]', "consumer_groups: a group is named twice"),
        ('["X"]', "consumer_groups, number 1: must match"),
        ("[1]", "consumer_groups, number 1: must be text"),
    ],
)
def test_bad_names_are_refused(value: str, why: str) -> None:
    assert why in problems(value)


def test_all_problems_are_reported_at_once() -> None:
    found = problems('["x", "x"]', 'publisher_endpoint = "master of a"\nkeys = 0')
    assert "a group is named twice" in found
    assert "the workload has no queue 'a'" in found
    assert "keys" in found


def test_a_groups_queue_may_not_have_the_name_of_another_queue() -> None:
    text = TEXT.format(groups='["x", "b-x"]', more="").replace('["a", "b"]', '["a", "a-b", "a-x"]')
    with pytest.raises(PlanError) as found:
        read_scenario("groups", text)
    named = "the queue of a group, {!r}, would have the name of another queue"
    for name in ("a-x", "a-b-x"):
        assert named.format(name) in str(found.value)


def test_a_target_names_the_queue_of_a_group() -> None:
    target = read('["x"]', 'publisher_endpoint = "master of b-x"').publisher_endpoint.target
    assert target is not None and target.queue == "b-x"
    assert "valid: master of a-x | master of b-x" in problems(
        '["x"]', 'publisher_endpoint = "master of b"'
    )


def test_a_client_is_one_of_all_groups() -> None:
    crash = '[[fault]]\nkind = "client_crash"\ntarget = "consumer-{}"\nlasts = "10 s"'
    assert read("2", crash.format(4)).consumers == 2
    assert "the workload has 4 consumers, and no consumer-5" in problems("2", crash.format(5))


def test_no_operation_means_one_queue() -> None:
    operation = '[[operation]]\nkind = "synchronise"\ntarget = "a-x"'
    assert "a synchronise means one queue; with consumer groups mqproof judges none" in problems(
        '["x"]', operation
    )


def test_every_client_of_ours_can_do_groups_and_an_unknown_one_cannot() -> None:
    workload = read("2")
    for name in (one.name for one in (*amqp.CLIENTS, *rocketmq.CLIENTS)):
        client = chosen_client(name)
        wants = client.wanted(workload)
        assert "consumer groups" in wants
        assert not client.declared.why_not("consumer groups"), name
    less = replace(amqp.PIKA, answers={"confirm": CAN})
    assert less.why_not("consumer groups") == UNDECLARED
    assert "consumer groups" not in chosen_client("pika").wanted(read("1"))


def test_workers_of_all_groups_have_addresses() -> None:
    layout = load_layout("rocketmq-2m2s", "colocated@compressed")
    servers = load_system("rocketmq-2m2s").servers(layout)
    text = TEXT.format(groups="2", more="")
    found = wanted(read_scenario("groups", text), servers)
    assert (found["consumers"], found["drainers"], found["probers"]) == (4, 4, 2)
    assert found["auditors"] == 4 * len(servers.logs)


def test_nodes_do_not_misbehave_on_request_before_several_groups() -> None:
    system = replace(SYSTEM, misbehaves=("drop",))
    run = replace(plan(consumer_groups=("x", "y")), system=system, deployment="local")
    with pytest.raises(PlanError, match="compared with one group, and quick has several"):
        misbehave.parse("drop", Experiment("e", 1, (run,), ()))
