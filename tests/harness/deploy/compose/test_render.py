"""The compose file: hosts own the network, processes join it, nothing leads outside."""

import json
import os
import subprocess
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml

from faults.core.peers import Mesh
from harness.cluster.port import DeployError
from harness.deploy.__main__ import default_layouts
from harness.deploy.beside import by_hand_file
from harness.deploy.compose.compose_layouts import by_hand, compose_layout
from harness.deploy.compose.core import peer_ways
from harness.deploy.compose.core.balancers import balancer_address
from harness.deploy.compose.core.render import HostNameCollision, distinct, render, side_by_side
from harness.deploy.compose.core.settings import Settings
from harness.deploy.compose.deployment import with_addresses
from harness.deploy.compose.tool import find_tool
from harness.deploy.images import in_containers
from harness.plan.layouts.layout_values import Host, PauseIfAllDown
from harness.plan.model import Layout
from harness.systems.catalogue import load_layout, load_system
from harness.systems.files import compose_folder
from harness.systems.layout_parts import PROXIED_HOSTS_MAX

SETTINGS = Settings(worker_image="worker:1")


def rendered(layout: Layout, settings: Settings = SETTINGS) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(render(compose_layout(layout), settings))
    return document


def all_rendered() -> str:
    return by_hand_file(default_layouts())


@pytest.fixture
def layout() -> Layout:
    return load_layout("rabbitmq-mirrored", "all-manual@T=60")


@pytest.mark.parametrize("name", in_containers())
def test_the_committed_file_is_the_rendered_default_layout(name: str) -> None:
    system = load_system(name)
    layout = load_layout(name, system.default_layout)
    text = render(compose_layout(layout), by_hand([layout]))
    committed = compose_folder() / name / "compose.yaml"
    assert committed.read_text(encoding="utf-8") == text, (
        f"render it again: python -m harness.deploy {name} > compose/{name}/compose.yaml"
    )


def test_committed_compose_file_equals_the_rendered_default_layouts() -> None:
    committed = compose_folder() / "side-by-side.yaml"
    assert committed.read_text(encoding="utf-8") == all_rendered(), (
        "render it again: python -m harness.deploy all > compose/side-by-side.yaml"
    )


def test_side_by_side_systems_share_only_the_instrument() -> None:
    """Share no host and no address."""
    layouts = default_layouts()
    assert {layout.system for layout in layouts} == set(in_containers())
    services = yaml.safe_load(all_rendered())["services"]
    hosts = [host for layout in layouts for host in layout.hosts]
    shared = ["toxiproxy", "toxiproxy-addresses", "agent", "workers"]
    processes = [f"{host.name}-{process}" for host in hosts for process in host.processes]
    assert sorted(services) == sorted(
        [*(f"{host.name}-host" for host in hosts), *processes, *shared]
    )
    addresses = [
        network["ipv4_address"]
        for service in services.values()
        for network in service.get("networks", {}).values()
        if network  # the one by which ports are published
    ]
    assert len(set(addresses)) == len(addresses)


def shipped_layouts() -> list[Layout]:
    names = ("reference-2m2s", "rocketmq-2m2s", "reference-mirrored")
    return [load_layout(name, load_system(name).default_layout) for name in names]


def test_layouts_that_share_host_names_get_distinct_ones() -> None:
    names = {one.system: [host.name for host in one.hosts] for one in distinct(shipped_layouts())}
    assert names == {
        "reference-2m2s": [f"reference-2m2s-rkt{number}" for number in (1, 2, 3, 4)],
        "rocketmq-2m2s": [f"rocketmq-2m2s-rkt{number}" for number in (1, 2, 3, 4)],
        "reference-mirrored": ["ref1", "ref2", "ref3"],
    }


