"""mqproof against real brokers and a real Toxiproxy that it did not start.

What `doctor` says; one run with a hang at the Toxiproxy that is there and a kill by the owner's
command; kill -9 of the harness while a broker is frozen: together they pass every way on which
something of the owner's is touched. Then a Toxiproxy binary that mqproof starts, a fault without a
verify command, Ctrl-C, tags and policies. All nightly: the same code is tested on reference
brokers with every commit.
"""

import asyncio
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.kinds.client_links.hang import HangOptions
from harness.deploy import engine, images
from harness.deploy.external.site import noted
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.topology import Topology
from harness.plan.model import RunPlan, Window
from harness.run_folder.manifest import Manifest
from harness.run_folder.seal import seal
from harness.systems.catalogue import load_system
from harness.systems.topologies import layout_of, read_topology
from spark_analysis.schema.facts import Facts
from tests.docker.command_line import mqproof, read_until
from tests.docker.conftest import require_docker
from tests.docker.somebodys import HEAD, PASSWORD, THEIRS, USER, Somebodys, docker, until_agreed
from tests.oracle.judge import judge
from tests.rigs.clusters.external import performed
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

Look = TypeVar("Look", bound=Callable[..., Any])
RUN_LIMIT_S = 150.0
END_LIMIT_S = 90.0
WELL = {"alpha": "running", "beta": "running", "gamma": "running"}
LONG = """
title = "A long fault, for tests that end it"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 100
publisher_endpoint = "master of orders"
[[fault]]
kind = "KIND"
target = "master of orders"
lasts = "10 min"
[phases]
baseline = "2 s"
recovery = "6 s"
"""


@pytest.fixture(scope="session")
def somebodys() -> Iterator[Somebodys]:
    require_docker()
    one = Somebodys()
    yield one
    one.down()


