"""Jars by coordinates: what differs from the lock is told whole, and nothing half is left."""

import hashlib
import stat
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.deploy import jars
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
def test_a_set_is_fetched_once_and_again_when_its_lock_has_changed(folder: Path) -> None:
    (folder / "makes").write_text("printf a > a.jar; printf b > b.jar; echo x >> ../../../count")
    told: list[str] = []
    made = jars.fetch(NAME, told.append)
    assert {path.name for path in made.glob("*.jar")} == set(LOCK)
    assert jars.why_not(NAME) == ""
    jars.fetch(NAME, told.append)
    assert told == [f"fetching {NAME}"]
    (made / "a.jar").unlink()
    (folder / "lock").write_text((folder / "lock").read_text() + "\n")
    assert jars.why_not(NAME) == f"jars are missing: `python -m harness.deploy.jars {NAME}`"
    jars.fetch(NAME, told.append)
    assert len(told) == 2


@pytest.mark.slow
def test_every_difference_is_told_at_once_and_nothing_is_left(folder: Path) -> None:
    (folder / "makes").write_text("printf c > a.jar; printf d > d.jar")
    with pytest.raises(DeployError) as refused:
        jars.fetch(NAME, print)
    for part in ("a.jar has sha256", "b.jar is missing", "d.jar is not in the lock"):
        assert part in str(refused.value)
    assert list((folder / "jars").iterdir()) == []


@pytest.mark.slow
def test_a_maven_that_fails_is_quoted_and_one_that_lacks_is_said_how_to_get(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "makes").write_text("echo cannot resolve it; exit 1")
    with pytest.raises(DeployError, match=r"fetching rocketmq-server-4.9.7 failed(.|\n)*resolve"):
        jars.fetch(NAME, print)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(DeployError, match="there is no mvn; install Maven"):
        jars.fetch(NAME, print)


def test_a_name_that_nothing_bears_is_answered_with_the_good_ones() -> None:
    with pytest.raises(DeployError, match=r"choose one of rocketmq-java-4\.9\.0, "):
        jars.fetch("rocketmq-java-9", print)


def test_the_pom_asks_for_every_artifact_of_a_set() -> None:
    text = jars.pom(jars.SETS["rocketmq-server-5.3.3"])
    assert text.count("<dependency>") == 4
    assert "<artifactId>rocketmq-controller</artifactId><version>5.3.3</version>" in text


@pytest.mark.parametrize("name", jars.SETS)
def test_every_set_has_a_lock_with_its_own_version(name: str) -> None:
    lock = jars.parse_lock(jars.lock_file(name).read_text())
    version = name.rpartition("-")[2]
    assert f"rocketmq-client-{version}.jar" in lock
    assert all(len(digest) == 64 for digest in lock.values())
