"""Jars by coordinates: every difference from the lock is reported, and no half jar remains."""

import hashlib
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.deploy import jars
from harness.plan.clients import registry
from harness.plan.clients.registry import OURS as CLIENTS
from harness.plan.layouts.jars import JarSet, mistakes
from harness.systems.catalogue import layout_names, load_layout
from harness.systems.files import compose_folder
from harness.systems.registry import OURS as SYSTEMS
from harness.systems.rocketmq.containers import server_jars
from harness.workers.clients import jars as places

NAME = "rocketmq-server-4.9.7"
LOCK = {"a.jar": hashlib.sha256(b"a").hexdigest(), "b.jar": hashlib.sha256(b"b").hexdigest()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sets lie, with two jars in the lock, and a Maven that makes what its file says."""
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text(
        '#!/bin/sh\nfor word; do case "$word" in -DoutputDirectory=*) '
        f'mkdir -p "${{word#*=}}" && cd "${{word#*=}}" && . {tmp_path}/makes;; esac; done\n'
    )
    maven.chmod(maven.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(maven.parent), prepend=":")
    monkeypatch.setenv(places.JARS, str(tmp_path / "jars"))
    lock = tmp_path / "lock"
    lock.write_text("".join(f"{digest}  {name}\n" for name, digest in LOCK.items()))
    monkeypatch.setattr(jars, "lock_file", lambda _name: lock)
    return tmp_path


@pytest.mark.slow
def test_jar_set_is_fetched_once_per_version_of_its_lock(folder: Path) -> None:
    (folder / "makes").write_text("printf a > a.jar; printf b > b.jar; echo x >> ../../../count")
    messages: list[str] = []
    made = jars.fetch(jars.named(NAME), messages.append)
    assert {path.name for path in made.glob("*.jar")} == set(LOCK)
    assert jars.why_not(NAME) == ""
    jars.fetch(jars.named(NAME), messages.append)
    assert messages == [f"fetching {NAME}"]
    (made / "a.jar").unlink()
    (folder / "lock").write_text((folder / "lock").read_text() + "\n")
    assert jars.why_not(NAME) == f"jars are missing: `python -m harness.deploy.jars {NAME}`"
    jars.fetch(jars.named(NAME), messages.append)
    assert len(messages) == 2


@pytest.mark.slow
def test_concurrent_fetch_waits_and_uses_the_result_of_the_first(folder: Path) -> None:
    """The Maven of the first goes on when it is let, and says that it was asked."""
    (folder / "makes").write_text(
        "echo x >> ../../../count; printf a > a.jar; printf b > b.jar; timeout 20 cat ../../../go"
    )
    os.mkfifo(folder / "go")
    with ThreadPoolExecutor(2) as people:
        both = [people.submit(jars.fetch, jars.named(NAME), print) for _ in range(2)]
        (folder / "go").write_text("")  # opens when the first one's Maven reads
        first, second = (one.result() for one in both)
    assert first == second
    assert (folder / "count").read_text() == "x\n"


@pytest.mark.slow
def test_every_difference_is_reported_at_once_and_nothing_is_left(folder: Path) -> None:
    (folder / "makes").write_text("printf c > a.jar; printf d > d.jar")
    with pytest.raises(DeployError) as refused:
        jars.fetch(jars.named(NAME), print)
    for part in ("a.jar has sha256", "b.jar is missing", "d.jar is not in the lock"):
        assert part in str(refused.value)
    assert list((folder / "jars").iterdir()) == []


@pytest.mark.slow
def test_failing_maven_is_quoted_and_missing_maven_gets_install_advice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "makes").write_text("echo cannot resolve it; exit 1")
    with pytest.raises(DeployError, match=r"fetching rocketmq-server-4.9.7 failed(.|\n)*resolve"):
        jars.fetch(jars.named(NAME), print)
    monkeypatch.setenv("PATH", str(folder))
    build = r"or have a Docker engine do it \(`mqproof build --system rocketmq-2m2s`\)$"
    with pytest.raises(DeployError, match=f"there is no mvn; install Maven.*, {build}"):
        jars.fetch(jars.named(NAME), print)


def test_unknown_jar_name_is_answered_with_the_valid_names() -> None:
    with pytest.raises(DeployError, match=r"choose one of rocketmq-java-4\.9\.0, "):
        jars.named("rocketmq-java-9")


def test_the_pom_requests_every_artifact_of_a_set() -> None:
    text = jars.pom(jars.named("rocketmq-server-5.3.3").artifacts)
    assert text.count("<dependency>") == 4
    assert (
        "<groupId>org.apache.rocketmq</groupId><artifactId>rocketmq-controller</artifactId>"
        "<version>5.3.3</version>"
    ) in text


@pytest.mark.parametrize("name", jars.sets())
def test_every_set_has_a_lock_with_its_own_version(name: str) -> None:
    lock = jars.parse_lock(jars.lock_file(jars.named(name)).read_text())
    version = name.rpartition("-")[2]
    assert f"rocketmq-client-{version}.jar" in lock
    assert all(len(digest) == 64 for digest in lock.values())


@pytest.mark.parametrize("one", jars.sets().values(), ids=jars.sets())
def test_all_shipped_declarations_are_valid(one: JarSet) -> None:
    assert not list(mistakes(one))
    assert one.classes == "" or list((compose_folder() / one.classes).glob("*.java"))


def test_every_jar_of_an_image_can_be_fetched() -> None:
    for system, own in SYSTEMS.items():
        if own.containers is None:
            continue
        layouts = (load_layout(system, name) for name in layout_names(system))
        images = [own.containers.image(layout) for layout in layouts]
        held = [one for image in (*images, own.containers.worker_image()) for one in image.jars]
        assert [jars.sets()[one.name] for one in held] == held


@pytest.mark.slow
def test_a_set_without_a_lock_has_the_sums_of_what_came(folder: Path) -> None:
    (folder / "makes").write_text("printf a > a.jar; printf b > b.jar")
    made = jars.fetch(server_jars("5.4.0"), print)
    assert made.name == "rocketmq-server-5.4.0"
    assert jars.parse_lock(jars.sums_of(server_jars("5.4.0"), made)) == LOCK


@pytest.fixture
def another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JarSet:
    """Of a client of another package, which has its files beside itself."""
    (tmp_path / "sums").write_text("".join(f"{sum_}  {name}\n" for name, sum_ in LOCK.items()))
    own = JarSet(name="acme", artifacts=("a:b:1",), lock=str(tmp_path / "sums"), classes="")
    client = replace(CLIENTS["rocketmq-java-4.9.8"], name="acme", jars=own)
    known = registry.ClientRegistry({**CLIENTS, "acme": client}, {"acme": "acme 1"}, {})
    monkeypatch.setattr(registry, "registry", lambda: known)
    return own


def test_jars_of_another_package_are_listed_with_their_own_lock(
    another: JarSet,
) -> None:
    assert jars.named("acme") == another
    assert jars.parse_lock(jars.lock_file(another).read_text()) == LOCK


@pytest.mark.slow
def test_jars_that_no_image_holds_come_by_maven_alone(
    another: JarSet, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(DeployError, match=r"there is no mvn; install Maven [^,]*$"):
        jars.fetch(another, print)


def test_a_missing_lock_is_reported_and_no_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = replace(jars.named(NAME), lock=str(tmp_path / "none"))
    monkeypatch.setattr(jars, "sets", lambda: {NAME: lost})
    monkeypatch.setenv(places.JARS, str(tmp_path / "jars"))  # nothing was ever fetched
    assert jars.main([NAME]) == jars.main(["--check"]) == 1
    assert capsys.readouterr().err.count("none") == 2
