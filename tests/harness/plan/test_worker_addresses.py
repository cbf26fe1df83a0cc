"""A run whose workers would find no address each is refused before anything stands."""

import re

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.worker_addresses import ADDRESSES, wanted
from harness.plan.model import Scenario
from harness.systems.catalogue import load_layout, load_system
from tests.rigs.runs.plans import LAYOUT, plan
from tests.rigs.runs.plans import SYSTEM as MIRRORED

SYSTEM = load_system("rocketmq-2m2s")
COLOCATED = load_layout("rocketmq-2m2s", "colocated@compressed")
ONE_GROUP = load_layout("rocketmq-2m2s", "one-group@compressed")


def of(queues: int, clients: int) -> Scenario:
    names = tuple(f"q{number}" for number in range(queues))
    return plan(queues=names, publishers=clients, consumers=clients).scenario


def reasons(queues: int, clients: int) -> list[str]:
    return obstacles(
        of(queues, clients), SYSTEM, COLOCATED, chosen_client(SYSTEM.clients[0]), "compose"
    )


@pytest.mark.parametrize(("queues", "clients"), [(6, 6), (13, 16)])
def test_as_many_as_there_are_addresses_can_run(queues: int, clients: int) -> None:
    assert sum(wanted(of(queues, clients), SYSTEM.servers(COLOCATED)).values()) <= ADDRESSES
    assert reasons(queues, clients) == []


def test_more_than_that_are_refused_with_the_numbers() -> None:
    (reason,) = reasons(15, 15)
    numbers = re.findall(r"\d+ \w+|\d+", reason)
    workers = ["15 publishers", "15 consumers", "15 probers", "15 drainers", "60 auditors"]
    assert numbers == ["120 addresses", *workers, str(ADDRESSES)]


def test_each_broker_of_a_layout_has_an_auditor_per_queue() -> None:
    counts = [
        wanted(of(3, 3), SYSTEM.servers(layout)).get("auditors")
        for layout in (COLOCATED, ONE_GROUP)
    ]
    assert counts == [12, 6]


def test_brokers_known_by_address_need_no_worker_address() -> None:
    assert wanted(of(30, 60), MIRRORED.servers(LAYOUT)) == {}
