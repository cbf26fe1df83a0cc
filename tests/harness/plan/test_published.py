"""The ports of clusters by hand: one for each process that clients dial, one for management."""

from harness.plan.layouts.published import published
from harness.systems.catalogue import load_layout, load_system


def ports(system: str, label: str, first: int = 0) -> list[tuple[str, int, int, bool]]:
    layout = load_layout(system, label)
    found = published(layout, load_system(system).servers(layout), first)
    names = [one.listener for one in found]
    assert len(set(names)) == len(names)
    return [
        ("/".join(filter(None, (one.host, one.process))), one.number, one.port, one.clients)
        for one in found
    ]


def test_a_node_has_one_port_for_clients_and_one_for_management() -> None:
    assert ports("rabbitmq-mirrored", "all-automatic-2@T=10", 5)[:2] == [
        ("rmq1", 5, 5672, True),
        ("rmq1", 5, 15672, False),
    ]


def test_every_server_that_clients_dial_has_a_port_of_its_own() -> None:
    assert ports("rocketmq-2m2s", "colocated@compressed") == [
        ("rkt1/name-server", 0, 9876, True),
        ("rkt1/broker-a-0", 0, 10911, True),
        ("rkt2/name-server", 1, 9877, True),
        ("rkt2/broker-b-0", 1, 10921, True),
        ("rkt3/broker-a-1", 2, 10931, True),
        ("rkt4/broker-b-1", 3, 10941, True),
    ]


def test_a_controller_has_no_port_for_clients() -> None:
    system = load_system("rocketmq-controller")
    layout = load_layout(system.name, "controllers-apart")
    found = {one.process for one in published(layout, system.servers(layout))}
    assert "controller" in {word for host in layout.hosts for word in host.processes}
    assert "controller" not in found
