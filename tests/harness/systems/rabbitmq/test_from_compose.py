"""A first topology from a Compose file: what it says is written, what it lacks is reported."""

import tomllib

import pytest

from harness.plan.layouts.topology import Topology
from harness.plan.problems import PlanError
from harness.systems.rabbitmq.foreign.core.own import own
from harness.systems.rabbitmq.foreign.from_compose import topology_text
from harness.systems.topologies import read_topology

COMPOSE = """
services:
  rabbit_1:
    image: ${RABBIT_IMAGE:-registry.example:5000/team/rabbitmq:4.1-management}
    hostname: rabbit1
    environment:
      RABBITMQ_DEFAULT_USER: ann
      RABBITMQ_DEFAULT_PASS: swordfish
      RABBITMQ_DEFAULT_VHOST: orders
    ports: ["5672:5672", "127.0.0.1:15672:15672/tcp"]
  rabbit2:
    image: rabbitmq@sha256:0123
    environment: ["RABBITMQ_NODENAME=rabbit@second.example"]
    ports:
      - {target: 5672, published: "5673", host_ip: 10.0.0.7}
  web:
    image: nginx
    ports: ["80-90:80-90"]
"""
BALANCED = """
name: shop
services:
  rabbit1: {image: rabbitmq:4, hostname: rabbit1, ports: ["15672:15672"]}
  rabbit2: {image: rabbitmq:4, hostname: rabbit2}
  entrance: {image: haproxy:3, ports: ["5672:5672"]}
"""


def read(source: str) -> Topology:
    text = topology_text(source, "compose.yaml", "My Shop", "shop.toml")
    return read_topology("shop", text, ("rabbitmq-quorum",))


def problems(source: str) -> str:
    with pytest.raises(PlanError) as error:
        topology_text(source, "compose.yaml", "shop", "shop.toml")
    return str(error.value)


def test_services_with_rabbitmqs_image_become_brokers() -> None:
    found = read(COMPOSE)
    assert [(one.host, one.node, one.upstream) for one in found.brokers] == [
        ("rabbit-1", "rabbit@rabbit1", "127.0.0.1:5672"),
        ("rabbit2", "rabbit@second.example", "10.0.0.7:5673"),
    ]
    assert own(found).management == {"rabbit-1": "http://127.0.0.1:15672"}
    assert (found.virtual_host, own(found).copies) == ("orders", 2)
    assert own(found).partition_handling == "", "the file does not say it"
    assert "swordfish" not in found.source
    assert set(found.brokers[0].commands) == {"kill", "stop", "freeze"}


def test_commands_find_a_container_by_its_labels_alone() -> None:
    (_, _, script) = read(COMPOSE).brokers[0].commands["kill"].do
    assert "label=com.docker.compose.project=myshop " in script
    assert script.endswith("label=com.docker.compose.service=rabbit_1)")
    (_, _, script) = read(BALANCED).brokers[1].commands["freeze"].verify
    assert "label=com.docker.compose.project=shop " in script


def test_a_published_balancer_is_the_one_address() -> None:
    found = read(BALANCED)
    assert found.balancer is not None
    assert found.balancer.upstream == "127.0.0.1:5672"
    assert [one.reached for one in found.brokers] == [False, False]


def test_everything_that_a_file_lacks_is_reported_at_once() -> None:
    source = BALANCED.replace("entrance:", "web:").replace("haproxy", "nginx")
    source = source.replace(", hostname: rabbit2", ', scale: 2, ports: ["5672"]')
    source = source.replace('ports: ["15672:15672"]', 'ports: ["5671:5671"]')
    messages = problems(source)
    for words in (
        "service rabbit2: has no `hostname`, so its node's name changes with each container",
        "add `hostname: rabbit2`",
        "service rabbit2, ports: '5672' does not say at which port of this machine",
        "service rabbit2: has '2' replicas",
        "service rabbit1: publishes no port for AMQP (5672); it publishes TLS alone",
        "no RabbitMQ service publishes its management API (15672)",
    ):
        assert words in messages, messages


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("services: {web: {image: nginx}}", "no service has an image of RabbitMQ"),
        ("[1, 2]", "is no table"),
        ("volumes: {}", "has no table `services`"),
        ("services: [unclosed", "is no YAML (line 1)"),
    ],
)
def test_a_file_without_rabbitmq_is_bad_input(source: str, words: str) -> None:
    assert words in problems(source)


@pytest.mark.parametrize("source", ["a: 2024-13-45", "[" * 3000])
def test_a_text_that_yaml_chokes_on_is_none(source: str) -> None:
    assert "compose.yaml: is no YAML" in problems(source)


def test_a_table_that_is_a_word_says_nothing_of_replicas() -> None:
    source = BALANCED.replace("hostname: rabbit2", "hostname: rabbit2, deploy: x")
    assert [one.host for one in read(source).brokers] == ["rabbit1", "rabbit2"]


def test_texts_and_ports_are_read_of_plain_values_alone() -> None:
    digits = "1" * 5000
    said = problems(BALANCED.replace('"15672:15672"', f'"{digits}:15672", 2: 3'))
    assert "rabbit1, ports: " in said
    listed = BALANCED.replace("hostname: rabbit2", "hostname: [rabbit2]")
    assert "service rabbit2: has no `hostname`" in problems(listed)


def test_marks_of_toml_in_names_are_written_as_texts() -> None:
    source = COMPOSE.replace("VHOST: orders", """VHOST: 'a"b\\c'""")
    text = topology_text(source, 'c"4.yml', "shop", "shop.toml")
    found = read_topology("shop", text, ("rabbitmq-quorum",))
    assert found.virtual_host == 'a"b\\c'
    assert tomllib.loads(text)["title"] == 'The RabbitMQ services of c"4.yml'
