"""What servers are on hosts: all of it is declared; whom a fault of one process can strike."""

from dataclasses import MISSING, fields, replace

import pytest

from faults.core.peers import Served, Serving
from faults.executors.service_ports import ServicePorts
from faults.kinds import KINDS
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.targets import parse_target
from harness.plan.layouts.servers import Process, ServerRole, Servers
from harness.plan.model import Drain, Layout
from harness.run.core.resolving import resolve_processes
from harness.systems.catalogue import layout_names, load_layout, load_system, system_names
from tests.rigs.runs.plans import fault, plan

SYSTEM = load_system("rocketmq-2m2s")
DIRECT = load_layout("rocketmq-2m2s", "colocated")
PROXIED = load_layout("rocketmq-2m2s", "colocated-toxiproxy")


def reasons(layout: Layout, kind: str, target: str) -> list[str]:
    scenario = plan(fault(kind, target=target)).scenario
    changed = replace(scenario, workload=replace(scenario.workload, acknowledge=10))
    return obstacles(changed, SYSTEM, layout, chosen_client(SYSTEM.clients[0]), "compose")


def test_master_has_three_ports_and_a_name_server_dials_none() -> None:
    assert SYSTEM.servers(PROXIED).serving.by_host["rkt1"] == (
        Served((9876,), 9876, "name-server", dials=False),
        Served((10909, 10911, 10912), 10911, "broker-a-0"),
    )


@pytest.mark.parametrize("declared", [Servers, Process, Serving, ServicePorts, Drain])
def test_declarations_of_systems_have_no_defaults(declared: type) -> None:
    for one in fields(declared):
        assert one.default is MISSING and one.default_factory is MISSING, one.name


@pytest.mark.parametrize("system", system_names())
def test_every_process_and_listening_address_of_every_layout_is_declared(
    system: str,
) -> None:
    for label in layout_names(system):
        layout = load_layout(system, label)
        servers = load_system(system).servers(layout)
        own = [(host.name, word) for host in layout.hosts for word in host.processes]
        assert [(one.host, one.word) for one in servers.processes] == own, label
        named = {host.name for host in (*layout.hosts, *layout.spares)}
        assert set(servers.serving.by_host) == named, label


def test_process_with_own_links_is_a_place_otherwise_its_host() -> None:
    both = tuple(
        Process(host="one", word=word, role=role, fixed_role=None, client_port=None)
        for word, role in (("router", ServerRole.NAME_SERVER), ("broker", ServerRole.BROKER))
    )
    apart = replace(SYSTEM.servers(DIRECT), processes=both)
    assert apart.places == ("one/router", "one/broker")
    assert replace(apart, apart=False).places == ("one",)
    assert [one.place for one in apart.logs] == ["one/broker"]
    assert replace(apart, keep_logs=False).logs == ()


def test_own_links_allow_cutting_one_of_two_servers_per_host() -> None:
    for target in ("rkt1/name-server", "rkt1/broker-a-0", "name_server_of publisher-1"):
        assert reasons(PROXIED, "partition", target) == []
        (reason,) = reasons(DIRECT, "partition", target)
        assert "rkt1 carries name-server and broker-a-0" in reason
        assert "or peer_links = toxiproxy" in reason
        # Packets are not told apart by processes, whichever way they go.
        (reason,) = reasons(PROXIED, "black_hole", target)
        assert reason.endswith("has a host for itself")


def test_an_isolated_name_server_loses_its_host_or_only_itself() -> None:
    word = parse_target("name_server_of publisher-1")
    for layout, place in ((DIRECT, "rkt2"), (PROXIED, "rkt2/name-server")):
        found = resolve_processes(
            word, KINDS["partition"], SYSTEM.servers(layout), "rkt2", layout.peer_links
        )
        assert found == ((place,), "name server")
