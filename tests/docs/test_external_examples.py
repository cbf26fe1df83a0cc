"""The examples of clusters that somebody else runs are topologies, and their scripts are there."""

import subprocess
from pathlib import Path

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.topology import Topology
from harness.systems.catalogue import load_system
from harness.systems.topologies import layout_of, read_topology
from tests.rigs.runs.plans import fault, plan

EXAMPLES = Path(__file__).parents[2] / "examples" / "external"
SYSTEMS = ("rabbitmq-mirrored", "rabbitmq-quorum")
DONE = {
    "kubernetes": {"kill", "freeze", "partition", "black_hole"},
    "ssh-iptables": {"kill", "partition", "black_hole", "reboot"},
    "ssh-tc": {"kill", "partition", "black_hole"},
    "cloud-firewall": {"partition", "black_hole"},
}


def example(name: str) -> Topology:
    return read_topology(name, (EXAMPLES / f"{name}.toml").read_text(), SYSTEMS)


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.toml")} == DONE.keys()


@pytest.mark.parametrize("name", DONE)
def test_an_example_allows_what_it_has_verified_commands_for(name: str) -> None:
    topology = example(name)
    layout, system = layout_of(topology), load_system(topology.system)
    assert all(one.verify for one in topology.commands.values())
    for broker in topology.brokers:
        assert broker.commands.keys() == DONE[name]
    for kind in DONE[name]:
        scenario = plan(fault(kind)).scenario
        assert obstacles(scenario, system, layout, chosen_client("pika"), "external") == []


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.sh")))
def test_a_script_of_an_example_is_read_by_a_plain_shell(script: str) -> None:
    done = subprocess.run(["sh", "-n", EXAMPLES / script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_scripts_that_commands_name_are_beside_the_example() -> None:
    for name in DONE:
        for command in example(name).commands.values():
            words = (*command.do, *command.undo, *command.verify)
            scripts = {word for word in words if word.endswith(".sh") and "/" not in word}
            assert all((EXAMPLES / script).is_file() for script in scripts)


AWS = """#!/bin/sh
[ "$3" = --filters ] || { echo "$6" > "$0.acl"; exit 0; }
[ -f "$0.broken" ] && exit 255
case $6 in *AclAssociationId*) echo aclassoc-1 ;; *) cat "$0.acl" ;; esac
"""


@pytest.mark.slow
def test_the_firewall_script_tells_apart_its_lists(tmp_path: Path) -> None:
    """By a stand-in for `aws`, which keeps the subnet's list in a file."""
    aws = tmp_path / "aws"
    aws.write_text(AWS)
    aws.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    def ended(*words: str) -> int:
        command = ["sh", EXAMPLES / "firewall.sh", *words]
        return subprocess.run(command, env=path, capture_output=True).returncode

    command = example("cloud-firewall").brokers[0].commands["black_hole"]
    do, undo, verify = (one[2:] for one in (command.do, command.undo, command.verify))
    assert (ended(*undo), ended(*verify)) == (0, 1)
    assert (ended(*do), ended(*verify)) == (0, 0)
    assert (ended(*undo), ended(*undo), ended(*verify)) == (0, 0, 1)
    (tmp_path / "aws.broken").touch()
    assert ended(*verify) == 126
    assert ended("verify") == 126


# Keeps the filters of each interface and direction in a file, as far as tc.sh looks at them.
TC = """#!/bin/sh
[ -f "$0.broken" ] && exit 2
words="$*"
case "$1 $2" in
"qdisc show") [ -f "$0.$4.clsact" ] && echo "qdisc clsact ffff: parent ffff:fff1"; exit 0 ;;
"qdisc add") touch "$0.$4.clsact" ;;
esac
kept="$0.$4.$5"
case "$1 $2" in
"filter add") [ -f "$0.$4.clsact" ] && echo "$words" >> "$kept" ;;
"filter show") [ -f "$kept" ] && cat "$kept"; exit 0 ;;
"filter del") rm "$kept" ;;
esac
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["partition", "black_hole"])
def test_the_tc_script_cuts_verifies_and_gives_back(tmp_path: Path, kind: str) -> None:
    """By a stand-in for `tc`, on the interfaces of this machine, which it does not change."""
    if not [one for one in Path("/sys/class/net").iterdir() if one.name != "lo"]:
        pytest.skip("this machine has no interface but loopback")
    tc = tmp_path / "tc"
    tc.write_text(TC)
    tc.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    def ended(*words: str) -> int:
        command = ["sh", EXAMPLES / "tc.sh", *words]
        return subprocess.run(command, env=path, capture_output=True).returncode

    command = example("ssh-tc").brokers[0].commands[kind]
    do, undo, verify = (one[4:] for one in (command.do, command.undo, command.verify))
    assert (ended(*undo), ended(*verify)) == (0, 1)
    assert (ended(*do), ended(*verify)) == (0, 0)
    rules = "".join(path.read_text() for path in tmp_path.glob("tc.*.*gress"))
    assert rules.count("action drop") == rules.count("protocol ip pref 47110") - rules.count(
        "pass"
    )
    assert ("match ip src 10.0.0.2 action drop" in rules) == (kind == "partition")
    assert (ended(*undo), ended(*undo), ended(*verify)) == (0, 0, 1)
    (tmp_path / "tc.broken").touch()
    assert (ended(*undo), ended(*verify)) == (1, 126)
    assert ended("verified") == 126
