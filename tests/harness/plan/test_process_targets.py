"""Words that mean one process of a host: how they are written, and whom they mean where."""

from dataclasses import replace
from typing import Any, cast

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.checks.process_targets import candidates
from harness.plan.clients.registry import registry
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq import NATIVE
from harness.plan.files.targets import TargetForm, parse_target
from harness.plan.files.toml import read_scenario
from harness.plan.model import Layout
from harness.plan.problems import PlanError
from harness.systems.catalogue import load_layout, load_system

ROCKET = load_system("rocketmq-2m2s")
QUEUES = load_layout("rabbitmq-mirrored", "all-automatic")
COLOCATED, SEPARATED = (load_layout(ROCKET.name, name) for name in ("colocated", "separated"))
TEXT = """
title = "t"
[workload]
queues = ["orders"]
publishers = 2
consumers = 1
rate = 100
[[fault]]
kind = "{kind}"
target = "{target}"
lasts = "10 s"
"""


def reasons(
    target: str,
    kind: str = "kill",
    layout: Layout = COLOCATED,
    client: str = ROCKET.clients[0],
    deployment: str = "compose",
) -> list[str]:
    one = read_scenario("mine", TEXT.format(kind=kind, target=target))
    system = replace(load_system(layout.system), deployments=("compose", "local"))
    found = obstacles(one, system, layout, chosen_client(client), deployment)
    return [reason.removeprefix("fault 1: ") for reason in found]


@pytest.mark.parametrize(
    ("word", "form", "client", "host", "process"),
    [
        ("name servers", TargetForm.NAME_SERVERS, "", "", ""),
        ("leading controller", TargetForm.CONTROLLER, "", "", ""),
        ("name_server_of consumer-2", TargetForm.NAME_SERVER, "consumer-2", "", ""),
        ("rkt1/name-server", TargetForm.PROCESS, "", "rkt1", "name-server"),
    ],
)
def test_a_word_is_taken_apart(
    word: str, form: TargetForm, client: str, host: str, process: str
) -> None:
    found = parse_target(word)
    assert (found.form, found.client, found.host, found.process) == (form, client, host, process)
    assert found.of_processes and not found.of_clients


def test_the_host_of_a_shared_process_can_be_targeted() -> None:
    for kind in ("black_hole", "reboot", "freeze"):
        assert reasons("host of name_server_of publisher-1", kind) == []
        assert reasons("host of rkt1/broker-a-0", kind) == []
    (reason,) = reasons("name_server_of publisher-1", "black_hole")
    assert "rkt1 carries name-server and broker-a-0" in reason


@pytest.mark.parametrize(
    "word", ["host of name servers", "host of rkt1", "host of master of orders", "host of "]
)
def test_host_of_several_processes_is_no_target(word: str) -> None:
    """Refuse the host of a word that does not mean one process."""
    with pytest.raises(PlanError, match="no target"):
        read_scenario("mine", TEXT.format(kind="freeze", target=word))


def test_system_without_controllers_has_no_leading_controller() -> None:
    (reason,) = reasons("leading controller", "freeze")
    assert reason.endswith("matches no process: rocketmq-2m2s has no controllers")
    elected = load_layout("rocketmq-controller", "separated")
    assert reasons("leading controller", "freeze", elected) == []


@pytest.mark.parametrize("word", ["name_server_of orders", "rkt1/", "/name-server", "a/b/c"])
def test_unknown_target_is_reported_with_the_known_ones(word: str) -> None:
    with pytest.raises(PlanError, match="name_server_of CLIENT"):
        reasons(word)


def test_client_absent_from_the_workload_has_no_name_server() -> None:
    with pytest.raises(PlanError, match="the workload has 2 publishers, and no publisher-3"):
        reasons("name_server_of publisher-3")


def test_clients_do_not_connect_to_a_single_process() -> None:
    text = TEXT.format(kind="kill", target="rkt1")
    entering = text.replace("rate =", 'publisher_endpoint = "rkt1/name-server"\nrate =')
    with pytest.raises(PlanError, match="clients cannot connect there"):
        read_scenario("mine", entering)


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze", "close", "refuse", "reset"])
def test_signals_and_links_reach_one_process_beside_others(kind: str) -> None:
    assert reasons("name_server_of publisher-1", kind) == []
    assert reasons("rkt1/broker-a-0", kind) == []


@pytest.mark.parametrize("kind", ["partition", "black_hole", "reboot"])
def test_packet_faults_need_a_process_alone_on_its_host(kind: str) -> None:
    (reason,) = reasons("rkt1/name-server", kind)
    assert reason.startswith(
        f"a {kind} affects a whole host, and rkt1 carries name-server and broker-a-0"
    )
    assert reasons("rkt5/name-server", kind, SEPARATED) == []


def test_all_of_them_at_once_are_reached_by_signals_alone() -> None:
    assert reasons("name servers", "freeze") == []
    (reason,) = reasons("name servers", "close")
    assert reason.endswith("they can suffer no close, only kill, stop, freeze")


def test_an_unknown_target_is_reported_with_known_ones() -> None:
    assert reasons("rkt9/name-server") == ["no host 'rkt9' (there are rkt1, rkt2, rkt3, rkt4)"]
    assert reasons("rkt3/name-server") == [
        "no process 'name-server' on rkt3 (there are broker-a-1)"
    ]


def test_a_client_without_name_server_reports_measures_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent = replace(NATIVE, answers={**NATIVE.answers, "attached": "it reports nothing"})
    monkeypatch.setitem(cast(Any, registry().clients), NATIVE.name, silent)
    found = reasons("name_server_of publisher-1", client=NATIVE.name)
    assert any("rocketmq-native cannot do attached: it reports nothing" in one for one in found)
    found = reasons("name servers", client=NATIVE.name)
    assert not any("attached" in reason for reason in found)


def test_elsewhere_there_are_no_name_servers_and_no_second_process() -> None:
    (reason, *_) = (one for one in reasons("name servers", layout=QUEUES) if "matches" in one)
    assert reason.endswith("matches no process: clients of rabbitmq-mirrored use no name servers")
    (host,) = (one for one in QUEUES.hosts if one.name == "rmq1")
    found = reasons(f"rmq1/{host.processes[0]}", layout=QUEUES)
    assert "rmq1 is one process: name the host" in found


def test_only_external_clusters_lack_several_processes_per_host() -> None:
    assert reasons("rkt1/name-server", deployment="local") == []
    found = reasons("rkt1/name-server", deployment="external")
    assert any(reason.endswith("which external has not") for reason in found)


def test_name_servers_are_where_the_layout_says() -> None:
    word = parse_target("name servers")
    assert candidates(word, ROCKET.servers(COLOCATED)) == ("rkt1/name-server", "rkt2/name-server")
    assert candidates(word, ROCKET.servers(SEPARATED)) == ("rkt5/name-server", "rkt6/name-server")
