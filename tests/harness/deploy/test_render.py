"""The compose file: hosts own the network, processes join it, nothing leads outside."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.deploy.catalogue import load_layout, load_system
from harness.deploy.compose_tool import find_tool
from harness.deploy.files import compose_folder
from harness.deploy.port import DeployError
from harness.deploy.render import Settings, rabbitmq, render
from harness.plan.model import Layout


def rendered(layout: Layout, settings: Settings | None = None) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(render(layout, settings or Settings(), rabbitmq))
    return document


@pytest.fixture
def layout() -> Layout:
    return load_layout("rabbitmq-mirrored", "all-manual@T=60")


def test_the_committed_file_is_the_rendered_default_layout() -> None:
    system = load_system("rabbitmq-mirrored")
    text = render(load_layout(system.name, system.default_layout), Settings(), rabbitmq)
    committed = compose_folder() / system.name / "compose.yaml"
    assert committed.read_text(encoding="utf-8") == text, (
        "render it again: python -m harness.deploy rabbitmq-mirrored > compose/.../compose.yaml"
    )


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
    file.write_text(render(layout, Settings(experiment=str(tmp_path)), rabbitmq))
    words = [*tool.command, "--file", str(file), "config"]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    hostname = yaml.safe_load(said.stdout)["services"]["rmq1-host"]["hostname"]
    assert json.dumps(hostname) == '"rmq1"'
