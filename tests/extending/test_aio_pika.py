"""The example of a client from a package, examples/aio-pika: on processes and in containers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.deploy import own_clients
from tests.docker.conftest import require_docker
from tests.extending.runs import ROOT, Verdict
from tests.extending.test_a_foreign_package import shortened

EXAMPLE = ROOT / "examples" / "aio-pika"
END_LIMIT_S = 900.0  # an image is built, and three brokers start


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has installed it, beside this environment's packages."""
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*pip, str(EXAMPLE)], check=True)
    return folder


def played(site: Path, folder: Path, deployment: str) -> Verdict:
    """A crash of the master under its load, as somebody types it."""
    folder.mkdir(exist_ok=True)
    (folder / "scenario.toml").write_text(shortened(), encoding="utf-8")
    words = ["--system", "reference-mirrored", "--client", "aio-pika", "--deployment", deployment]
    done = subprocess.run(
        [sys.executable, "-m", "harness", "run", "scenario.toml", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"},  # workers import it, too
        capture_output=True,
        text=True,
        timeout=END_LIMIT_S,
        check=False,
    )
    (verdict,) = folder.glob("results/*/verdict.json")
    assert done.returncode in (0, 1, 2), done.stderr
    return Verdict(json.loads(verdict.read_text(encoding="utf-8")))


def lives_through_a_crash(verdict: Verdict) -> None:
    assert verdict.confirmed > 100
    assert verdict.lost == 0
    assert verdict.outcomes["masters-clients-are-cut-off"] == "PASS"  # it reports `lost`
    assert verdict.outcomes["confirmed-is-delivered"] == "PASS"


@pytest.mark.slow
@pytest.mark.long
def test_the_example_lives_through_a_crash_of_the_master(site: Path, tmp_path: Path) -> None:
    lives_through_a_crash(played(site, tmp_path / "local", "local"))


@pytest.mark.docker
@pytest.mark.nightly  # an image is built with pip, then a cluster starts: minutes
def test_example_runs_in_containers_with_its_own_image(site: Path, tmp_path: Path) -> None:
    require_docker("reference-mirrored")
    folder = tmp_path / "compose"
    lives_through_a_crash(played(site, folder, "compose"))
    (rendered,) = folder.glob("results/*/deployments/**/compose.yaml")
    assert f"image: {own_clients.IMAGE}:" in rendered.read_text(encoding="utf-8")
