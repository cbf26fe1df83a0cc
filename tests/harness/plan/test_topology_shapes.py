"""A topology file is held against the shape of the system that it names, whosever that is."""

import pytest

from faults.kinds import KINDS
from harness.plan.files.topology_toml import read_topology
from harness.plan.problems import PlanError
from harness.systems.rabbitmq_mirrored import MIRRORED_TOPOLOGY
from tests.rigs.clusters.shards import NAME, SHAPE, SHARDS

UNREADABLE = """
system = "rabbitmq-mirrored"
net_ticktime = "soon"
[credentials]
user = "RABBIT_USER"
password = "RABBIT_PASSWORD"
[queues]
copies = 3
policies = "sometimes"
[balancer]
amqp = "nowhere"
amqps = "10.0.0.9:5671"
server_name = 3
[[broker]]
host = "rmq1"
node = "rabbit@rmq1"
amqp = "10.0.0.1:5672"
management = "http://10.0.0.1:15672"
[[broker]]
host = 2
node = "rabbit@rmq1"
"""
SHAPES = {"rabbitmq-mirrored": MIRRORED_TOPOLOGY, NAME: SHAPE}


def messages_of(source: str) -> list[str]:
    with pytest.raises(PlanError) as error:
        read_topology("mine", source, SHAPES)
    return [str(problem) for problem in error.value.problems]


def test_family_with_its_own_keys_has_a_normal_topology() -> None:
    found = read_topology("mine", SHARDS, SHAPES)
    assert [(one.host, one.upstream) for one in found.brokers] == [
        ("one", "10.0.0.1:7"),
        ("two", "10.0.0.2:7"),
    ]
    assert found.commands["one", "freeze"].undo == ("sun",)
    assert found.forbids(KINDS["freeze"], "two") == "no command for freeze of two"


def test_topology_mistakes_are_those_found_by_the_systems_shape() -> None:
    ours = SHARDS.replace('door = "10.0.0.2:7"', 'door = "10.0.0.1:7"\namqp = "10.0.0.2:5672"')
    door, amqp, queues = messages_of(ours + '[queues]\npolicies = "set"\n')
    assert "door: '10.0.0.1:7' is another broker's already" in door
    assert "amqp: there is no such key" in amqp
    assert "queues: there is no such key" in queues
    theirs = messages_of(SHARDS.replace("acme-shards", "rabbitmq-mirrored"))
    assert len([line for line in theirs if "door: there is no such key" in line]) == 2
    assert any("net_ticktime: is missing" in line for line in theirs)


def test_nearly_correct_system_name_is_suggested() -> None:
    source = SHARDS.replace("acme-shards", "acme-shard").replace('host = "two"', 'host = "one"')
    system, host = messages_of(source)
    assert "there is no system 'acme-shard'; did you mean 'acme-shards'?" in system
    assert "host: 'one' is another broker's already" in host


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('system = "kafka"', "there is no system 'kafka'; valid: rabbitmq-mirrored | acme-shards"),
        ("system = 3", "system: must be a text, not 3"),
        ("", "system: is missing"),
    ],
)
def test_keys_of_unknown_families_are_not_called_wrong(line: str, wrong: str) -> None:
    source = SHARDS.replace('system = "acme-shards"', line).replace('host = "two"', 'host = "one"')
    problems = messages_of(source + "[proxy]\n")
    assert len(problems) == 3
    every = "\n".join(problems)
    for words in (wrong, "host: 'one' is another broker's", "either mqproof starts a proxy"):
        assert words in every


def test_keys_are_checked_together_in_what_is_readable_of_a_file() -> None:
    """A listener, a broker and a table that cannot be read hide no other mistake."""
    said = "\n".join(messages_of(UNREADABLE))
    for words in (
        "net_ticktime",
        "server_name",
        "needs exactly one of `amqp` and `amqps`",
        "all listeners, or none: clients connect in one way to every broker",
        "needs a table [tls] with `ca`",
        "copies: 3 copies on 2 brokers",
        "is another broker's already",
    ):
        assert words in said, words
