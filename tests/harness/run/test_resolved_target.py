"""What a fault strikes is to the queues: by the processes it takes, not by their neighbours."""

import pytest

from harness.cluster.port import Roles
from harness.plan.files.targets import parse_target
from harness.run.core.resolved_target import ResolvedTarget
from harness.run.core.resolving import NAME_SERVER, NoSuchTarget, resolve, role_of_places
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


def test_a_mirror_with_a_number_is_counted_from_the_oldest() -> None:
    hosts = ("rmq1", "rmq2", "rmq3")
    roles = {"orders": Roles("rmq2", ("rmq3", "rmq1"), ())}
    assert resolve(parse_target("mirror of orders"), roles, hosts) == "rmq3"
    assert resolve(parse_target("mirror 2 of orders"), roles, hosts) == "rmq1"
    with pytest.raises(NoSuchTarget, match="mirror 3 of orders: the queue has 2 mirrors"):
        resolve(parse_target("mirror 3 of orders"), roles, hosts)
    with pytest.raises(NoSuchTarget, match="mirror of orders: the queue has no mirror"):
        resolve(parse_target("mirror of orders"), {"orders": Roles("rmq2", (), ())}, hosts)


def test_without_name_servers_a_process_means_its_host() -> None:
    layout = load_layout("rabbitmq-mirrored", "all-automatic@T=10")
    servers = load_system("rabbitmq-mirrored").servers(layout)
    roles = {"orders": Roles("rmq1", ("rmq2",), ("rmq2",))}
    assert role_of_places(["rmq1/rabbitmq"], roles, servers) == "master"
    assert role_of_places(["rmq2"], roles, servers) == "mirror"


@pytest.mark.parametrize(
    ("orders", "bills", "rank"),
    [
        ("rmq2", "rmq3", 1),
        ("rmq2", "rmq2", 2),  # the queue that broke the order of ages decides
        ("rmq1", "rmq1", None),
        ("rmq2", "rmq1", {"at_least": 1}),  # of one queue nothing is known
        ("rmq3", None, {"at_least": 2}),
    ],
)
def test_every_queue_of_the_target_counts_for_the_promotion(
    orders: str, bills: str | None, rank: object
) -> None:
    before = {
        "orders": Roles("rmq1", ("rmq2", "rmq3"), ()),
        "bills": Roles("rmq1", ("rmq3", "rmq2"), ()),
        "others": Roles("rmq2", ("rmq3",), ()),
        "alone": Roles("rmq1", (), ()),
    }
    after = {**before, "orders": Roles(orders, (), ()), "bills": Roles(bills, (), ())}
    servers = load_system("rabbitmq-mirrored").servers(
        load_layout("rabbitmq-mirrored", "all-automatic@T=10")
    )
    assert ResolvedTarget(servers, ("rmq1",), roles=before).promoted_by(after) == rank
