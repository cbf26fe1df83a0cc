"""The compose file: hosts own the network, processes join it, nothing leads outside."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.deploy.__main__ import default_layouts
from harness.deploy.catalogue import load_layout, load_system
from harness.deploy.compose import with_addresses
from harness.deploy.compose_brokers import BROKERS
from harness.deploy.compose_settings import Settings
from harness.deploy.compose_tool import find_tool
from harness.deploy.files import compose_folder
from harness.deploy.port import DeployError
from harness.deploy.render import render, side_by_side
from harness.plan.model import Layout


def rendered(layout: Layout, settings: Settings | None = None) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(render(layout, settings or Settings()))
    return document


@pytest.fixture
def layout() -> Layout:
    return load_layout("rabbitmq-mirrored", "all-manual@T=60")


@pytest.mark.parametrize("name", BROKERS)
def test_the_committed_file_is_the_rendered_default_layout(name: str) -> None:
    system = load_system(name)
    text = render(load_layout(name, system.default_layout), Settings())
    committed = compose_folder() / name / "compose.yaml"
    assert committed.read_text(encoding="utf-8") == text, (
        f"render it again: python -m harness.deploy {name} > compose/{name}/compose.yaml"
    )


def test_the_committed_file_of_all_systems_is_rendered_from_their_default_layouts() -> None:
    committed = compose_folder() / "side-by-side.yaml"
    assert committed.read_text(encoding="utf-8") == side_by_side(default_layouts(), Settings()), (
        "render it again: python -m harness.deploy all > compose/side-by-side.yaml"
    )


def test_systems_side_by_side_share_the_instrument_and_no_host_or_address() -> None:
    layouts = default_layouts()
    assert {layout.system for layout in layouts} == set(BROKERS)
    services = yaml.safe_load(side_by_side(layouts, Settings()))["services"]
    hosts = [host.name for layout in layouts for host in layout.hosts]
    assert {f"{host}-host" for host in hosts} | {"toxiproxy", "agent", "workers"} <= set(services)
    assert len(services) == 2 * len(hosts) + 3
    addresses = [
        network["ipv4_address"]
        for service in services.values()
        for network in service.get("networks", {}).values()
    ]
    assert len(set(addresses)) == len(addresses)


def test_a_node_of_the_reference_is_told_where_its_peers_are() -> None:
    layout = load_layout("reference-mirrored", "exactly-2@T=60")
    services = rendered(layout, Settings(network="10.231.4"))["services"]
    node = json.loads(services["ref2-broker"]["environment"]["MQPROOF_NODE"])
    assert node["name"] == "ref2"
    assert node["peers"] == {"ref1": ["10.231.4.11", 25672], "ref3": ["10.231.4.13", 25672]}
    assert (node["net_ticktime_s"], node["partition_handling"]) == (60, "pause_minority")
    assert services["ref2-broker"]["volumes"] == [f"ref2-broker:{node['data']}"]


def test_the_image_of_a_run_is_the_one_that_was_built(layout: Layout) -> None:
    services = rendered(layout, Settings(broker_image="mine:1"))["services"]
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


def test_nothing_publishes_a_port_or_is_restarted(layout: Layout) -> None:
    for service in rendered(layout)["services"].values():
        assert "ports" not in service
        assert service["restart"] == "no"


def test_the_instrument_outweighs_what_it_measures(layout: Layout) -> None:
    services = rendered(layout)["services"]
    brokers = [services[f"rmq{number}-rabbitmq"]["cpu_shares"] for number in (1, 2, 3)]
    instrument = [services[name]["cpu_shares"] for name in ("workers", "agent", "toxiproxy")]
    assert min(instrument) > max(brokers)


def test_everything_carries_its_labels(layout: Layout) -> None:
    settings = Settings(experiment="/tmp/e", owner="7 8 boot", keep="0")
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


def test_addresses_are_of_the_network_that_was_chosen(layout: Layout) -> None:
    document = rendered(layout, Settings(network="10.231.4"))
    servers, clients = document["networks"]["servers"], document["networks"]["clients"]
    assert servers["ipam"]["config"] == [{"subnet": "10.231.4.0/25"}]
    assert clients["ipam"]["config"] == [{"subnet": "10.231.4.128/25"}]
    host = document["services"]["rmq3-host"]["networks"]["servers"]
    assert host["ipv4_address"] == "10.231.4.13"


def test_what_a_run_fills_in_is_taken_literally(layout: Layout) -> None:
    settings = Settings(experiment='/tmp/a $HOME "b": #c').literal()
    volume = rendered(layout, settings)["services"]["workers"]["volumes"][0]
    assert volume == {
        "type": "bind",
        "source": '/tmp/a $$HOME "b": #c',
        "target": "/results",
    }


def test_the_compose_tool_of_this_machine_understands_it(layout: Layout, tmp_path: Path) -> None:
    try:
        tool = find_tool()
    except DeployError as error:
        pytest.skip(str(error))
    file = tmp_path / "compose.yaml"
    file.write_text(render(layout, Settings(experiment=str(tmp_path))))
    words = [*tool.command, "--file", str(file), "config"]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    hostname = yaml.safe_load(said.stdout)["services"]["rmq1-host"]["hostname"]
    assert json.dumps(hostname) == '"rmq1"'


def test_a_spare_host_is_told_of_nobody_and_nobody_is_told_of_it() -> None:
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
