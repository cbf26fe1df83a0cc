"""RocketMQ's compose file: processes share hosts, each worker has an address of the proxy."""

import subprocess
from typing import Any

import pytest
import yaml

from harness.deploy.compose.compose_layouts import compose_layout
from harness.deploy.compose.core import peer_ways, worker_ways
from harness.deploy.compose.core.render import render
from harness.deploy.compose.core.settings import Settings
from harness.deploy.compose.deployment import with_addresses
from harness.plan.model import Layout
from harness.systems.catalogue import load_layout, load_system
from harness.systems.files import compose_folder


@pytest.fixture
def layout() -> Layout:
    return load_layout("rocketmq-2m2s", "colocated@compressed")


def services(layout: Layout) -> dict[str, Any]:
    document = yaml.safe_load(
        render(compose_layout(layout), Settings(worker_image="worker:1", network="10.231.4"))
    )
    found: dict[str, Any] = document["services"]
    return found


def test_processes_of_a_host_share_its_network_and_no_disk(layout: Layout) -> None:
    found = services(layout)
    both = [found["rkt1-name-server"], found["rkt1-broker-a-0"]]
    assert {one["network_mode"] for one in both} == {"service:rkt1-host"}
    assert len({volume for one in both for volume in one["volumes"]}) == 2
    marks = [(one["labels"]["mqproof.role"], one["labels"]["mqproof.host"]) for one in both]
    assert marks == [("process", "rkt1")] * 2  # by these all of a host are killed
    assert [one["environment"]["MQPROOF_ROLE"] for one in both] == ["name-server", "broker"]


def test_a_server_has_the_image_of_its_version() -> None:
    found = services(load_layout("rocketmq-2m2s", "one-group-v5"))
    assert found["rkt1-broker-a-0"]["image"] == "${MQPROOF_ROCKETMQ_IMAGE:-mqproof/rocketmq:5.3.3}"


def test_a_server_is_well_when_its_own_port_is_open(layout: Layout) -> None:
    for name, port in (("rkt2-name-server", 9877), ("rkt4-broker-b-1", 10941)):
        test = services(layout)[name]["healthcheck"]["test"]
        assert test[-1].endswith(f"/dev/tcp/127.0.0.1/{port}")


def test_the_proxy_has_an_unused_address_for_each_worker(layout: Layout) -> None:
    found = services(layout)
    ways = worker_ways.addresses("10.231.4")
    own = [
        network["ipv4_address"]
        for service in found.values()
        for network in service.get("networks", {}).values()
    ]
    assert len({*ways, *own}) == len(ways) + len(own)
    assert all(128 < int(way.rpartition(".")[2]) < 255 for way in ways)
    adding = found["toxiproxy-addresses"]
    assert (adding["network_mode"], adding["cap_add"]) == ("service:toxiproxy", ["NET_ADMIN"])
    script = adding["entrypoint"][-1]
    assert "addr show to 10.231.4.200 " in script  # the device of the clients' network
    assert all(way in script for way in ways)
    assert script.count("$") == 2 * script.count("$$")


def test_people_can_choose_the_network_of_the_proxys_addresses_too(layout: Layout) -> None:
    text = render(compose_layout(layout), Settings(worker_image="worker:1"))
    script = yaml.safe_load(text)["services"]["toxiproxy-addresses"]["entrypoint"][-1]
    assert "addr show to ${MQPROOF_NETWORK:-172.31.7}.200 " in script
    assert "$${MQPROOF" not in script


PROXIED = "colocated-toxiproxy@compressed"


def test_proxied_servers_meet_with_proxy_addresses_in_both_networks() -> None:
    layout = load_layout("rocketmq-2m2s", PROXIED)
    found = services(layout)
    assert found["rkt3-host"]["extra_hosts"] == [
        *("rkt1:10.231.4.46", "rkt2:10.231.4.47", "rkt4:10.231.4.48")
    ]
    assert not any("extra_hosts" in found[name] for name in found if not name.endswith("-host"))
    script = found["toxiproxy-addresses"]["entrypoint"][-1]
    peers, workers = script.index("addr show to 10.231.4.100 "), script.index("to 10.231.4.200 ")
    for ways, after in (
        (peer_ways.addresses(layout, "10.231.4").values(), peers),
        (worker_ways.addresses("10.231.4"), workers),
    ):
        assert all(f" {way} " in script[after:] or f" {way};" in script[after:] for way in ways)
    assert peers < workers
    assert script.count("$") == 2 * script.count("$$")


def test_slave_links_to_each_master_port_and_name_server() -> None:
    layout = with_addresses(load_layout("rocketmq-2m2s", PROXIED), "10.231.4")
    serving = load_system("rocketmq-2m2s").servers(layout).serving
    found = peer_ways.listeners(peer_ways.addresses(layout, "10.231.4"), layout, serving)
    own = {name: way for name, way in found.items() if name.startswith("mqproof-peer.rkt3.")}
    for peer, ports in (("rkt1", (9876, 10909, 10911, 10912)), ("rkt2", (9877, 10919, 10921))):
        for port in ports:
            listen, upstream = own[f"mqproof-peer.rkt3.{peer}.{port}"]
            assert listen.endswith(f":{port}")
            assert upstream == f"10.231.4.1{peer[-1]}:{port}"
    assert len({listen for listen, _ in found.values()}) == len(found) == 3 * (4 + 4 + 3 + 3)


def test_workers_that_resolve_broker_names_need_no_extra_right(layout: Layout) -> None:
    rabbit = services(load_layout("rabbitmq-mirrored", "all-automatic"))
    assert services(layout)["workers"]["cap_add"] == rabbit["workers"]["cap_add"]
    assert "toxiproxy-addresses" not in rabbit


def test_a_workers_command_ends_as_clients_are_found_by() -> None:
    own = ["python", "-m", "harness.workers", "publisher-1"]
    words = worker_ways.command(["rkt1", "rkt2"], "10.231.4.210", own)
    assert words[:2] == ["sh", "-c"]
    assert words[4] == "10.231.4.210 rkt1\n10.231.4.210 rkt2"
    assert words[-4:] == own


def test_root_starts_a_worker_that_keeps_only_real_time_rights() -> None:
    own = ["python", "-m", "harness.workers", "publisher-1"]
    words = worker_ways.begun_by_root("1000:100", own)
    assert words[:3] == ["setpriv", "--reuid=1000", "--regid=100"]
    assert {"--inh-caps=-all,+sys_nice", "--ambient-caps=-all,+sys_nice"} < set(words)
    assert words[-5:] == ["--", *own]


@pytest.mark.slow
def test_a_role_that_is_none_is_refused_with_the_choices() -> None:
    script = compose_folder() / "rocketmq" / "entrypoint.sh"
    said = subprocess.run(
        ["bash", str(script)], env={"MQPROOF_ROLE": "proxy"}, capture_output=True, text=True
    )
    assert said.returncode == 64
    assert "'proxy'; it is name-server, broker or controller" in said.stderr
