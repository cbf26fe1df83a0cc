"""Layouts with controllers: what they guarantee, servers' settings, and what is invalid."""

from pathlib import Path

import pytest

from faults.kinds import KINDS
from harness.cluster.port import Roles
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.targets import parse_target
from harness.request.run_request import scenario
from harness.run.core.resolving import resolve_processes, role_of_places
from harness.systems.catalogue import CatalogueError, layout_names, load_layout, load_system
from harness.systems.rocketmq.core.controlled import configuration
from spark_analysis.schema.words import Strength

NAME = "rocketmq-controller"
SYSTEM = load_system(NAME)
SHARED = (
    *("client-link-hang", "client-link-half-open", "client-link-reset", "client-link-slow"),
    *("consumer-crash", "cut-one-node", "master-crash", "master-freeze", "mirror-crash"),
    *("publisher-crash", "rolling-restart"),
)
OWN = """
name = "mine"
title = "Of my own"
version = "5.3.3"
flush = "async"
all_ack_in_sync_state_set = true
in_sync_replicas = 2
min_in_sync_replicas = 1
unclean_election = false
[[hosts]]
name = "a"
processes = ["name-server", "broker-a-0"]
[[hosts]]
name = "b"
processes = ["broker-a-1"]
[profiles.quick]
idle_s = 20
register_s = 10
poll_s = 5
"""


def refused(folder: Path, text: str) -> str:
    file = folder / "wrong.toml"
    file.write_text(text)
    with pytest.raises(CatalogueError) as caught:
        load_layout(NAME, str(file))
    return str(caught.value)


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("layout", ["colocated@compressed", "separated@default"])
def test_controller_layouts_run_the_same_scenarios(name: str, layout: str) -> None:
    loaded = load_layout(NAME, layout)
    assert (
        obstacles(scenario(name), SYSTEM, loaded, chosen_client(SYSTEM.clients[0]), "compose")
        == []
    )


@pytest.mark.parametrize("layout", layout_names(NAME))
def test_every_built_in_layout_has_three_controllers_and_two_brokers(layout: str) -> None:
    loaded = load_layout(NAME, layout)
    assert loaded.copies == 2
    servers = SYSTEM.servers(loaded)
    assert len(servers.controllers) == len(servers.voters) == 3
    assert len(servers.brokers) == 2


def test_the_layout_decides_what_a_confirm_waits_for() -> None:
    whole, shipped = (
        SYSTEM.guarantees(load_layout(NAME, f"{name}@compressed"))
        for name in ("separated", "separated-one-in-sync")
    )
    assert whole.confirm_waits_for_mirrors and not shipped.confirm_waits_for_mirrors
    assert (whole.strength, shipped.strength) == (Strength.REPLICATED, Strength.BUFFERED)
    assert whole.elects and shipped.elects
    assert whole.elects_by_majority is False


def test_only_unclean_election_elects_an_out_of_sync_slave() -> None:
    for name, promoted in (("separated", "when-synced"), ("separated-unclean", "always")):
        guaranteed = SYSTEM.guarantees(load_layout(NAME, f"{name}@compressed"))
        assert guaranteed.promote_on_failure == guaranteed.promote_on_shutdown == promoted


def test_every_name_server_has_a_controller_known_to_brokers() -> None:
    layout = load_layout(NAME, "separated@compressed")
    server = configuration(layout, "rkc4", "name-server")
    assert server["enableControllerInNamesrv"] == "true"
    assert server["controllerDLegerSelfId"] == "n1"
    assert server["controllerDLegerPeers"] == "n0-rkc3:9976;n1-rkc4:9977;n2-rkc5:9978"
    broker = configuration(layout, "rkc1", "broker-a-0")
    assert broker["controllerAddr"] == "rkc3:9976;rkc4:9977;rkc5:9978"
    assert (broker["brokerId"], broker["brokerRole"]) == ("-1", "SLAVE")
    assert broker["allAckInSyncStateSet"] == "true"


def test_controllers_may_stand_by_themselves_at_one_port_each() -> None:
    layout = load_layout(NAME, "controllers-apart@compressed")
    peers = "n0-rkc3:9978;n1-rkc4:9979;n2-rkc5:9980"
    assert configuration(layout, "rkc4", "controller") == {
        "controllerDLegerGroup": "controllers",
        "controllerDLegerPeers": peers,
        "controllerDLegerSelfId": "n1",
        "controllerStorePath": "store/controller",
        "enableElectUncleanMaster": "false",
    }
    assert not any("ontroller" in key for key in configuration(layout, "rkc1", "name-server"))
    broker = configuration(layout, "rkc2", "broker-a-1")
    assert broker["controllerAddr"] == "rkc3:9978;rkc4:9979;rkc5:9980"


def test_standalone_controller_is_no_name_server_and_holds_no_queue() -> None:
    servers = SYSTEM.servers(load_layout(NAME, "controllers-apart@compressed"))
    assert [one.host for one in servers.name_servers] == ["rkc1", "rkc2"]
    assert servers.controllers == ("rkc3/controller", "rkc4/controller", "rkc5/controller")
    assert [one.ports for one in servers.serving.by_host["rkc4"]] == [(9979,)]
    roles = {"orders": Roles(master="rkc1", mirrors=("rkc2",), synchronised=("rkc2",))}
    assert role_of_places(("rkc3/controller",), roles, servers) == "none"
    assert role_of_places(("rkc1/name-server",), roles, servers) == "name server"
    target = parse_target("leading controller")
    assert resolve_processes(target, KINDS["freeze"], servers, "rkc4/controller") == (
        ("rkc4/controller",),
        "process",
    )


def test_unclean_election_is_the_controllers_to_know() -> None:
    layout = load_layout(NAME, "separated-unclean@compressed")
    assert configuration(layout, "rkc3", "name-server")["enableElectUncleanMaster"] == "true"


def test_its_rules_are_reported_before_a_run() -> None:
    own = load_layout(NAME, "separated-two-in-sync@compressed").own
    assert own is not None
    assert (
        "SyncStateSet",
        "a confirm waits for all in sync, at least 2; no other is elected",
    ) in (tuple(own.describe()))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '["broker-a-1"]',
            '["name-server", "broker-a-1"]',
            "two controllers have no majority if one fails; use one, or three",
        ),
        (
            "in_sync_replicas = 2",
            "in_sync_replicas = 3",
            "in_sync_replicas = 3, and a group has 2",
        ),
        ("in_sync_replicas = 1", "in_sync_replicas = 0", "min_in_sync_replicas"),
        ('"5.3.3"', '"4.9.7"', "versions from 5.1.4 on, not 4.9.7"),
        ("unclean_election = false\n", "", "unclean_election"),
    ],
)
def test_contradictory_controller_layouts_are_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert said in refused(tmp_path, OWN.replace(old, new, 1))
