"""A free network: not one of Docker's, not one that the machine routes to."""

from ipaddress import IPv4Network
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.deploy.compose.subnets import choose, machine_routes

ROUTES = """Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0
docker0 000011AC 00000000 0001 0 0 0 0000FFFF 0 0 0
"""


def test_takes_the_first_that_nothing_overlaps() -> None:
    assert choose([], start=7) == "172.31.7"
    taken = [IPv4Network("172.31.7.128/25"), IPv4Network("172.31.8.0/23")]
    assert choose(taken, start=7) == "172.31.10"


def test_begins_again_at_the_end_of_a_range() -> None:
    assert choose([IPv4Network("172.31.255.0/24")], start=255) == "172.31.0"


def test_goes_on_to_another_range_when_one_is_taken_whole() -> None:
    assert choose([IPv4Network("172.16.0.0/12")], start=3) == "10.231.3"


def test_says_what_to_do_when_all_is_taken() -> None:
    with pytest.raises(DeployError, match="docker network prune"):
        choose([IPv4Network("0.0.0.0/1"), IPv4Network("128.0.0.0/1")], start=0)


def test_reads_the_kernels_routes_but_not_the_default_one(tmp_path: Path) -> None:
    table = tmp_path / "route"
    table.write_text(ROUTES)
    assert machine_routes(table) == [IPv4Network("172.17.0.0/16")]
    assert machine_routes(tmp_path / "none") == []
