"""What the management API says, as 3.10.8 said it, and what that means."""

from typing import Any

from harness.cluster.port import Roles
from harness.plan.model import Layout
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.core.cluster_state import (
    alarms,
    master_of,
    queue_doubts,
    roles_of,
    runs,
)
from harness.systems.rabbitmq.core.cluster_state import doubts as words_doubts

LAYOUT = load_layout("rabbitmq-mirrored", "all-automatic")
MANUAL = load_layout("rabbitmq-mirrored", "all-manual")
QUEUE: dict[str, Any] = {
    "name": "mqproof.r1.orders",
    "node": "rabbit@rmq1",
    "policy": "mqproof",
    "slave_nodes": ["rabbit@rmq3", "rabbit@rmq2"],
    "state": "live",
    "synchronised_slave_nodes": ["rabbit@rmq2", "rabbit@rmq3"],
}


def doubts(layout: Layout, nodes: dict[str, Any], queues: dict[str, Any]) -> tuple[str, ...]:
    return words_doubts(layout, nodes, queues, queue_doubts)


def nodes(**changes: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"name": f"rabbit@{host}", "running": True, "partitions": [], **changes.get(host, {})}
        for host in ("rmq1", "rmq2", "rmq3")
    ]


def everywhere(said: Any) -> dict[str, Any]:
    return {host.name: said for host in LAYOUT.hosts}


def test_mirrors_are_in_age_order_regardless_of_synchronisation_order() -> None:
    assert roles_of(QUEUE) == Roles("rmq1", ("rmq3", "rmq2"), ("rmq3", "rmq2"))
    behind = QUEUE | {"synchronised_slave_nodes": ["rabbit@rmq2"]}
    assert roles_of(behind).synchronised == ("rmq2",)


def test_fields_may_be_missing_just_after_a_declare() -> None:
    assert roles_of({"name": "q", "node": "rabbit@rmq1"}) == Roles("rmq1", (), ())
    assert roles_of({"name": "q", "slave_nodes": None}) == Roles(None, (), ())


def test_a_queue_whose_home_is_down_has_no_master() -> None:
    assert master_of(QUEUE | {"state": "down"}) is None
    assert master_of(QUEUE | {"state": {"syncing": 3}}) == "rmq1"


def test_a_cluster_is_clean_when_every_host_says_so() -> None:
    assert doubts(LAYOUT, everywhere(nodes()), everywhere([QUEUE])) == ()


def test_a_host_that_does_not_answer_is_a_doubt() -> None:
    said = everywhere(nodes()) | {"rmq2": None}
    assert doubts(LAYOUT, said, everywhere([])) == ("rmq2 does not answer",)


def test_a_host_without_a_list_of_queues_is_a_doubt() -> None:
    silent = everywhere([QUEUE]) | {"rmq2": None}
    assert doubts(LAYOUT, everywhere(nodes()), silent) == ("rmq2 does not report its queues",)
    both = everywhere(nodes()) | {"rmq2": None}
    assert doubts(LAYOUT, both, silent) == ("rmq2 does not answer",)
    assert doubts(LAYOUT, everywhere(nodes()), {}) == ()  # where no queue is a run's


def test_a_problem_that_one_host_sees_is_reported() -> None:
    said = everywhere(nodes()) | {
        "rmq3": nodes(rmq1={"running": False}, rmq3={"partitions": ["rabbit@rmq1"]})
    }
    assert doubts(LAYOUT, said, everywhere([])) == (
        "rmq3 says: rmq1 is not running",
        "rmq3 says: rmq3 is partitioned from rmq1",
    )


def test_unlisted_or_alarmed_node_is_a_caveat() -> None:
    said = everywhere(nodes(rmq2={"mem_alarm": True})[:2])
    assert doubts(LAYOUT, said, everywhere([]))[:2] == (
        "rmq1 says: rmq2 has a mem_alarm",
        "rmq1 says: rmq3 is not listed",
    )


def test_mirrors_must_be_there_and_synchronised_where_that_is_automatic() -> None:
    few = QUEUE | {"slave_nodes": ["rabbit@rmq2"]}
    behind = QUEUE | {"synchronised_slave_nodes": ["rabbit@rmq3"]}
    ungoverned = few | {"policy": None}
    alone = everywhere([]) | {"rmq1": [few]}
    assert doubts(LAYOUT, everywhere(nodes()), alone) == (
        "rmq1 says: mqproof.r1.orders has 1 of 2 mirrors",
    )
    late = everywhere([]) | {"rmq1": [behind, ungoverned]}
    assert doubts(LAYOUT, everywhere(nodes()), late) == (
        "rmq1 says: mqproof.r1.orders is not synchronised on rmq2",
    )
    assert doubts(MANUAL, everywhere(nodes()), late) == ()


def test_a_host_runs_when_it_is_listed_so() -> None:
    assert runs("rmq2", nodes())
    assert not runs("rmq2", nodes(rmq2={"running": False}))
    assert not runs("rmq4", nodes())


def test_alarm_is_unknown_on_a_stopped_or_unlisted_node() -> None:
    said = nodes(
        rmq1={"mem_alarm": True, "disk_free_alarm": False},
        rmq2={"mem_alarm": True, "running": False},
    )
    assert alarms(said, "memory") == {"rmq1": True}
    assert alarms(said, "disk") == {"rmq1": False}
