"""CTGMQ's reference as subprocesses: which there are, what each is configured with, and that each
understands it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.plan.model import Layout
from harness.systems.catalogue import CatalogueError, layout_names, load_layout, load_system
from harness.systems.port import Node
from harness.systems.reference_ctgmq import SWITCHED_SERVERS
from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import Truncation, of_broker, of_name_server
from reference_impl.rocketmq.settings import BrokerSettings, NameServer

NAME = "reference-ctgmq"
LAYOUT = load_layout(NAME, "colocated@compressed")
REAL = load_layout(NAME, "colocated@default")
MINUTE = load_layout(NAME, "colocated@minute")
SLAVE_ACK = load_layout(NAME, "three-replicas-slave-ack@compressed")
TWO_IN_SYNC = load_layout(NAME, "colocated-two-in-sync@compressed")
SERVERS = SWITCHED_SERVERS
COOKIE = "drawn for this cluster"
OWN = """
name = "mine"
title = "Of my own"
version = "reference"
flush = "async"
min_in_sync_replicas = 1
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


def _node(
    word: str,
    layout: Layout = LAYOUT,
    host: str = "",
    misbehave: Mapping[str, Any] | None = None,
) -> Node:
    host = host or next(one.name for one in layout.hosts if word in one.processes)
    addresses = {one.name: f"127.70.3.{place}" for place, one in enumerate(layout.hosts, 11)}
    none: dict[str, tuple[str, int]] = {}
    return Node(layout, host, word, addresses, int, none, "/data", "/log", misbehave, COOKIE)


def _broker(node: Node) -> BrokerSettings:
    return configuration.broker(SERVERS.configuration(node))


def _name_server(node: Node) -> NameServer:
    return configuration.name_server(SERVERS.configuration(node))


def test_every_process_belongs_to_its_host_without_shared_ports() -> None:
    units = SERVERS.units(LAYOUT)
    assert [(one.host, one.word) for one in units] == [
        *(("rkg1", "name-server"), ("rkg1", "broker-a-0"), ("rkg2", "name-server")),
        *(("rkg2", "broker-a-1"), ("rkg3", "name-server")),
    ]
    taken = [(one.host, port) for one in units for port in one.ports]
    assert len(set(taken)) == len(taken)
    assert all(one.speaks_at in one.ports for one in units)


def test_control_nodes_know_each_other_and_share_a_secret() -> None:
    for number, host in enumerate(("rkg1", "rkg2", "rkg3")):
        control, member = of_name_server(_name_server(_node("name-server", host=host)))
        assert (member.name, len(member.peers), member.secret) == (f"n{number}", 3, COOKIE)
        unit = next(one for one in SERVERS.units(LAYOUT) if one.host == host)
        assert int(member.peers[member.name].rpartition(":")[2]) in unit.ports
        assert control.times.expiry == 10_000


@pytest.mark.parametrize(
    ("layout", "truncation", "least"),
    [
        (LAYOUT, Truncation.EPOCHS, 1),
        (SLAVE_ACK, Truncation.SLAVE_ACK, 1),
        (TWO_IN_SYNC, Truncation.EPOCHS, 2),
    ],
)
def test_a_layout_chooses_truncation_and_the_least_replicas(
    layout: Layout, truncation: Truncation, least: int
) -> None:
    replica = of_broker(_broker(_node("broker-a-1", layout)))
    assert (replica.truncation, replica.min_in_sync) == (truncation, least)
    assert (replica.name, replica.serves) == ("2", "rkg2:10921")


@pytest.mark.parametrize(
    ("layout", "lease_ms", "expiry_ms"), [(MINUTE, 3_500, 5_000), (REAL, 7_000, 10_000)]
)
def test_a_quicker_profile_divides_leases_and_expiry_alike(
    layout: Layout, lease_ms: int, expiry_ms: int
) -> None:
    replica = of_broker(_broker(_node("broker-a-0", layout)))
    control, _ = of_name_server(_name_server(_node("name-server", layout)))
    assert (replica.times.lease, control.times.expiry) == (lease_ms, expiry_ms)


def test_a_missing_rule_is_missing_on_every_server() -> None:
    options = {"kind": "without-in-set", "share": 1.0, "seed": 7, "truth": "/truth"}
    broker = _broker(_node("broker-a-0", misbehave=options))
    assert of_broker(broker).without == (ReplicaRule.IN_SET,)
    assert broker.misbehave_truth == "/truth"
    control, _ = of_name_server(_name_server(_node("name-server", misbehave=options)))
    assert control.without == (ReplicaRule.IN_SET,)


@pytest.mark.parametrize("layout", layout_names(NAME))
def test_every_name_server_of_a_layout_votes(layout: str) -> None:
    loaded = load_layout(NAME, layout)
    servers = load_system(NAME).servers(loaded)
    assert len(servers.controllers) == len(servers.voters) == len(servers.name_servers)
    assert (len(servers.voters) == 2) == (loaded.name == "two-name-servers")


def test_a_group_promises_what_controllers_do() -> None:
    promised = load_system(NAME).guarantees(REAL)
    assert promised == load_system("rocketmq-controller").guarantees(
        load_layout("rocketmq-controller", "colocated@default")
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["broker-a-1"]', '["name-server"]', "broker-a has one broker"),
        ("replicas = 1", "replicas = 3", "min_in_sync_replicas = 3, and a group has 2"),
        ('"async"\n', '"async"\ntruncation = "never"\n', "epochs"),
    ],
)
def test_contradictory_layouts_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(OWN.replace(old, new, 1))
    with pytest.raises(CatalogueError) as caught:
        load_layout(NAME, str(file))
    assert said in str(caught.value)
