"""Layouts of streams: what they promise, and which scenarios mean something on them."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.guarantees import CLIENTS
from harness.plan.model import Scenario
from harness.request.run_request import scenario
from harness.systems.catalogue import CatalogueError, as_shipped, load_layout, load_system
from spark_analysis.schema.words import Strength

SYSTEM = load_system("rabbitmq-stream")
SHARED = (
    *("master-crash", "master-freeze", "master-stop", "mirror-crash", "cut-one-node"),
    *("client-link-hang", "client-link-half-open", "client-link-reset", "client-link-slow"),
    *("consumer-crash", "publisher-crash", "cut-one-node-from-afar", "failover-to-the-last"),
    *("cut-one-node-backlog", "rolling-restart", "majority-lost", "master-lost"),
)


def reasons(played: str | Scenario, layout: str = "three") -> list[str]:
    loaded = load_layout("rabbitmq-stream", layout)
    found = scenario(played) if isinstance(played, str) else played
    return obstacles(found, SYSTEM, loaded, chosen_client("pika-stream"), "compose")


def test_default_layout_is_rabbitmq_as_it_comes() -> None:
    loaded = load_layout("rabbitmq-stream", SYSTEM.default_layout)
    assert (loaded.copies, loaded.partition_handling, loaded.detection_timeout_s) == (
        3,
        "ignore",
        60,
    )
    assert as_shipped("rabbitmq-stream", "three") == loaded


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("layout", ["three", "three-pause-minority", "five"])
def test_streams_run_the_same_scenarios(name: str, layout: str) -> None:
    assert reasons(name, layout) == []


def test_scenarios_meaningless_for_streams_say_why() -> None:
    assert "acknowledge nothing" in reasons("master-crash-no-ack")[0]
    assert "not durable" in reasons("master-crash-transient")[0]
    assert "an argument of mirrored queues" in reasons("master-crash-notified")[0]
    assert "no policy places" in reasons("policy-change")[0]
    assert "catches up by itself" in reasons("synchronise-backlog")[0]


def test_consumers_share_no_stream() -> None:
    played = scenario("master-crash")
    shared = replace(played, workload=replace(played.workload, consumers=2))
    assert "every consumer of a stream gets every message" in reasons(shared)[0]
    two = replace(shared, workload=replace(shared.workload, queues=("orders", "bills")))
    assert reasons(two) == []


def test_a_stream_needs_a_prefetch_count() -> None:
    played = scenario("master-crash")
    own = played.workload.sections["amqp"]
    sections = {**played.workload.sections, "amqp": replace(own, prefetch=0)}
    unlimited = replace(played, workload=replace(played.workload, sections=sections))
    assert "without a prefetch count" in reasons(unlimited)[0]
    quorum = load_layout("rabbitmq-quorum", "three")
    assert (
        obstacles(
            unlimited, load_system("rabbitmq-quorum"), quorum, chosen_client("pika"), "compose"
        )
        == []
    )


def test_queues_clients_cannot_read_streams() -> None:
    loaded = load_layout("rabbitmq-stream", "three")
    (reason,) = obstacles(
        scenario("master-crash"), SYSTEM, loaded, chosen_client("pika"), "compose"
    )
    assert reason == "rabbitmq-stream has no client pika"


def test_a_confirm_waits_for_a_majority_and_for_no_flush() -> None:
    promised = SYSTEM.guarantees(load_layout("rabbitmq-stream", "five"))
    assert promised.confirm_waits_for_majority
    assert promised.elects_by_majority
    assert promised.confirm_waits_for_disk is False
    assert promised.progress_kept_by == CLIENTS
    assert promised.strength is promised.strength_of_transient is Strength.REPLICATED


def test_every_nodes_replica_is_read_by_the_audit() -> None:
    logs = SYSTEM.servers(load_layout("rabbitmq-stream", "three")).logs
    assert [one.host for one in logs] == ["rqs1", "rqs2", "rqs3"]


def test_streams_do_not_exist_before_3_9() -> None:
    assert SYSTEM.versions is not None
    assert list(SYSTEM.versions.obstacles("3.8.9")) == [
        "RabbitMQ 3.9 introduced streams: use version 3.9 or a later one"
    ]
    for version in ("3.10.8", "3.9", "4.0.5", "4.3.x"):
        assert list(SYSTEM.versions.obstacles(version)) == []


@pytest.mark.parametrize(
    ("members", "found"), [(4, "4 members on 3 hosts"), (2, "write members = 3")]
)
def test_every_host_has_one_replica(tmp_path: Path, members: int, found: str) -> None:
    hosts = "".join(f'[[hosts]]\nname = "r{n}"\nprocesses = ["rabbitmq"]\n' for n in (1, 2, 3))
    own = tmp_path / "mine.toml"
    own.write_text(
        f'name = "mine"\ntitle = "mine"\nmembers = {members}\npartition_handling = "ignore"\n'
        f'{hosts}[profiles."T=10"]\ndetection_timeout_s = 10\n'
    )
    with pytest.raises(CatalogueError, match=found):
        load_layout("rabbitmq-stream", str(own))