@pytest.fixture
def owner(somebodys: Somebodys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Somebodys:
    """A cluster that is well, and what mqproof is reported of it."""
    monkeypatch.setenv("RACK_USER", USER)
    monkeypatch.setenv("RACK_PASSWORD", PASSWORD)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return somebodys.clean()


def only_theirs_is_left(owner: Somebodys) -> None:
    """Of mqproof there is nothing any more, and all of the owner's is as it was."""
    assert owner.names("queues") == [THEIRS]
    assert owner.names("policies") == ["theirs"]
    assert owner.listeners() == {}
    assert owner.states() == WELL
    assert noted() == ()


def assert_password_is_secret(folder: Path) -> None:
    """The password is in no file that was written."""
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert written
    secret = PASSWORD.encode()
    assert [str(path) for path in written if secret in path.read_bytes()] == []


def of(topology: Topology, run: RunPlan) -> RunPlan:
    return replace(run, layout=layout_of(topology), deployment="external")


def judged(run: RunPlan, folder: Path) -> tuple[Manifest, dict[str, int]]:
    """The sealed manifest, and how often each measure was counted."""
    place = folder / "runs" / run.name
    manifest = seal(place)
    assert manifest.facts is not None
    counted: dict[str, int] = {}
    for row in judge(Facts.from_json(manifest.facts), rows_of(place)).counts:
        counted[row.measure] = counted.get(row.measure, 0) + row.count
    return manifest, counted


def perform(run: RunPlan, folder: Path) -> tuple[Manifest, dict[str, int]]:
    asyncio.run(asyncio.wait_for(performed(run, folder), RUN_LIMIT_S))
    manifest, counted = judged(run, folder)
    assert manifest.failure == ""
    assert not {"lost", "stranded", "unexpected", "corrupt", "loss_unknown"} & counted.keys()
    assert counted["state"] > 300
    return manifest, counted


def test_doctor_finds_all_that_the_file_promises_and_touches_nothing(
    owner: Somebodys, tmp_path: Path
) -> None:
    (tmp_path / "rack.toml").write_text(owner.text(owner.proxy))
    process = mqproof(tmp_path, "doctor", "--topology", "rack.toml")
    said, _ = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 0, said
    output = " ".join(said.split())
    for words in (
        "alpha: management: http",
        "RabbitMQ 3.10.8",
        "gamma: AMQP",
        "3 nodes run, no partition, no alarm",
        "Toxiproxy: ",
        "faults that may be done: kill, freeze, hang",
        "ok program docker: ",
    ):
        assert words in output, said
    assert PASSWORD not in said
    only_theirs_is_left(owner)


def test_proxy_hang_and_command_kill_are_verified_without_loss(
    owner: Somebodys, tmp_path: Path
) -> None:
    """Use the proxy and the kill command of the owner of the cluster."""
    topology = owner.topology(owner.proxy)
    hang, kill = fault("hang"), fault("kill")
    windows = (Window(1, hang, 0.5, 4.0), Window(2, kill, 9.0, 6.0))
    run = plan(hang, kill)
    run = of(topology, replace(run, schedule=replace(run.schedule, windows=windows)))
    manifest, _ = perform(run, tmp_path)
    seen = [(one.kind, one.verified, one.gone, one.unverified_reason) for one in manifest.windows]
    assert seen == [("hang", True, True, ""), ("kill", True, True, "")]
    state = manifest.state["windows"]["2"]
    assert state["synchronised_mirrors_at_fault"] == 2, "our policy counts, not theirs"
    commands = [
        json.loads(line)
        for line in (tmp_path / "runs" / run.name / "broker_logs" / "commands.jsonl")
        .read_text()
        .splitlines()
    ]
    done = [one["words"][:2] for one in commands if one["step"] in ("do", "undo")]
    assert done == [["docker", "kill"], ["docker", "start"]]
    only_theirs_is_left(owner)
    assert_password_is_secret(tmp_path)
    assert until_agreed(owner)


def broken_off(owner: Somebodys, folder: Path, kind: str) -> "subprocess.Popen[str]":
    """An `mqproof run` whose fault is in force."""
    (folder / "rack.toml").write_text(owner.text(owner.proxy))
    (folder / "long.toml").write_text(LONG.replace("KIND", kind))
    process = mqproof(folder, "run", "long.toml", "--topology", "rack.toml")
    read_until(process, f"fault: {kind}")
    return process


def test_harness_kill_during_a_freeze_thaws_and_removes_our_objects(
    owner: Somebodys, tmp_path: Path
) -> None:
    """Leave only what belongs to the owner of the cluster."""
    process = broken_off(owner, tmp_path, "freeze")
    try:
        assert until_frozen(owner), "otherwise the test shows nothing"
        assert len(owner.listeners()) > 0
        assert len(noted()) == 1
    finally:
        process.kill()
        process.wait()
    assert until_well(owner), owner.states()
    assert until_forgotten(), noted()
    only_theirs_is_left(owner)
    assert [name for name in owner.connections() if name.startswith("mqproof")] == []
    assert_password_is_secret(tmp_path)


def test_ctrl_c_in_a_hang_exits_130_and_cleans_up(owner: Somebodys, tmp_path: Path) -> None:
    """Seal the run, exit with 130 and leave nothing behind."""
    process = broken_off(owner, tmp_path, "hang")
    try:
        assert until_hung(owner), "otherwise the test shows nothing"
    finally:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 130, said
    (path,) = (tmp_path / "results").glob("*/runs/*/manifest.json")
    assert json.loads(path.read_text())["phase"] == "sealed"
    only_theirs_is_left(owner)
    assert_password_is_secret(tmp_path)


def test_toxiproxy_started_by_mqproof_carries_links_and_ends_with_it(
    owner: Somebodys, tmp_path: Path
) -> None:
    program = _program(tmp_path)
    run = of(
        owner.topology(f'[proxy]\nstart = "{program}"\n'),
        plan(fault("hang", options=HangOptions()), lasts_s=5.0),
    )
    manifest, _ = perform(run, tmp_path)
    (window,) = manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert _running(program) == []
    only_theirs_is_left(owner)


def test_streams_of_the_owners_nodes_lose_nothing_in_a_freeze(
    owner: Somebodys, tmp_path: Path
) -> None:
    """`doctor` and a run: a stream can be neither exclusive nor expire, and Get is refused."""
    head = HEAD.partition("[queues]")[0].replace("rabbitmq-mirrored", "rabbitmq-stream")
    source = owner.text().replace(HEAD, head)
    (tmp_path / "rack.toml").write_text(source)
    process = mqproof(tmp_path, "doctor", "--topology", "rack.toml")
    said, _ = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 0, said
    assert "declare, publish, consume and delete work" in " ".join(said.split())
    topology = read_topology("rack", source, ("rabbitmq-stream",))
    run = of(topology, plan(fault("freeze", "mirror of orders"), lasts_s=6))
    run = replace(run, system=load_system("rabbitmq-stream"), client=chosen_client("pika-stream"))
    manifest, counted = perform(run, tmp_path)
    (window,) = manifest.windows
    assert (window.verified, window.gone) == (True, True)
    assert counted["in_order"] == counted["confirmed"]
    only_theirs_is_left(owner)


def test_fault_without_a_verify_command_makes_the_run_unknown(
    owner: Somebodys, tmp_path: Path
) -> None:
    run = of(owner.topology(verified=False), plan(fault("freeze", "mirror of orders"), lasts_s=6))
    manifest, _ = perform(run, tmp_path)
    (window,) = manifest.windows
    assert (window.verified, window.gone) == (False, True)
    assert "there is no verify command" in window.unverified_reason
    only_theirs_is_left(owner)


def test_a_user_without_policy_permission_is_reported_before_the_run(
    owner: Somebodys, tmp_path: Path
) -> None:
    owner.ask(f"users/{USER}", "PUT", {"password": PASSWORD, "tags": "monitoring"})
    try:
        (tmp_path / "rack.toml").write_text(owner.text(owner.proxy))
        (tmp_path / "long.toml").write_text(LONG.replace("KIND", "hang"))
        process = mqproof(tmp_path, "run", "long.toml", "--topology", "rack.toml")
        said, _ = process.communicate(timeout=END_LIMIT_S)
    finally:
        tags = {"password": PASSWORD, "tags": "monitoring,policymaker"}
        owner.ask(f"users/{USER}", "PUT", tags)
    assert process.returncode == 254, said
    words = " ".join(said.split())
    assert "rack.toml, [credentials]: " in words
    assert "lacks the tag 'policymaker'" in words
    assert "what to do: `rabbitmqctl set_user_tags USER monitoring policymaker`" in words
    only_theirs_is_left(owner)


def test_without_permission_the_owners_policies_count_and_none_is_made(
    owner: Somebodys, tmp_path: Path
) -> None:
    """The owner's policy leaves each queue without a mirror, and the file has to declare that."""
    left = HEAD[: HEAD.index("[queues]")]
    text = owner.text(owner.proxy).replace(HEAD, left)
    (tmp_path / "rack.toml").write_text(text)
    (tmp_path / "long.toml").write_text(LONG.replace("KIND", "hang"))
    process = mqproof(tmp_path, "run", "long.toml", "--topology", "rack.toml")
    said, _ = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 254, said
    assert "has no mirror: the policy theirs does not mirror it" in " ".join(said.split())
    declared = text.replace(left, f"{left}[queues]\ncopies = 1\n")
    (tmp_path / "rack.toml").write_text(declared)
    process = mqproof(tmp_path, "run", "long.toml", "--topology", "rack.toml")
    try:
        read_until(process, "fault: hang")
        assert owner.names("policies") == ["theirs"]
        assert until_all_of_ours_are_under(owner, "theirs")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=END_LIMIT_S)
    only_theirs_is_left(owner)


