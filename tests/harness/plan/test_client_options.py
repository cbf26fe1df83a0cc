"""Options in a client's name: a cell of its own, with its own settings."""

from dataclasses import replace

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.client_options import name_of, words
from harness.plan.clients.registry import option_problems
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.request.run_request import scenario
from harness.systems.catalogue import load_layout, load_system

JAVA = "rocketmq-java-4.9.8"
OLD = "rocketmq-java-4.9.0"
REAL = load_system("rocketmq-2m2s")
LAYOUT = load_layout("rocketmq-2m2s", "colocated@default")


def worker_options(client: str) -> dict[str, object]:
    return chosen_client(client).worker_options(
        scenario("incident-freeze").workload, REAL.servers(LAYOUT)
    )


def why_not(client: str, *, deployment: str = "compose", name: str = "incident-freeze") -> str:
    return "; ".join(obstacles(scenario(name), REAL, LAYOUT, chosen_client(client), deployment))


def test_its_settings_reach_its_library_and_no_other_clients() -> None:
    kept = worker_options(f"{JAVA}+close_socket_if_timeout=false")
    assert kept["jvm"] == ["-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=false"]
    assert worker_options(JAVA)["jvm"] == []
    assert worker_options(f"{OLD}+latency_fault")["producer_settings"] == [
        ["sendLatencyFaultEnable", "true"]
    ]


def test_client_options_are_shown_as_they_are_passed() -> None:
    workload = scenario("incident-freeze").workload
    shown = chosen_client(f"{OLD}+latency_fault").shown(workload)
    assert "sendLatencyFaultEnable = true (publishers)" in shown


def test_an_option_unknown_to_the_library_makes_no_cell() -> None:
    assert "4.9.0 always keeps such a connection" in why_not(
        f"{OLD}+close_socket_if_timeout=false"
    )
    assert why_not(f"{OLD}+latency_fault") == ""


@pytest.mark.parametrize(
    ("client", "problem"),
    [
        (f"{JAVA}+latency_falt", "option 'latency_falt' is unknown for client"),
        (f"{JAVA}+send=oneway", "option 'send' is unknown for client"),  # the scenario's
        (f"{JAVA}+latency_fault=maybe", "latency_fault cannot be 'maybe'"),
        (f"{JAVA}+close_socket_if_timeout=0", "close_socket_if_timeout cannot be '0'"),
        (f"{JAVA}+latency_fault+latency_fault", "latency_fault is given more than once"),
        (f"{JAVA}+latency_fault=true", "has one spelling"),
        (f"{JAVA}+latency_fault+close_socket_if_timeout=false", "has one spelling"),
        (f"{JAVA}+", "option '' is unknown for client"),
        ("pika+latency_fault", "option 'latency_fault' is unknown for client"),
    ],
)
def test_wrong_client_option_is_reported_with_the_valid_keys(client: str, problem: str) -> None:
    (found,) = option_problems(client)
    assert problem in str(found)


def test_the_canonical_spelling_of_client_options_is_suggested() -> None:
    (found,) = option_problems(f"{JAVA}+latency_fault=true+close_socket_if_timeout=false")
    assert found.choices == (f"{JAVA}+close_socket_if_timeout=false+latency_fault",)


def test_its_name_is_the_registered_one() -> None:
    client = f"{JAVA}+close_socket_if_timeout=false"
    assert name_of(client) == JAVA
    assert words(client).options == (("close_socket_if_timeout", "false"),)
    assert option_problems(client) == []


def test_a_client_of_the_second_name_server_gets_its_host() -> None:
    assert worker_options(JAVA)["publishers_attach"] == ["rkt1", "rkt2"]
    apart = load_layout("rocketmq-2m2s", "separated@default")
    workload = scenario("incident-freeze").workload
    own = chosen_client(JAVA).worker_options(workload, REAL.servers(apart))
    assert own["publishers_attach"] == ["rkt5", "rkt6"]


def test_a_name_server_that_no_layout_has_makes_no_cell() -> None:
    section = RocketWorkload(publishers_attach=("name server 3",))
    workload = replace(scenario("incident-freeze").workload, sections={"rocketmq": section})
    (reason,) = chosen_client(JAVA).layout_obstacles(workload, REAL.servers(LAYOUT))
    assert reason.endswith("there is no name server 3 (there are those of rkt1, rkt2)")


def test_host_chosen_for_queues_must_belong_to_the_layout() -> None:
    voting = load_layout("rocketmq-dledger", "colocated@compressed")
    system = load_system("rocketmq-dledger")
    reasons = obstacles(
        scenario("incident-freeze"), system, voting, chosen_client(JAVA), "compose"
    )
    assert "declared_at: no host 'rkt1' (there are rkd1, rkd2, rkd3)" in reasons


def test_target_word_is_no_host_for_queues() -> None:
    one = scenario("incident-freeze")
    declared = replace(one, workload=replace(one.workload, declared_at="clients"))
    (reason,) = obstacles(declared, REAL, LAYOUT, chosen_client(JAVA), "compose")
    assert reason == "declared_at: no host 'clients' (there are rkt1, rkt2, rkt3, rkt4)"


def test_an_option_that_no_parser_reads_is_a_text() -> None:
    for value in ("[" * 100_000, "9" * 5000):
        (found,) = option_problems(f"{JAVA}+close_socket_if_timeout={value}")
        assert "close_socket_if_timeout cannot be" in str(found)