def test_two_clusters_of_one_system_get_numbers() -> None:
    name = "all-automatic-pause-if-all-down"
    one = load_layout("rabbitmq-mirrored", name)
    other = replace(one, version="3.8.9")
    found = distinct([one, load_layout("rabbitmq-quorum", "three"), other])
    assert [[host.name for host in each.hosts][:1] for each in found] == [
        ["rabbitmq-mirrored-1-rmq1"],
        ["rqq1"],
        ["rabbitmq-mirrored-2-rmq1"],
    ]
    for each in (found[0], found[2]):
        assert each.pause_if_all_down is not None
        names = {host.name for host in each.hosts}
        assert set(each.pause_if_all_down.hosts) <= names
    text = side_by_side([compose_layout(each) for each in found], by_hand(found))
    assert len(yaml.safe_load(text)["services"]) == 2 * 9 + 3


def test_a_file_with_two_hosts_of_one_name_is_refused() -> None:
    layouts = shipped_layouts()
    with pytest.raises(HostNameCollision) as raised:
        side_by_side([compose_layout(one) for one in layouts], by_hand(layouts))
    assert str(raised.value) == (
        "reference-2m2s colocated@compressed, rocketmq-2m2s colocated@compressed: these layouts "
        "share the host names rkt1, rkt2, rkt3, rkt4, and one compose file needs different ones. "
        "Rename the hosts of one of them."
    )


def test_a_reference_node_gets_its_peers_addresses() -> None:
    layout = load_layout("reference-mirrored", "exactly-2@T=60")
    services = rendered(layout, replace(SETTINGS, network="10.231.4"))["services"]
    node = json.loads(services["ref2-broker"]["environment"]["MQPROOF_NODE"])
    assert node["name"] == "ref2"
    assert node["peers"] == {"ref1": ["10.231.4.11", 25672], "ref3": ["10.231.4.13", 25672]}
    assert (node["net_ticktime_s"], node["partition_handling"]) == (60, "pause_minority")
    assert services["ref2-broker"]["volumes"] == [f"ref2-broker:{node['data']}"]


def test_reference_nodes_get_the_generated_cookie() -> None:
    layout = load_layout("reference-mirrored", "exactly-2@T=60")
    drawn = replace(SETTINGS, cookie="drawn for these")
    services = rendered(layout, drawn)["services"]
    nodes = (
        services[f"ref{number}-broker"]["environment"]["MQPROOF_NODE"] for number in (1, 2, 3)
    )
    assert {json.loads(node)["cookie"] for node in nodes} == {"drawn for these"}
    assert "drawn" not in repr(drawn)


def test_a_manual_start_waits_for_a_generated_cookie() -> None:
    layout = load_layout("reference-mirrored", "exactly-2@T=60")
    services = rendered(layout)["services"]
    node = json.loads(services["ref1-broker"]["environment"]["MQPROOF_NODE"])
    assert node["cookie"] == "${MQPROOF_REFERENCE_COOKIE:?is to be drawn by you}"


def test_run_uses_the_image_that_was_built(layout: Layout) -> None:
    text = render(compose_layout(layout, "mine:1"), SETTINGS)
    services = yaml.safe_load(text)["services"]
    assert {services["rmq1-host"]["image"], services["rmq1-rabbitmq"]["image"]} == {"mine:1"}


def test_a_process_joins_the_network_of_its_host(layout: Layout) -> None:
    services = rendered(layout)["services"]
    for number in (1, 2, 3):
        host, process = services[f"rmq{number}-host"], services[f"rmq{number}-rabbitmq"]
        assert host["hostname"] == f"rmq{number}"
        assert host["init"] is True
        assert host["networks"]["servers"]["aliases"] == [f"rmq{number}"]
        assert process["network_mode"] == f"service:rmq{number}-host"
        assert "networks" not in process
        assert process["volumes"] == [f"rmq{number}-rabbitmq:/var/lib/rabbitmq"]