def _looking(limit_s: float) -> Callable[[Look], Look]:
    return retry(
        stop=stop_after_delay(limit_s),
        wait=wait_fixed(0.2),
        retry=retry_if_result(lambda ok: not ok),
        retry_error_callback=lambda _: False,
    )


@_looking(30.0)
def until_frozen(owner: Somebodys) -> bool:
    return "paused" in owner.states().values()


@_looking(30.0)
def until_hung(owner: Somebodys) -> bool:
    return any(one["toxics"] for one in owner.listeners().values())


@_looking(30.0)
def until_well(owner: Somebodys) -> bool:
    return owner.states() == WELL


@_looking(60.0)
def until_forgotten() -> bool:
    return noted() == ()


def _program(folder: Path) -> Path:
    """The binary that the image holds: it needs nothing else."""
    found = images.ensure(engine.connect(), "rabbitmq-mirrored", lambda _: None, balanced=False)
    container = docker("create", found.proxy)
    try:
        docker("cp", f"{container}:/toxiproxy", str(folder / "toxiproxy"))
    finally:
        docker("rm", container)
    return folder / "toxiproxy"


def _running(program: Path) -> list[str]:
    """The processes of this machine that run it."""
    found = []
    for link in Path("/proc").glob("[0-9]*/exe"):
        try:
            if link.readlink() == program:
                found.append(link.parent.name)
        except OSError:
            continue
    return found


@_looking(15.0)
def until_all_of_ours_are_under(owner: Somebodys, policy: str) -> bool:
    """The API tells late what a queue is under that was just made."""
    ours = [one for one in owner.ask("queues") if one["name"] != THEIRS]
    return {one.get("policy") for one in ours} == {policy}


@pytest.mark.parametrize(
    ("step", "permission"),
    [("declare", "configure"), ("publish", "write"), ("consume", "read")],
)
def test_doctor_says_which_permission_the_user_lacks(
    owner: Somebodys, tmp_path: Path, step: str, permission: str
) -> None:
    owner.permit(**{permission: "^nothing"})
    try:
        (tmp_path / "rack.toml").write_text(owner.text(owner.proxy))
        process = mqproof(tmp_path, "doctor", "--topology", "rack.toml")
        said, _ = process.communicate(timeout=END_LIMIT_S)
    finally:
        owner.permit()
    output = " ".join(said.split())
    assert f"may not {step}: closed by the broker: 403 ACCESS_REFUSED" in output, said
    assert "set_permissions" in output
