"""Layouts of DLedger groups: what they guarantee, a member's settings, and what is invalid."""

from pathlib import Path

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.guarantees import NotApplicable
from harness.request.run_request import scenario
from harness.systems.catalogue import CatalogueError, layout_names, load_layout, load_system
from harness.systems.rocketmq.core.dledger import configuration
from spark_analysis.schema.words import Strength

NAME = "rocketmq-dledger"
SYSTEM = load_system(NAME)
SHARED = (
    *("client-link-hang", "client-link-half-open", "client-link-reset", "client-link-slow"),
    *("consumer-crash", "cut-one-node", "master-crash", "master-freeze", "mirror-crash"),
    *("publisher-crash", "rolling-restart"),
)


def reasons(name: str, layout: str = "colocated@compressed") -> list[str]:
    loaded = load_layout(NAME, layout)
    return obstacles(scenario(name), SYSTEM, loaded, chosen_client(SYSTEM.clients[0]), "compose")


@pytest.mark.parametrize("layout", layout_names(NAME))
def test_every_built_in_layout_has_groups_of_three(layout: str) -> None:
    assert load_layout(NAME, layout).copies == 3


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("layout", ["colocated@compressed", "separated@default"])
def test_dledger_runs_the_same_scenarios(name: str, layout: str) -> None:
    assert reasons(name, layout) == []


def test_no_broker_is_promoted_manually() -> None:
    assert "elect their leader" in " ".join(reasons("one-group-master-crash"))


def test_a_confirm_waits_for_a_majority_and_for_no_disk() -> None:
    guaranteed = SYSTEM.guarantees(load_layout(NAME, "two-groups@compressed"))
    assert guaranteed.masters == 2
    assert guaranteed.elects and guaranteed.elects_by_majority
    assert guaranteed.confirm_waits_for_majority
    assert guaranteed.confirm_waits_for_mirrors is False
    assert guaranteed.confirm_waits_for_disk is False
    assert isinstance(guaranteed.promote_on_failure, NotApplicable)
    assert guaranteed.strength is guaranteed.strength_of_transient is Strength.REPLICATED


def test_a_broker_gets_its_group_members_and_no_role() -> None:
    settings = configuration(load_layout(NAME, "two-groups@compressed"), "rkd2", "broker-b-1")
    assert settings["enableDLegerCommitLog"] == "true"
    assert (settings["dLegerGroup"], settings["dLegerSelfId"]) == ("broker-b", "n1")
    assert settings["dLegerPeers"] == "n0-rkd1:10926;n1-rkd2:10946;n2-rkd3:10966"
    assert "brokerRole" not in settings and "brokerId" not in settings


def test_a_name_server_gets_no_group() -> None:
    settings = configuration(load_layout(NAME, "colocated@compressed"), "rkd1", "name-server")
    assert settings == {"listenPort": "9876", "serverChannelMaxIdleTimeSeconds": "20"}


def test_member_has_its_own_port_for_its_peers() -> None:
    layout = load_layout(NAME, "separated@compressed")
    served = SYSTEM.servers(layout).serving.by_host
    assert [one.ports for one in served["rkd1"]] == [(10909, 10911, 10912, 10916)]
    assert [one.ports for one in served["rkd4"]] == [(9876,)]


def test_a_group_of_two_survives_nothing_and_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(
        'name = "mine"\ntitle = "mine"\nversion = "4.9.7"\n'
        '[[hosts]]\nname = "a"\nprocesses = ["name-server", "broker-a-0"]\n'
        '[[hosts]]\nname = "b"\nprocesses = ["broker-a-1"]\n'
        "[profiles.quick]\nidle_s = 20\nregister_s = 10\npoll_s = 5\n"
    )
    with pytest.raises(CatalogueError, match="broker-a has 2 members: fewer than 3"):
        load_layout(NAME, str(own))