def test_only_proxy_and_agent_are_on_both_networks(layout: Layout) -> None:
    document = rendered(layout)
    networks = {
        name: sorted(service["networks"])
        for name, service in document["services"].items()
        if "networks" in service
    }
    assert networks == {
        **{f"rmq{number}-host": ["servers"] for number in (1, 2, 3)},
        "toxiproxy": ["clients", "servers"],
        "agent": ["clients", "servers"],
        "workers": ["clients"],
    }
    assert all(network["internal"] for network in document["networks"].values())


def test_no_service_publishes_a_port_or_restarts(layout: Layout) -> None:
    for service in rendered(layout)["services"].values():
        assert "ports" not in service
        assert service["restart"] == "no"


def test_the_instrument_outweighs_what_it_measures(layout: Layout) -> None:
    services = rendered(layout)["services"]
    brokers = [services[f"rmq{number}-rabbitmq"]["cpu_shares"] for number in (1, 2, 3)]
    instrument = [services[name]["cpu_shares"] for name in ("workers", "agent", "toxiproxy")]
    assert min(instrument) > max(brokers)


def test_everything_carries_its_labels(layout: Layout) -> None:
    settings = replace(SETTINGS, experiment="/tmp/e", owner="7 8 boot", keep="0")
    document = rendered(layout, settings)
    common = {"mqproof.experiment": "/tmp/e", "mqproof.owner": "7 8 boot", "mqproof.keep": "0"}
    things = [*document["networks"].values(), *document["volumes"].values()]
    assert all(thing["labels"] == common for thing in things)
    roles = {
        name: (service["labels"]["mqproof.role"], service["labels"]["mqproof.host"])
        for name, service in document["services"].items()
    }
    assert roles["rmq2-host"] == ("host", "rmq2")
    assert roles["rmq2-rabbitmq"] == ("process", "rmq2")
    assert roles["toxiproxy"] == ("proxy", "toxiproxy")
    assert roles["agent"] == ("agent", "agent")
    assert roles["workers"] == ("workers", "workers")
    for service in document["services"].values():
        assert common.items() <= service["labels"].items()


def test_the_layout_reaches_the_broker(layout: Layout) -> None:
    environment = rendered(layout)["services"]["rmq1-rabbitmq"]["environment"]
    assert environment["MQPROOF_NODES"] == "rmq1 rmq2 rmq3"
    assert environment["MQPROOF_NET_TICKTIME"] == "60"
    assert environment["MQPROOF_PARTITION_HANDLING"] == "pause_minority"


def test_pause_if_all_down_hosts_reach_the_broker() -> None:
    layout = load_layout("rabbitmq-mirrored", "all-automatic-pause-if-all-down")
    environment = rendered(layout)["services"]["rmq2-rabbitmq"]["environment"]
    assert environment["MQPROOF_PARTITION_HANDLING"] == "pause_if_all_down"
    assert environment["MQPROOF_PAUSE_IF_ALL_DOWN"] == "autoheal rmq1"


def test_the_memory_watermark_of_a_layout_reaches_every_node() -> None:
    name, octets = "all-automatic-low-memory", 320 * 1024 * 1024
    services = rendered(load_layout("rabbitmq-mirrored", name))["services"]
    words = [services[f"rmq{host}-rabbitmq"]["environment"] for host in (1, 2, 3)]
    assert {one["MQPROOF_MEMORY_HIGH_WATERMARK"] for one in words} == {str(octets)}
    services = rendered(load_layout("reference-mirrored", name))["services"]
    for host in (1, 2, 3):
        node = json.loads(services[f"ref{host}-broker"]["environment"]["MQPROOF_NODE"])
        assert node["memory_high_octets"] == octets
    plain = rendered(load_layout("reference-mirrored", "all-automatic"))["services"]
    node = json.loads(plain["ref1-broker"]["environment"]["MQPROOF_NODE"])
    assert "memory_high_octets" not in node, "the node has a limit of its own"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all-automatic-2", "all-automatic-5", "all-automatic-autoheal"])
