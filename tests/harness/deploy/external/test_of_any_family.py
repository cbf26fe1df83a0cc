"""What stands around somebody's brokers asks their system's declaration, whichever that is."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.port import DeployError, WrongInput
from harness.deploy.doctor import MachineCheck
from harness.deploy.external.deployment import ExternalDeployment
from harness.deploy.external.doctor import examine
from harness.deploy.external.faults import equip
from harness.deploy.external.removal import remove
from harness.deploy.external.site import forget, load, noted
from harness.plan.layouts.topology import Topology
from harness.systems import topologies
from harness.systems.registry import OURS, SystemRegistry
from harness.systems.topologies import layout_of, read_topology
from tests.rigs.clusters.shards import NAME, SHARDS, Shards, door, foreign

pytestmark = pytest.mark.slow

NO_SERVER = "127.0.0.1:9"


@pytest.fixture
def shards(monkeypatch: pytest.MonkeyPatch) -> Shards:
    found = Shards()
    declared = replace(OURS["reference-mirrored"], name=NAME, foreign=foreign(found))
    monkeypatch.setattr(topologies, "registry", lambda: SystemRegistry({NAME: declared}, {}, {}))
    monkeypatch.setenv("SHARDS_USER", "ann")
    monkeypatch.setenv("SHARDS_PASSWORD", "swordfish")
    return found


@pytest.fixture
def port() -> Iterator[int]:
    with door() as found:
        yield found


def topology(port: int, source: str = SHARDS) -> Topology:
    source = source.replace("10.0.0.1:7", f"127.0.0.1:{port}").replace("10.0.0.2:7", NO_SERVER)
    return read_topology("shards", source, (NAME,))


SETTING = SHARDS.replace("[credentials]", "sets = true\n[credentials]")


async def stood(of: Topology, folder: Path) -> dict[str, str]:
    """The versions of a cluster that stood, and is down again."""
    deployment = ExternalDeployment(equip, stand_limit_s=1.0)
    cluster = await deployment.up(layout_of(of), folder, lambda _: None)
    try:
        return cluster.versions()
    finally:
        await cluster.down()


def test_doctor_greets_in_the_native_protocol_and_reports_the_result(
    shards: Shards, port: int
) -> None:
    rows = {row.what: row for row in asyncio.run(examine(topology(port)))}
    assert rows["one: Shardish"].ok, rows["one: Shardish"]
    assert not rows["two: Shardish"].ok
    assert rows["shards"] == MachineCheck("shards", "one of them is cracked", False, "glue it")
    assert shards.logins == {("ann", "swordfish")}


def test_doctor_suggests_questions_if_the_login_fails(
    shards: Shards, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.rigs.clusters.shards._Door.handle", _greets_alone)
    row = next(row for row in asyncio.run(examine(topology(port))) if row.what == "one: Shardish")
    assert (row.ok, row.found, row.remedy) == (False, "the login was refused", "is it locked?")


def _greets_alone(door: Any) -> None:
    knocks = door.rfile.readline() == b"knock\n"
    door.wfile.write(b"who is there\n" if knocks else b"no\n")


def test_brokers_of_any_family_are_cleaned_of_our_objects(
    shards: Shards, port: int, tmp_path: Path
) -> None:
    versions = asyncio.run(stood(topology(port), tmp_path))
    assert versions["shards"] == "7"
    assert shards.calls == ["set", "queues removed", "settings removed"]
    assert noted() == ()


def test_refusals_are_reported_before_anything_is_set(
    shards: Shards, port: int, tmp_path: Path
) -> None:
    shards.refused = ("ann may not look", "nor touch")
    with pytest.raises(WrongInput, match=r"^ann may not look; nor touch$") as error:
        asyncio.run(stood(topology(port, SETTING), tmp_path))
    assert [one.text for one in error.value.problems] == ["ann may not look", "nor touch"]
    assert shards.calls == []
    assert noted() == ()


def test_a_refused_login_of_clients_is_bad_input(
    shards: Shards, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.rigs.clusters.shards._Door.handle", _greets_alone)
    with pytest.raises(WrongInput) as error:
        asyncio.run(stood(topology(port, SETTING), tmp_path))
    (problem,) = error.value.problems  # the other shard does not answer, which is no refusal
    assert problem.place == "shards.toml, [credentials]"
    assert problem.text == "one refuses the login of clients (Shardish): the login was refused"
    assert problem.expected == (
        "a login in $SHARDS_USER and $SHARDS_PASSWORD that every broker accepts"
    )
    assert problem.advice == "is it locked?"
    assert shards.calls == []


def test_rights_are_tried_before_anything_is_set(
    shards: Shards, port: int, tmp_path: Path
) -> None:
    shards.untried = ("ann may not declare",)
    with pytest.raises(WrongInput, match=r"shards.toml, \[credentials\]: ann may not declare"):
        asyncio.run(stood(topology(port, SETTING), tmp_path))
    assert shards.calls == []


def test_a_silent_broker_is_reported_with_its_protocol(
    shards: Shards, port: int, tmp_path: Path
) -> None:
    shards.silent = True
    with pytest.raises(DeployError, match=rf"no Shardish answer from one \(127.0.0.1:{port}\), "):
        asyncio.run(stood(topology(port), tmp_path))


@pytest.mark.parametrize(
    ("source", "removed"), [(SHARDS, []), (SETTING, ["settings removed"])], ids=["none", "some"]
)
def test_possible_leftover_setting_is_removed_as_the_file_specifies(
    source: str, removed: list[str], shards: Shards, port: int, tmp_path: Path
) -> None:
    shards.unwilling = True
    with pytest.raises(DeployError, match="they cannot be set"):
        asyncio.run(stood(topology(port, source), tmp_path))
    assert shards.calls == ["set", *removed]
    assert noted() == ()


def test_heal_reads_the_note_by_the_same_declaration(
    shards: Shards, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs" / "a-run").mkdir(parents=True)
    begun: list[str] = []

    def killed(name: str) -> None:
        begun.append(name)

    async def story() -> tuple[str, ...]:
        deployment = ExternalDeployment(equip, guard=killed, stand_limit_s=1.0)
        cluster = await deployment.up(layout_of(topology(port)), tmp_path, lambda _: None)
        await cluster.agent.close()
        return await remove(load(begun[0]))

    assert asyncio.run(story()) == ()
    assert shards.calls == ["set", "queues removed", "settings removed"]
    monkeypatch.setattr(topologies, "registry", lambda: SystemRegistry({}, {}, {}))
    with pytest.raises(OSError, match="there is no system 'acme-shards'"):
        load(begun[0])
    forget(begun[0])
    assert noted() == ()
