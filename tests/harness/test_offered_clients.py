"""A client of another package: found by its entry point, named, asked, and started in a worker."""

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import main
from harness.deploy.doctor import offered_rows
from harness.plan.clients.registry import OURS, registry
from harness.systems import catalogue
from harness.systems.catalogue import CatalogueError, load_system
from harness.systems.registry import OURS as SYSTEMS
from harness.systems.registry import SystemRegistry
from harness.workers.protocol import EXIT_CLOSED, EXIT_FAILED, Role
from spark_analysis.schema import tables
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.inputs import offered_clients
from tests.rigs.inputs.offered_clients import NAME
from tests.rigs.workers.rig import ROOT, Process, config, rows, until

LOCAL = ("--system", "reference-mirrored", "--deployment", "local", "--dry-run")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the package is installed."""
    folder = tmp_path / "site"
    offered_clients.leave(folder)
    with offered_clients.installed(monkeypatch, folder):
        yield folder


@pytest.mark.usefixtures("site")
def test_offered_client_is_named_uniformly_on_its_familys_systems() -> None:
    assert load_system("rabbitmq-mirrored").clients == ("pika", NAME)
    assert NAME not in load_system("rocketmq-2m2s").clients
    assert registry().packages == {NAME: "acme-queues 1.2"}
    (row,) = offered_rows("client", registry())
    assert (row.what, row.found, row.ok) == (f"client {NAME}", "acme-queues 1.2", True)


@pytest.mark.usefixtures("site")
def test_a_run_with_it_is_planned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("run", "master-crash", "--client", NAME, *LOCAL)) == 0
    assert NAME in capsys.readouterr().out
    assert main(("list", "clients")) == 0
    assert "pip install" in capsys.readouterr().out


@pytest.mark.usefixtures("site")
def test_a_run_with_it_in_containers_is_planned(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--system", "rabbitmq-mirrored", "--dry-run")
    assert main(("run", "master-crash", "--client", NAME, *words)) == 0
    assert NAME in capsys.readouterr().out


@pytest.mark.usefixtures("site")
def test_an_offered_client_does_only_what_it_declares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (ROOT / "harness/plan/scenarios/master-crash.toml").read_text()
    assert "acknowledge = 10" in source
    own = tmp_path / "mine.toml"
    own.write_text(source.replace("acknowledge = 10", 'acknowledge = "none"'))
    assert main(("run", str(own), "--client", "pika", *LOCAL)) == 0
    capsys.readouterr()
    assert main(("run", str(own), "--client", NAME, *LOCAL)) == 254
    said = " ".join(capsys.readouterr().err.split())
    assert f"{NAME} cannot do acknowledge nothing: its declaration does not say" in said


def test_an_unknown_client_is_refused_and_known_ones_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(("run", "master-crash", "--client", NAME, *LOCAL)) == 254
    said = capsys.readouterr().err
    assert f"there is no client '{NAME}'" in said and "valid: pika" in said


def test_broken_offer_is_reported_by_doctor_and_blocks_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    offered_clients.leave(folder, declaration="raise RuntimeError('no licence')")
    with offered_clients.installed(monkeypatch, folder):
        assert main(("run", "master-crash", *LOCAL)) == 0
        assert registry().clients == OURS
        (row,) = offered_rows("client", registry())
    assert not row.ok and row.optional
    assert "RuntimeError: no licence" in row.found


def test_a_system_with_an_unknown_client_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = (ROOT / "compose/reference-mirrored/system.toml").read_text()
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "system.toml").write_text(said.replace('["pika"]', '["pika", "amqplib"]'))
    mine = replace(SYSTEMS["reference-mirrored"], name="mine", folder=lambda: folder)
    monkeypatch.setattr(catalogue, "registry", lambda: SystemRegistry({"mine": mine}, {}, {}))
    with pytest.raises(CatalogueError) as caught:
        load_system("mine")
    (problem,) = caught.value.problems
    assert problem.place.endswith("system.toml, line 4, clients")
    assert "there is no client 'amqplib'" in problem.text
    assert all(name in problem.text for name in OURS)


@pytest.mark.slow
def test_worker_constructs_the_offered_client_and_reports_its_version(
    site: Path, tmp_path: Path
) -> None:
    async def story() -> None:
        async with TinyBroker() as broker:
            settings = config(Role.PUBLISHER, tmp_path, broker, rate=200.0, client=NAME)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))}
            worker = await Process.spawn(settings, env=environment)
            assert worker.heard[0]["versions"].keys() == {"python", "acme-queues"}
            assert worker.heard[0]["versions"]["acme-queues"] == "1.2"
            worker.say(do="start", at_ns=time.monotonic_ns())
            await until(lambda: len(broker.published) >= 20)
            worker.say(do="close")
            assert await worker.exit_code() == EXIT_CLOSED
            details = [str(row["detail"]) for row in rows(settings, tables.CLIENT_EVENTS)]
            assert "broker1 acme 1.2" in details

    asyncio.run(story())


@pytest.mark.slow
@pytest.mark.usefixtures("site")
def test_worker_without_the_client_reports_how_to_install_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with TinyBroker() as broker:
            settings = config(Role.PUBLISHER, tmp_path, broker, client=NAME)
            worker = await Process.spawn()
            worker.say(do="configure", config=settings.to_json())
            failed = await worker.hear("failed")
            assert failed["doubt"] == (
                "the client acme-amqp: 'acme_driver:Driver' cannot be imported: "
                "No module named 'acme_driver'; how it is got: pip install acme-queues"
            )
            assert await worker.exit_code() == EXIT_FAILED
            assert broker.opened == 0

    asyncio.run(story())