def test_a_node_writes_its_configuration_from_what_the_layout_says(name: str) -> None:
    layout = load_layout("rabbitmq-mirrored", f"{name}@T=60")
    lines = configured(layout)
    nodes = [line for line in lines if ".classic_config.nodes." in line]
    assert nodes == [
        f"cluster_formation.classic_config.nodes.{number} = rabbit@{host.name}"
        for number, host in enumerate(layout.hosts, start=1)
    ]
    assert "net_ticktime = 60" in lines
    assert f"cluster_partition_handling = {layout.partition_handling}" in lines
    assert not [line for line in lines if "@" in line.replace("rabbit@rmq", "")]
    assert not [line for line in lines if "pause_if_all_down" in line]


@pytest.mark.slow
def test_node_gets_its_pause_hosts_and_the_recovery_mode() -> None:
    layout = load_layout("rabbitmq-mirrored", "all-automatic-pause-if-all-down")
    pause = PauseIfAllDown(("rmq1", "rmq3"), "ignore")
    lines = configured(replace(layout, pause_if_all_down=pause))
    assert [line for line in lines if line.startswith("cluster_partition_handling")] == [
        "cluster_partition_handling = pause_if_all_down",
        "cluster_partition_handling.pause_if_all_down.recover = ignore",
        "cluster_partition_handling.pause_if_all_down.nodes.1 = rabbit@rmq1",
        "cluster_partition_handling.pause_if_all_down.nodes.2 = rabbit@rmq3",
    ]


def configured(layout: Layout) -> list[str]:
    """What the entry point of a RabbitMQ node makes of its environment; no comments."""
    environment = rendered(layout)["services"]["rmq1-rabbitmq"]["environment"]
    folder = compose_folder() / "rabbitmq-mirrored"
    said = subprocess.run(
        ["bash", str(folder / "configuration.sh"), str(folder / "rabbitmq.conf")],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in said.stdout.splitlines() if line and not line.startswith("#")]


PROXIED = "all-automatic-toxiproxy@T=10"


def test_each_way_between_hosts_has_an_address_of_the_proxys() -> None:
    layout = load_layout("rabbitmq-mirrored", PROXIED)
    services = rendered(layout, replace(SETTINGS, network="10.231.4"))["services"]
    names = {name: services[f"{name}-host"]["extra_hosts"] for name in ("rmq1", "rmq2", "rmq3")}
    assert names == {
        "rmq1": ["rmq2:10.231.4.40", "rmq3:10.231.4.41"],
        "rmq2": ["rmq1:10.231.4.42", "rmq3:10.231.4.43"],
        "rmq3": ["rmq1:10.231.4.44", "rmq2:10.231.4.45"],
    }
    assert not any("extra_hosts" in services[f"{name}-rabbitmq"] for name in names)
    adding = services["toxiproxy-addresses"]
    assert (adding["network_mode"], adding["cap_add"]) == ("service:toxiproxy", ["NET_ADMIN"])
    script = adding["entrypoint"][-1]
    assert "addr show to 10.231.4.100 " in script
    assert all(name.partition(":")[2] in script for hosts in names.values() for name in hosts)
    assert script.count("$") == 2 * script.count("$$")  # Compose takes none of them for its own


def test_peer_links_lead_from_proxy_addresses_to_peer_ports() -> None:
    layout = with_addresses(load_layout("rabbitmq-mirrored", PROXIED), "10.231.4")
    ways = peer_ways.addresses(layout, "10.231.4")
    serving = load_system("rabbitmq-mirrored").servers(layout).serving
    found = peer_ways.listeners(ways, layout, serving)
    assert found["mqproof-peer.rmq1.rmq2.4369"] == ("10.231.4.40:4369", "10.231.4.12:4369")
    assert found["mqproof-peer.rmq3.rmq1.25672"] == ("10.231.4.44:25672", "10.231.4.11:25672")
    assert len(found) == 12
    mesh = Mesh("toxiproxy", serving)
    assert {name for names in BOTH_WAYS for name in mesh.links(*names)} == set(found)


