"""Words that mean one process of a host, resolved when a window opens."""

import asyncio
from typing import Any, cast

import pytest

from faults.kinds import KINDS
from harness.cluster.started_clients import StartedClients
from harness.plan.files.targets import parse_target
from harness.run.core.resolving import NAME_SERVER, PROCESS, NoSuchTarget, resolve_processes
from harness.systems.catalogue import load_layout, load_system
from tests.harness.run.test_worker_handles import Mute, handle

SYSTEM = load_system("rocketmq-2m2s")
COLOCATED, SEPARATED = (
    SYSTEM.servers(load_layout(SYSTEM.name, name)) for name in ("colocated", "separated")
)
OF_CLIENT = parse_target("name_server_of publisher-1")
LEADING = parse_target("leading controller")
ELECTED = load_system("rocketmq-controller")
CONTROLLED = ELECTED.servers(load_layout(ELECTED.name, "separated"))


def test_a_clients_name_server_is_a_process_of_its_host() -> None:
    found = resolve_processes(OF_CLIENT, KINDS["freeze"], COLOCATED, "rkt2")
    assert found == (("rkt2/name-server",), NAME_SERVER)


def test_packet_faults_hit_the_host() -> None:
    found = resolve_processes(OF_CLIENT, KINDS["partition"], SEPARATED, "rkt6")
    assert found == (("rkt6",), NAME_SERVER)


def test_all_of_them_are_meant_together() -> None:
    found = resolve_processes(parse_target("name servers"), KINDS["kill"], COLOCATED, "")
    assert found == (("rkt1/name-server", "rkt2/name-server"), NAME_SERVER)


def test_leading_controller_is_the_name_server_that_contains_it() -> None:
    found = resolve_processes(LEADING, KINDS["freeze"], CONTROLLED, "rkc4/name-server")
    assert found == (("rkc4/name-server",), NAME_SERVER)


def test_a_host_fault_hits_all_of_its_processes() -> None:
    whole = parse_target("host of name_server_of publisher-1")
    assert resolve_processes(whole, KINDS["freeze"], COLOCATED, "rkt2") == (("rkt2",), NAME_SERVER)


@pytest.mark.parametrize("leads", ["", "rkc1/broker-a-0"])
def test_which_controller_leads_is_never_guessed(leads: str) -> None:
    with pytest.raises(NoSuchTarget, match="no controller is known to lead"):
        resolve_processes(LEADING, KINDS["freeze"], CONTROLLED, leads)


def test_a_process_that_is_named_is_that_one() -> None:
    found = resolve_processes(parse_target("rkt1/broker-a-0"), KINDS["kill"], COLOCATED, "")
    assert found == (("rkt1/broker-a-0",), PROCESS)


@pytest.mark.parametrize(
    ("attached", "why"),
    [
        ("", "publisher-1 has not reported which name server it uses"),
        ("not to be found out: an error", "not to be found out: an error has no name server"),
        ("rkt3", "rkt3 has no name server"),
    ],
)
def test_a_clients_name_server_is_never_guessed(attached: str, why: str) -> None:
    with pytest.raises(NoSuchTarget, match=why):
        resolve_processes(OF_CLIENT, KINDS["kill"], COLOCATED, attached)


def test_a_client_is_attached_where_it_said_last() -> None:
    async def story() -> tuple[str, str]:
        started = handle(Mute())
        before = started.attached
        for server in ("rkt1", "rkt2"):
            cast(Any, started)._note({"say": "attached", "server": server})
        return before, started.attached

    assert asyncio.run(story()) == ("", "rkt2")


def test_the_name_server_of_an_unstarted_client_is_unknown() -> None:
    async def no_client(_prefix: str, _close: bool) -> tuple[str, ...]:
        return ()

    async def story() -> tuple[str, str]:
        started_clients, started = StartedClients(no_client, ()), handle(Mute())
        cast(Any, started)._note({"say": "attached", "server": "rkt1"})
        started_clients.add("publisher-1", started)
        return started_clients.attached("publisher-1"), started_clients.attached("publisher-2")

    assert asyncio.run(story()) == ("rkt1", "")
