"""What a fault strikes is to the queues: by the processes it takes, not by their neighbours."""

import pytest

from harness.cluster.port import Roles
from harness.run.core.resolving import NAME_SERVER, role_of_places
from harness.systems.catalogue import load_layout, load_system

ROLES = {"orders": Roles("rkt1", ("rkt3",), ("rkt3",))}  # of `colocated`; on `separated` alike


@pytest.mark.parametrize(
    ("layout", "places", "role"),
    [
        ("colocated", ["rkt1"], "master"),  # with the name server beside it
        ("colocated", ["rkt1/name-server"], NAME_SERVER),
        ("colocated", ["rkt1/broker-a-0"], "master"),
        ("colocated", ["rkt3"], "mirror"),
        ("colocated", ["rkt2"], "none"),  # another group's master, and a name server
        ("colocated", ["rkt2/name-server", "rkt1/name-server"], NAME_SERVER),
        ("colocated", ["rkt2/name-server", "rkt3"], "mirror"),
        ("separated", ["rkt5"], NAME_SERVER),  # a name server has the host to itself
        ("colocated", ["publisher-1"], "none"),  # no host at all
    ],
)
def test_process_counts_for_itself_and_host_for_all_its_processes(
    layout: str, places: list[str], role: str
) -> None:
    servers = load_system("rocketmq-2m2s").servers(load_layout("rocketmq-2m2s", layout))
    assert role_of_places(places, ROLES, servers) == role


def test_without_name_servers_a_process_means_its_host() -> None:
    layout = load_layout("rabbitmq-mirrored", "all-automatic@T=10")
    servers = load_system("rabbitmq-mirrored").servers(layout)
    roles = {"orders": Roles("rmq1", ("rmq2",), ("rmq2",))}
    assert role_of_places(["rmq1/rabbitmq"], roles, servers) == "master"
    assert role_of_places(["rmq2"], roles, servers) == "mirror"