BOTH_WAYS = list(permutations(("rmq1", "rmq2", "rmq3"), 2))


def test_largest_proxied_cluster_has_enough_addresses() -> None:
    layout = load_layout("rabbitmq-mirrored", PROXIED)
    many = tuple(Host(f"rmq{n}", "", ("rabbitmq",)) for n in range(PROXIED_HOSTS_MAX))
    layout = replace(layout, hosts=many)
    services = rendered(layout, replace(SETTINGS, network="10.231.4"))["services"]
    ways = [*peer_ways.addresses(layout, "10.231.4").values()]
    own = [
        network["ipv4_address"]
        for service in services.values()
        for network in service.get("networks", {}).values()
    ]
    assert len({*ways, *own}) == len(ways) + len(own)
    assert all(int(address.rpartition(".")[2]) < 127 for address in ways)


def test_one_balancer_has_the_address_that_clients_are_led_to() -> None:
    layout = load_layout("rabbitmq-mirrored", "all-automatic-haproxy")
    services = rendered(layout, replace(SETTINGS, network="10.231.4"))["services"]
    balancer = services["balancer1"]
    assert "balancer2" not in services
    assert balancer["networks"] == {
        "servers": {"ipv4_address": "10.231.4.110", "aliases": ["balancer1"]}
    }
    assert balancer_address(layout, "10.231.4") == "10.231.4.110"
    assert balancer["environment"] == {
        "MQPROOF_BROKERS": "rmq1:10.231.4.11 rmq2:10.231.4.12 rmq3:10.231.4.13"
    }
    assert not {"NET_ADMIN", "NET_RAW"} & set(balancer["cap_add"])
    roles = [balancer["labels"][f"mqproof.{word}"] for word in ("role", "host")]
    assert roles == ["process", "balancer1"]  # by these it is killed and started


def test_balancer_pair_shares_an_address_that_neither_starts_with() -> None:
    layout = load_layout("reference-mirrored", "all-automatic-haproxy-pair")
    services = rendered(layout, replace(SETTINGS, network="10.231.4"))["services"]
    pair = [services[name]["environment"] for name in ("balancer1", "balancer2")]
    assert [each["MQPROOF_OWN"] for each in pair] == ["10.231.4.110", "10.231.4.111"]
    assert [each["MQPROOF_PEER"] for each in pair] == ["10.231.4.111", "10.231.4.110"]
    assert {each["MQPROOF_FLOATING"] for each in pair} == {balancer_address(layout, "10.231.4")}
    first, second = (int(each["MQPROOF_PRIORITY"]) for each in pair)
    assert first > second
    rights = [set(services[name]["cap_add"]) for name in ("balancer1", "balancer2")]
    assert all({"NET_ADMIN", "NET_RAW"} <= each for each in rights)


def test_client_link_kernel_uses_the_retries_of_the_layout() -> None:
    patient = load_layout("rocketmq-2m2s", "colocated@default")
    hasty = load_layout("rocketmq-2m2s", "colocated-tcp-retries2-9@default")
    assert "sysctls" not in rendered(patient)["services"]["toxiproxy"]
    services = rendered(hasty)["services"]
    assert services.pop("toxiproxy")["sysctls"] == {"net.ipv4.tcp_retries2": 9}
    assert not [name for name, service in services.items() if "sysctls" in service]


def test_clients_that_know_the_brokers_meet_no_balancer(layout: Layout) -> None:
    assert not [name for name in rendered(layout)["services"] if "balancer" in name]
    assert balancer_address(layout, "10.231.4") == ""


