"""Layouts whose nodes keep their metadata in Khepri: since when, and what nodes report of it."""

from dataclasses import replace

from harness.plan.checks.applicability import layout_obstacles, obstacles
from harness.plan.clients.requirements import chosen_client
from harness.request.run_request import scenario
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rabbitmq import khepri
from harness.systems.rabbitmq.khepri import KHEPRI, MNESIA

SYSTEM = load_system("rabbitmq-quorum")
LAYOUT = load_layout("rabbitmq-quorum", "three-khepri")
ON = [{"name": "quorum_queue", "state": "enabled"}, {"name": "khepri_db", "state": "enabled"}]
OFF = [{"name": "quorum_queue", "state": "enabled"}, {"name": "khepri_db", "state": "disabled"}]


def test_khepri_is_refused_before_version_4() -> None:
    for version in ("", "3.8.9"):
        old = replace(LAYOUT, version=version)
        (reason,) = layout_obstacles(SYSTEM, old, "compose")
        assert "Khepri is supported from RabbitMQ 4.0 on; use `--version 4.0.5`" in reason
    for version in ("4.0.5", "4.3.x"):
        new = replace(LAYOUT, version=version)
        assert (
            obstacles(scenario("master-crash"), SYSTEM, new, chosen_client("pika"), "compose")
            == []
        )


def test_an_image_of_unknown_version_is_looked_into_later() -> None:
    assert layout_obstacles(SYSTEM, replace(LAYOUT, image="mine:1"), "compose") == []


def test_the_layout_says_where_its_metadata_is() -> None:
    assert LAYOUT.own is not None
    assert [*LAYOUT.own.describe()] == [("metadata", "in Khepri")]
    assert load_layout("rabbitmq-quorum", "three").own is None


def test_a_node_without_the_flag_has_mnesia() -> None:
    assert khepri.store(ON) == KHEPRI
    assert khepri.store(OFF) == khepri.store(ON[:1]) == khepri.store([]) == MNESIA
    assert khepri.not_in_khepri({"a": ON, "b": OFF, "c": None}) == ("b", "c")
