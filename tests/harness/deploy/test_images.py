"""Images are named by what goes into them."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from docker.errors import ImageNotFound

from harness.deploy import images, jars
from harness.systems.catalogue import load_layout, load_system, system_names
from harness.systems.containers import Image, worker_image
from harness.systems.files import copy_worker_sources
from harness.systems.rabbitmq.containers import rabbitmq_image
from harness.systems.reference.containers import nodes_image, servers_image
from harness.systems.rocketmq.containers import rocketmq_image, rocketmq_worker_image


def test_a_tag_is_name_version_and_a_hash_that_stays() -> None:
    tag = images.tag_of(rabbitmq_image())
    assert re.fullmatch(r"mqproof/rabbitmq:3\.10\.8-[0-9a-f]{12}", tag)
    assert images.tag_of(rabbitmq_image()) == tag


def test_the_workers_tag_changes_with_the_clients_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = images.tag_of(worker_image())
    version = metadata.version
    monkeypatch.setattr(
        metadata, "version", lambda name: "9.9" if name == "tenacity" else version(name)
    )
    assert images.tag_of(worker_image()) != before


def test_a_fingerprint_is_of_names_contents_and_arguments(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    first = images.fingerprint(tmp_path, ())
    assert images.fingerprint(tmp_path, (("A", "1"),)) != first
    (tmp_path / "a").write_text("2")
    second = images.fingerprint(tmp_path, ())
    (tmp_path / "a").rename(tmp_path / "b")
    assert len({first, second, images.fingerprint(tmp_path, ())}) == 3


def test_layouts_change_no_image() -> None:
    with images._context(rabbitmq_image()) as folder:
        names = {path.name for path in folder.iterdir()}
    assert {"Dockerfile", "rabbitmq.conf", "entrypoint.sh", "amqp-ready.sh"} <= names
    assert not names & {"layouts", "system.toml", "compose.yaml"}


def test_the_reference_image_contains_only_reference_sources() -> None:
    image = nodes_image()
    with images._context(image) as folder:
        copied = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    assert {"Dockerfile", "entrypoint.sh", "reference_impl/__main__.py"} <= copied
    ours = {name.partition("/")[0] for name in copied if name.endswith(".py")}
    assert ours == {"reference_impl"}


@pytest.mark.parametrize("image", [nodes_image(), servers_image()], ids=lambda one: one.version)
def test_the_references_images_have_every_package_that_they_import(image: Image) -> None:
    with images._context(image) as folder:
        sources = [path.read_text() for path in folder.rglob("*.py")]
        recipe = (folder / "Dockerfile").read_text()
    found = {name for source in sources for name in packages_of(source)}
    packages = found - sys.stdlib_module_names - {"reference_impl"}
    assert {name for name, _ in image.arguments} == {f"{one.upper()}_VERSION" for one in packages}
    assert all(f"{one}==${{{one.upper()}_VERSION}}" in recipe for one in packages)


def packages_of(source: str) -> Iterator[str]:
    """The first parts of the names of all modules that a source imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_every_system_that_can_be_deployed_in_containers_declares_them() -> None:
    systems = [load_system(name) for name in system_names()]
    in_containers = {system.name for system in systems if "compose" in system.deployments}
    assert in_containers == set(images.in_containers())


def test_a_worker_gets_its_sources_and_nothing_heavy(tmp_path: Path) -> None:
    copy_worker_sources(tmp_path)
    copied = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")}
    assert {
        "harness/__init__.py",
        "harness/workers/agent.py",
        "faults/toxiproxy.py",
        "spark_analysis/__init__.py",
        "spark_analysis/files/log.py",
    } <= copied
    assert "spark_analysis/schema/arrow.py" not in copied
    assert not [name for name in copied if name.startswith(("harness/deploy", "harness/systems"))]


def test_a_worker_image_contains_all_imported_modules(tmp_path: Path) -> None:
    copy_worker_sources(tmp_path)
    missing = {
        f"{path.relative_to(tmp_path)}: {module}"
        for path in tmp_path.rglob("*.py")
        for module in imported(path)
        if not (tmp_path / module).is_dir() and not (tmp_path / f"{module}.py").is_file()
    }
    assert not missing


def imported(path: Path) -> set[str]:
    """The modules of ours that a module imports, as paths without their ending."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    ours = ("faults", "harness", "spark_analysis")
    return {name.replace(".", "/") for name in found if name.partition(".")[0] in ours}


@pytest.mark.parametrize("version", ["4.9.7", "5.3.3"])
def test_server_jars_are_in_its_tag_before_any_fetch(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MQPROOF_JARS", str(tmp_path / "none"))
    image = rocketmq_image(version)
    before = images.tag_of(image)
    assert re.fullmatch(rf"mqproof/rocketmq:{re.escape(version)}-[0-9a-f]{{12}}", before)
    lock = tmp_path / "lock"
    lock.write_text("0000  other.jar\n")
    monkeypatch.setattr(jars, "lock_file", lambda _name: lock)
    assert images.tag_of(image) != before


def test_a_version_without_a_lock_has_a_tag_of_its_own() -> None:
    tags = {images.tag_of(rocketmq_image(version)) for version in ("5.1.4", "5.4.0")}
    assert {tag.rpartition("-")[0] for tag in tags} == {
        "mqproof/rocketmq:5.1.4",
        "mqproof/rocketmq:5.4.0",
    }
    (held,) = rocketmq_image("5.4.0").jars
    assert (held.lock, len(held.artifacts)) == ("", 4)
    assert len(rocketmq_image("4.9.0").jars[0].artifacts) == 3


def test_a_layout_has_the_image_of_its_servers_version() -> None:
    found = {
        name: images.containers_of("rocketmq-2m2s").image(load_layout("rocketmq-2m2s", name)).alias
        for name in ("colocated", "one-group-v5")
    }
    assert found == {
        "colocated": "mqproof/rocketmq:4.9.7",
        "one-group-v5": "mqproof/rocketmq:5.3.3",
    }


def test_rocketmq_workers_contain_every_java_client_and_our_sources() -> None:
    image = rocketmq_worker_image()
    assert tuple(one.name for one in image.jars) == tuple(
        f"rocketmq-java-{one}" for one in ("4.9.0", "4.9.8", "5.2.0", "5.3.3")
    )
    given = {name for name, _ in image.arguments}
    dockerfile = (image.folder() / "Dockerfile").read_text()
    assert given == set(re.findall(r"^ARG (\w+)$", dockerfile, re.MULTILINE))
    with images._context(image) as folder:
        assert (folder / "harness" / "workers" / "agent.py").is_file()
        assert {path.name for path in (folder / "sums").iterdir()} == {
            f"{one.name}.{kind}" for one in image.jars for kind in ("sha256", "mark")
        }


def test_each_system_is_worked_on_by_its_own_workers() -> None:
    class Nothing:
        """An engine that has no image."""

        class images:
            @staticmethod
            def get(name: str) -> None:
                raise ImageNotFound(name)

    wanted = {name: images.missing(Nothing(), name) for name in images.in_containers()}  # type: ignore[arg-type]
    worker, rocket = worker_image().alias, rocketmq_worker_image().alias
    assert worker in wanted["rabbitmq-mirrored"]
    assert rocket not in wanted["rabbitmq-mirrored"]
    assert rocket in wanted["rocketmq-2m2s"]
    assert {worker, rocket} <= set(images.missing(Nothing()))  # type: ignore[arg-type]
