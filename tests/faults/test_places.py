"""One process of a host that carries several, as the target of a fault."""

import asyncio
from typing import Any, cast

import pytest

from faults.core import places
from faults.core.actions import Freeze, Kill, Start, Thaw
from faults.core.exclusive import clash, things
from faults.core.model import Armed, FaultError, ProcessState, Proof
from faults.executors.project import Project
from faults.kinds import KINDS
from faults.verification import held
from tests.rigs.clusters.fault_world import World, compiled_fault

BOTH = "rkt1/name-server, rkt2/name-server"
HOSTS = ("rkt1", "rkt2")


def compiled(kind: str, resolved: str) -> Armed:
    return compiled_fault(kind, resolved, HOSTS, target="name servers", role="name server")


@pytest.mark.parametrize(
    ("place", "host", "process"),
    [("rkt1", "rkt1", ""), ("rkt1/broker-a-0", "rkt1", "broker-a-0")],
)
def test_a_place_is_a_host_or_a_process_of_one(place: str, host: str, process: str) -> None:
    assert (places.host_of(place), places.process_of(place)) == (host, process)


def test_several_places_are_one_text() -> None:
    assert places.joined(places.split(BOTH)) == BOTH
    assert places.split("rkt1") == ("rkt1",)


def test_a_fault_at_several_places_is_undone_at_each() -> None:
    first, second = places.split(BOTH)
    armed = compiled("kill", BOTH)
    assert (armed.actions, armed.undo) == (
        (Kill(first), Kill(second)),
        (Start(first), Start(second)),
    )
    armed = compiled("freeze", BOTH)
    assert (armed.actions, armed.undo) == (
        (Freeze(first), Freeze(second)),
        (Thaw(first), Thaw(second)),
    )


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("rkt1", "rkt1/name-server", True),
        ("rkt1/name-server", "rkt1", True),
        (BOTH, "rkt2/name-server", True),
        ("rkt1/broker-a-0", "rkt1/name-server", False),
        ("rkt1", "rkt10/name-server", False),
        ("rkt1", "rkt2", False),
    ],
)
def test_a_host_and_its_process_do_not_fail_at_once(one: str, other: str, meet: bool) -> None:
    own, others = (
        things(KINDS["kill"], places.split(place), "", (), ()) for place in (one, other)
    )
    assert clash(own, others) is meet


def test_a_fault_is_proven_at_every_place() -> None:
    class Half(World):
        async def process(self, place: str) -> ProcessState:
            return ProcessState(running=place == "rkt2/name-server", exit_code=137)

    def seen(resolved: str) -> Proof:
        return asyncio.run(held(compiled("kill", resolved), Half(), 0.01))

    assert seen("rkt1/name-server").ok
    assert seen(BOTH).doubt == "the process still runs"


class Container:
    """One of a project's, as the engine lists it."""

    def __init__(self, host: str, process: str) -> None:
        self.name = f"p-{host}-{process}-1"
        self.labels = {"com.docker.compose.service": f"{host}-{process}"}


class Engine:
    """It knows the containers of one host; `containers.list` is all that is asked of it."""

    def __init__(self, *found: Container) -> None:
        self.containers = self
        self._found = found

    def list(self, **_: object) -> list[Container]:
        return list(self._found)


def test_a_process_is_found_by_service_and_hosts_list_all() -> None:
    own = Container("rkt1", "broker-a-0"), Container("rkt1", "name-server")
    project = Project(cast(Any, Engine(*own)), "p")
    assert project.processes("rkt1") == list(own)
    assert project.processes("rkt1/name-server") == [own[1]]
    with pytest.raises(FaultError, match="no process container of rkt1/broker-b-0"):
        project.processes("rkt1/broker-b-0")
