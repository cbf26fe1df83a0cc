"""Servers that other hosts' servers dial: where, and what of a host can be cut off by itself."""

from dataclasses import replace

from faults.peers import Served
from harness.plan.applicability import obstacles
from harness.plan.model import Layout
from harness.plan.peer_doors import serving
from harness.plan.words import parse_target
from harness.run.cast import resolve_processes
from harness.systems.catalogue import load_layout, load_system
from tests.plans import fault, plan

SYSTEM = load_system("rocketmq-2m2s")
DIRECT = load_layout("rocketmq-2m2s", "colocated")
PROXIED = load_layout("rocketmq-2m2s", "colocated-toxiproxy")


def reasons(layout: Layout, kind: str, target: str) -> list[str]:
    scenario = plan(fault(kind, target=target)).scenario
    asked = replace(scenario, workload=replace(scenario.workload, acknowledge=10))
    return obstacles(asked, SYSTEM, layout, SYSTEM.clients[0], "compose")


def test_a_master_is_dialled_at_three_ports_and_a_name_server_dials_nobody() -> None:
    assert serving(PROXIED)["rkt1"] == (
        Served((9876,), 9876, "name-server", dials=False),
        Served((10909, 10911, 10912), 10911, "broker-a-0"),
    )
    assert serving(load_layout("rabbitmq-mirrored", "all-automatic-toxiproxy")) == {}


def test_by_links_of_their_own_one_of_two_servers_of_a_host_can_be_cut_off() -> None:
    for target in ("rkt1/name-server", "rkt1/broker-a-0", "name_server_of publisher-1"):
        assert reasons(PROXIED, "partition", target) == []
        (reason,) = reasons(DIRECT, "partition", target)
        assert "rkt1 carries name-server and broker-a-0" in reason
        assert "or peer_links = toxiproxy" in reason
        # Packets are not told apart by processes, whichever way they go.
        (reason,) = reasons(PROXIED, "black_hole", target)
        assert reason.endswith("has a host for itself")


def test_whom_a_client_asks_is_cut_off_with_its_host_or_by_itself() -> None:
    word = parse_target("name_server_of publisher-1")
    for layout, place in ((DIRECT, "rkt2"), (PROXIED, "rkt2/name-server")):
        found = resolve_processes(word, "partition", layout.hosts, "rkt2", layout.peer_links)
        assert found == (place, "name server")