def balancer_configured(*words: str) -> list[str]:
    """What a balancer's entry point makes of its environment; no comments."""
    layout = load_layout("rabbitmq-mirrored", "all-automatic-haproxy-pair")
    services = rendered(layout, replace(SETTINGS, network="10.231.4"))["services"]
    folder = compose_folder() / "haproxy"
    template = {"haproxy": "haproxy.cfg", "keepalived": "keepalived.conf"}[words[0]]
    said = subprocess.run(
        ["bash", str(folder / "configuration.sh"), words[0], str(folder / template), *words[1:]],
        env=os.environ | services["balancer2"]["environment"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.strip() for line in said.stdout.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.slow
def test_a_balancer_passes_on_to_every_broker() -> None:
    lines = balancer_configured("haproxy")
    assert [line for line in lines if line.startswith("server ")] == [
        f"server rmq{number} 10.231.4.{10 + number}:5672" for number in (1, 2, 3)
    ]
    assert not [line for line in lines if "@" in line]


@pytest.mark.slow
def test_each_of_a_pair_knows_only_the_other() -> None:
    lines = balancer_configured("keepalived", "eth0")
    peers = lines[lines.index("unicast_peer {") + 1]
    assert (peers, "unicast_src_ip 10.231.4.111" in lines) == ("10.231.4.110", True)
    assert "10.231.4.112/25 dev eth0" in lines
    assert "priority 100" in lines
    assert not [line for line in lines if "@" in line]


def test_direct_peers_meet_by_their_own_names(layout: Layout) -> None:
    services = rendered(layout)["services"]
    assert not any("extra_hosts" in service for service in services.values())
    assert "toxiproxy-addresses" not in services


def test_addresses_are_of_the_network_that_was_chosen(layout: Layout) -> None:
    document = rendered(layout, replace(SETTINGS, network="10.231.4"))
    servers, clients = document["networks"]["servers"], document["networks"]["clients"]
    assert servers["ipam"]["config"] == [{"subnet": "10.231.4.0/25"}]
    assert clients["ipam"]["config"] == [{"subnet": "10.231.4.128/25"}]
    host = document["services"]["rmq3-host"]["networks"]["servers"]
    assert host["ipv4_address"] == "10.231.4.13"


def test_values_of_a_run_are_taken_literally(layout: Layout) -> None:
    settings = replace(SETTINGS, experiment='/tmp/a $HOME "b": #c').literal()
    volume = rendered(layout, settings)["services"]["workers"]["volumes"][0]
    assert volume == {
        "type": "bind",
        "source": '/tmp/a $$HOME "b": #c',
        "target": "/results",
    }


@pytest.mark.slow
@pytest.mark.parametrize("label", ["all-manual@T=60", PROXIED, "all-automatic-haproxy-pair"])
def test_the_compose_tool_of_this_machine_understands_it(label: str, tmp_path: Path) -> None:
    layout = load_layout("rabbitmq-mirrored", label)
    try:
        tool = find_tool()
    except DeployError as error:
        pytest.skip(str(error))
    file = tmp_path / "compose.yaml"
    file.write_text(
        render(compose_layout(layout), replace(by_hand([layout]), experiment=str(tmp_path)))
    )
    words = [*tool.command, "--file", str(file), "config"]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    hostname = yaml.safe_load(said.stdout)["services"]["rmq1-host"]["hostname"]
    assert json.dumps(hostname) == '"rmq1"'


def test_spare_hosts_and_cluster_hosts_do_not_know_each_other() -> None:
    spare = load_layout("rabbitmq-mirrored", "all-automatic-spare")
    services = rendered(spare)["services"]
    nodes = {
        host: services[f"{host}-rabbitmq"]["environment"]["MQPROOF_NODES"]
        for host in ("rmq1", "rmq3", "rmq4")
    }
    assert nodes == {"rmq1": "rmq1 rmq2 rmq3", "rmq3": "rmq1 rmq2 rmq3", "rmq4": "rmq4"}
    placed = with_addresses(spare, "172.31.7")
    assert [host.address for host in (*placed.hosts, *placed.spares)] == [
        f"172.31.7.{last}" for last in (11, 12, 13, 14)
    ]
    address = services["rmq4-host"]["networks"]["servers"]["ipv4_address"]
    assert address.endswith(".14")
