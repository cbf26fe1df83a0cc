"""Layouts whose nodes keep their metadata in Khepri: since when, and what nodes report of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.checks.applicability import layout_obstacles, obstacles
from harness.plan.clients.requirements import chosen_client
from harness.request.run_request import scenario
from harness.systems.catalogue import CatalogueError, load_layout, load_system
from harness.systems.rabbitmq.core import khepri
from harness.systems.rabbitmq.core.khepri import KHEPRI, MNESIA

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
    assert khepri.stores({"a": ON, "b": OFF, "c": None, "d": "a page"}) == {
        "a": KHEPRI,
        "b": MNESIA,
    }


@pytest.mark.parametrize("name", ["rabbitmq-quorum", "rabbitmq-stream"])
def test_partition_handling_is_refused_beside_khepri(name: str, tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    head = 'like = "three"\nname = "mine"\ntitle = "mine"\n'
    own.write_text(f'{head}khepri = true\npartition_handling = "pause_minority"\n')
    with pytest.raises(CatalogueError) as caught:
        load_layout(name, str(own))
    (problem,) = caught.value.problems
    assert "partition_handling: cannot be combined with khepri = true" in str(caught.value)
    assert "docs/metadata-store/failure-recovery" in problem.text
    assert problem.choices == ('"ignore"',)


@pytest.mark.parametrize("name", ["rabbitmq-quorum", "rabbitmq-stream"])
def test_no_partition_handling_where_clusters_begin_in_khepri(name: str) -> None:
    system, pauses = load_system(name), load_layout(name, "three-pause-minority")
    for version in ("", "3.10.8", "4.0.5", "4.1.8"):
        assert layout_obstacles(system, replace(pauses, version=version), "compose") == []
    for version in ("4.2.0", "4.3.x", "4.3.6"):
        (reason,) = layout_obstacles(system, replace(pauses, version=version), "compose")
        assert "'pause_minority' has no effect on nodes that keep their metadata" in reason
        assert "from 4.2 on; use `--version 4.0.5`" in reason
        plain = replace(load_layout(name, "three"), version=version)
        assert layout_obstacles(system, plain, "compose") == []
    own_image = replace(pauses, image="mine:1")
    assert layout_obstacles(system, own_image, "compose") == [], "its version is read later"


def test_versions_without_mnesia_are_in_khepri() -> None:
    assert [one for one in ("", "3.13.7", "4.2.9", "4.3.0") if khepri.has_no_mnesia(one)] == [
        "4.3.0"
    ]
