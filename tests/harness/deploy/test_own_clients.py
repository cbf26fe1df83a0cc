"""Which packages workers in containers get, and from where: the build context of their image."""

import json
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.deploy import own_clients
from harness.systems.registry import SystemRegistry
from tests.rigs.inputs import offered_clients
from tests.rigs.inputs.offered_clients import NAME, PACKAGE
from tests.rigs.workers.rig import ROOT

BASE = "mqproof/worker:pika-1-abc"
EXAMPLE = ROOT / "examples" / "aio-pika"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site"
    offered_clients.leave(folder)
    with offered_clients.installed(monkeypatch, folder):
        yield folder


def written(folder: Path) -> Path:
    own_clients.write_context(folder, BASE, [PACKAGE])
    return folder / "packages"


def say(site: Path, **direct: object) -> None:
    """Where it was installed from, as installers record it (PEP 610)."""
    (about,) = site.glob("*.dist-info")
    (about / "direct_url.json").write_text(json.dumps(direct))


@pytest.mark.usefixtures("site")
def test_only_clients_of_other_packages_need_their_own_image() -> None:
    assert own_clients.packages_of(["pika", "rocketmq-native"], "rabbitmq-quorum") == ()
    assert own_clients.packages_of([NAME, "pika", NAME], "rabbitmq-quorum") == (PACKAGE,)


def test_the_package_of_a_system_is_there_for_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = SystemRegistry(systems={}, packages={"acme-queue": "acme 1.2"}, spoilt={})
    monkeypatch.setattr(own_clients, "registry_of_systems", lambda: offered)
    assert own_clients.packages_of(["pika"], "acme-queue") == ("acme",)
    assert own_clients.packages_of(["pika"], "rabbitmq-quorum") == ()


def test_a_package_from_an_index_is_installed_by_its_version(site: Path, tmp_path: Path) -> None:
    (about,) = site.glob("*.dist-info")
    with (about / "METADATA").open("a") as said:
        said.write("Requires-Dist: tenacity>=1\nRequires-Dist: mqproof\n")
        said.write("Requires-Dist: pika; extra == 'more'\n")
    place = written(tmp_path / "context")
    assert (place / "requirements.txt").read_text() == f"{PACKAGE}==1.2\n"
    pinned = (place / "constraints.txt").read_text()
    assert pinned == f"tenacity=={metadata.version('tenacity')}\n"
    # pip must not look for mqproof: the image has what workers import of it.
    (record,) = place.glob("mqproof-*.dist-info/METADATA")
    assert f"Version: {metadata.version('mqproof')}\n" in record.read_text()
    assert (tmp_path / "context" / "Dockerfile").read_text().startswith(f"FROM {BASE}\n")


def test_wheel_is_copied_and_its_change_makes_a_new_context(site: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "acme_queues-1.2-py3-none-any.whl"
    wheel.write_bytes(b"one")
    say(site, url=wheel.as_uri(), archive_info={})
    place = written(tmp_path / "context")
    said = (place / "requirements.txt").read_text()
    assert said == f"/opt/mqproof-packages/{wheel.name}\n"
    assert (place / wheel.name).read_bytes() == b"one"


def test_a_package_from_elsewhere_is_fetched_from_there(site: Path, tmp_path: Path) -> None:
    say(site, url="https://example.org/acme.tar.gz", archive_info={})
    said = (written(tmp_path / "context") / "requirements.txt").read_text()
    assert said == f"{PACKAGE} @ https://example.org/acme.tar.gz\n"


def test_missing_source_is_named_before_anything_is_built(site: Path, tmp_path: Path) -> None:
    say(site, url=(tmp_path / "gone").as_uri(), dir_info={"editable": True})
    with pytest.raises(DeployError, match="gone, which is not there any more; install it from"):
        written(tmp_path / "context")


@pytest.mark.slow
def test_folder_becomes_a_wheel_with_everything_a_worker_imports(
    site: Path, tmp_path: Path
) -> None:
    say(site, url=EXAMPLE.as_uri(), dir_info={})
    place = written(tmp_path / "context")
    (wheel,) = place.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"mqproof_aio_pika/client.py", "mqproof_aio_pika/declaration.py"} <= names


def test_the_examples_adapter_imports_nothing_of_the_plan() -> None:
    """A worker's image has no such module."""
    source = (EXAMPLE / "mqproof_aio_pika" / "client.py").read_text()
    imported = [line for line in source.splitlines() if line.startswith(("import", "from"))]
    assert any("harness.workers" in line for line in imported)
    assert not any("harness.plan" in line for line in imported)
    assert "harness.plan" not in (EXAMPLE / "mqproof_aio_pika" / "__init__.py").read_text()
