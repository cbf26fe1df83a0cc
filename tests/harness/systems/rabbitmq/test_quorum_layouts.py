"""Layouts of quorum queues: what they promise, and which scenarios mean something on them."""

from pathlib import Path

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.guarantees import NotApplicable
from harness.request.run_request import scenario
from harness.systems.catalogue import CatalogueError, as_shipped, load_layout, load_system
from spark_analysis.schema.words import Strength

SYSTEM = load_system("rabbitmq-quorum")
SHARED = (
    *("master-crash", "master-freeze", "master-stop", "mirror-crash", "cut-one-node"),
    *("client-link-hang", "client-link-half-open", "client-link-reset", "client-link-slow"),
    *("consumer-crash", "publisher-crash", "cut-one-node-from-afar", "failover-to-the-last"),
)


def reasons(name: str, layout: str = "three") -> list[str]:
    loaded = load_layout("rabbitmq-quorum", layout)
    return obstacles(scenario(name), SYSTEM, loaded, chosen_client("pika"), "compose")


def test_default_quorum_layout_equals_rabbitmqs_defaults() -> None:
    loaded = load_layout("rabbitmq-quorum", SYSTEM.default_layout)
    assert (loaded.copies, loaded.partition_handling, loaded.detection_timeout_s) == (
        3,
        "ignore",
        60,
    )
    assert as_shipped("rabbitmq-quorum", "three") == loaded


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("layout", ["three", "three-pause-minority", "five"])
def test_quorum_queues_run_the_same_scenarios(name: str, layout: str) -> None:
    assert reasons(name, layout) == []


def test_scenarios_meaningless_for_quorum_queues_say_why() -> None:
    assert "not durable" in reasons("master-crash-transient")[0]
    assert "an argument of mirrored queues" in reasons("master-crash-notified")[0]
    assert "no policy places" in reasons("policy-change")[0]
    assert "catches up by itself" in reasons("synchronise-backlog")[0]


def test_confirm_waits_for_a_majority_not_for_every_follower() -> None:
    promised = SYSTEM.guarantees(load_layout("rabbitmq-quorum", "five"))
    assert promised.confirm_waits_for_majority
    assert promised.elects_by_majority
    assert promised.confirm_waits_for_mirrors is False
    assert isinstance(promised.promote_on_failure, NotApplicable)
    assert promised.strength is promised.strength_of_transient is Strength.REPLICATED


def test_no_queue_has_two_members_on_a_host(tmp_path: Path) -> None:
    hosts = "".join(f'[[hosts]]\nname = "r{n}"\nprocesses = ["rabbitmq"]\n' for n in (1, 2, 3))
    own = tmp_path / "mine.toml"
    own.write_text(
        'name = "mine"\ntitle = "mine"\nmembers = 4\npartition_handling = "ignore"\n'
        f'{hosts}[profiles."T=10"]\ntimer_s = 10\n'
    )
    with pytest.raises(CatalogueError, match="4 members on 3 hosts"):
        load_layout("rabbitmq-quorum", str(own))
