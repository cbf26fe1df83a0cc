"""The shell commands around our chains, and how their output is read."""

import shutil
import subprocess

import pytest

from faults.executors.core import packet_filter
from faults.executors.core.packet_filter import ANYWHERE, Dropping

CHAIN = "MQPROOF_0123456789ab_1"
LISTING = f"""Chain {CHAIN} (2 references)
    pkts      bytes target     prot opt in     out     source               destination
       4      240 DROP       0    --  *      *       10.0.0.2             0.0.0.0/0
      12      720 DROP       0    --  *      *       0.0.0.0/0            10.0.0.2
"""


def test_each_rule_is_listed_with_its_packets() -> None:
    assert packet_filter.dropping(LISTING) == (
        Dropping("10.0.0.2", ANYWHERE, 4),
        Dropping(ANYWHERE, "10.0.0.2", 12),
    )


def test_no_chain_is_not_an_empty_chain() -> None:
    assert packet_filter.dropping("") is None
    assert packet_filter.dropping(LISTING.splitlines()[0]) == ()


def test_a_host_that_is_isolated_keeps_its_loopback() -> None:
    rules = [
        line.partition("-A ")[2].removeprefix(f"{CHAIN} ")
        for line in packet_filter.isolate(CHAIN, ["10.0.0.1"]).splitlines()
        if "-A " in line
    ]
    assert rules == [
        "-i lo -j RETURN",
        "-o lo -j RETURN",
        "-s 10.0.0.1 -j DROP",
        "-d 10.0.0.1 -j DROP",
        "-j DROP",
    ]


def test_both_directions_of_every_peer_are_dropped() -> None:
    peers = ["10.0.0.2", "10.0.0.3"]
    script = packet_filter.cut(CHAIN, peers, peers)
    for address in peers:
        for side in ("-s", "-d"):
            assert f"-A {CHAIN} {side} {address} -j DROP" in script


def test_one_direction_alone_can_be_dropped() -> None:
    script = packet_filter.cut(CHAIN, ["10.0.0.2"], [])
    assert f"-A {CHAIN} -s 10.0.0.2 -j DROP" in script
    assert f"-A {CHAIN} -d" not in script


@pytest.mark.parametrize("chain", ["INPUT", "MQPROOF_x; reboot", "MQPROOF_$(id)"])
def test_only_mqproof_chains_reach_the_shell(chain: str) -> None:
    with pytest.raises(AssertionError):
        packet_filter.join(chain)


def test_only_addresses_reach_the_shell() -> None:
    with pytest.raises(ValueError, match="decimal digits"):
        packet_filter.cut(CHAIN, ["10.0.0.2; reboot"], [])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell to check the scripts with")
@pytest.mark.parametrize(
    "script",
    [
        packet_filter.cut(CHAIN, ["10.0.0.2"], ["10.0.0.2"]),
        packet_filter.isolate(CHAIN, ["10.0.0.1"]),
        packet_filter.join(CHAIN),
        packet_filter.count(CHAIN),
        packet_filter.join_all(),
    ],
)
def test_the_shell_understands_the_scripts(script: str) -> None:
    checked = subprocess.run(["sh", "-n", "-c", script], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
