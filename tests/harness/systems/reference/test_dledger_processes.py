"""Groups of the reference as subprocesses: which there are, what each is configured with, and that
each understands it."""

import pytest

from harness.plan.model import Layout
from harness.systems.catalogue import load_layout, load_system
from harness.systems.port import Node
from harness.systems.reference_dledger import REFERENCE_GROUPS
from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.dledger.settings import of_broker

LAYOUT = load_layout("reference-dledger", "colocated@default")
FIVE = load_layout("reference-dledger", "five@compressed")
MINUTE = load_layout("reference-dledger", "colocated@minute")
GROUPS = REFERENCE_GROUPS
COOKIE = "drawn for this cluster"


def _node(word: str, layout: Layout = LAYOUT) -> Node:
    host = next(one.name for one in layout.hosts if word in one.processes)
    addresses = {one.name: f"127.70.2.{place}" for place, one in enumerate(layout.hosts, 11)}
    none: dict[str, tuple[str, int]] = {}
    return Node(layout, host, word, addresses, int, none, "/data", "/log", None, COOKIE)


def test_every_process_belongs_to_its_host_without_shared_ports() -> None:
    units = GROUPS.units(LAYOUT)
    assert [(one.host, one.word) for one in units] == [
        *(("rkl1", "name-server"), ("rkl1", "broker-a-0"), ("rkl2", "name-server")),
        *(("rkl2", "broker-a-1"), ("rkl3", "broker-a-2")),
    ]
    taken = [(one.host, port) for one in units for port in one.ports]
    assert len(set(taken)) == len(taken)
    assert all(one.speaks_at in one.ports for one in units)


@pytest.mark.parametrize(("layout", "members"), [(LAYOUT, 3), (FIVE, 5)])
def test_members_know_each_other_and_share_a_secret(layout: Layout, members: int) -> None:
    for number in range(members):
        broker = configuration.broker(GROUPS.configuration(_node(f"broker-a-{number}", layout)))
        member = of_broker(broker)
        assert member.name == f"n{number}"
        assert len(member.peers) == members
        assert member.secret == COOKIE
        unit = next(one for one in GROUPS.units(layout) if one.word == f"broker-a-{number}")
        assert int(member.peers[member.name].rpartition(":")[2]) in unit.ports


def test_a_quicker_profile_divides_the_timers_of_elections() -> None:
    broker = configuration.broker(GROUPS.configuration(_node("broker-a-0", MINUTE)))
    assert broker.times.ledger_heartbeat == 500
    assert broker.times.register_name_server_period == 2_000


def test_a_group_promises_what_the_real_one_does() -> None:
    promised = load_system("reference-dledger").guarantees(LAYOUT)
    assert promised == load_system("rocketmq-dledger").guarantees(
        load_layout("rocketmq-dledger", "colocated@default")
    )
