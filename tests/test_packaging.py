"""An installed wheel is whole: it works outside a checkout and makes nothing called `compose`."""

import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked as an installer would."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def _python(site: Path, elsewhere: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-P", *words],
        cwd=elsewhere,
        env={"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("list", "systems"),
        ("list", "layouts"),
        ("list", "claims"),
        ("run", "master-crash", "--dry-run"),
        ("new", "scenario", "mine"),
        ("campaign", "run", "matrix", "--telling", "--dry-run"),
    ],
    ids=" ".join,
)
def test_the_command_works_from_a_wheel_outside_a_checkout(
    installed: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = _python(installed, tmp_path, "-m", "harness", *words)
    assert done.returncode == 0, done.stderr
    assert str(ROOT) not in done.stdout


def test_images_are_built_from_the_installed_packages_own_files(
    installed: Path, tmp_path: Path
) -> None:
    code = (
        "from harness.deploy import images; "
        "from harness.systems.catalogue import load_layout, load_system; "
        "own = images.in_containers(); "
        "layouts = [load_layout(name, load_system(name).default_layout) for name in own]; "
        "every = [own[layout.system].image(layout) for layout in layouts]; "
        "every += [one.worker_image() for one in own.values()]; "
        "every += [images.proxy_image(), images.balancer_image()]; "
        "print(*sorted({images.tag_of(image) for image in every}))"
    )
    by_wheel = _python(installed, tmp_path, "-c", code)
    by_checkout = _python(ROOT, tmp_path, "-c", code)
    assert (by_wheel.returncode, by_checkout.returncode) == (0, 0), by_wheel.stderr
    # A tag is made of what its image is built from, so what a wheel left out would show in it.
    assert by_wheel.stdout == by_checkout.stdout != ""


def test_the_wheel_brings_four_packages_and_nothing_called_compose(installed: Path) -> None:
    found = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert found == {"harness", "faults", "reference_impl", "spark_analysis"}


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml"])
def test_a_nightly_example_installs_before_there_is_a_release(name: str, tmp_path: Path) -> None:
    example = yaml.safe_load((ROOT / "examples" / "nightly" / name).read_text(encoding="utf-8"))
    lines = {line.strip() for text in _texts(example) for line in text.splitlines()}
    (install,) = (line for line in lines if " install " in line)
    assert install.startswith(".venv/bin/pip install ")
    pip = install.replace(".venv/bin/pip install", f"{sys.executable} -m pip install --no-deps")
    subprocess.run(
        ["bash", "-euc", f"{pip} --target {tmp_path}"],
        env=os.environ | {"MQPROOF": str(ROOT)},
        check=True,
    )
    assert (tmp_path / "harness" / "cli.py").is_file()


def _texts(document: object) -> Iterator[str]:
    if isinstance(document, dict | list):
        for each in document.values() if isinstance(document, dict) else document:
            yield from _texts(each)
    elif isinstance(document, str):
        yield document


def test_the_sdist_holds_what_the_wheel_is_built_from() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    targets = built["build"]["targets"]
    kept = {name.strip("/") for name in targets["sdist"]["include"]}
    assert {*targets["wheel"]["packages"], *targets["wheel"]["force-include"]} <= kept
    assert "results" not in kept
