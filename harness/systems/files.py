"""Where the systems' own files lie: beside the packages in a checkout, inside harness in a wheel.

1. Nothing here reads what a file says; it only finds it.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path

from harness.cluster.port import DeployError

PACKAGES = Path(__file__).resolve().parents[2]  # what holds harness, faults and spark_analysis
_WORKER_FILES = (
    "harness/__init__.py",
    "harness/outside/__init__.py",
    "harness/outside/homes.py",
    "harness/plan/__init__.py",
    "harness/plan/clients/__init__.py",
    "harness/plan/clients/rocketmq_terms.py",
    "spark_analysis/__init__.py",
)
_WORKER_FOLDERS = ("harness/workers", "faults", "spark_analysis/files", "spark_analysis/schema")
_ENGINE_ONLY = frozenset({"spark_analysis/schema/arrow.py"})  # needs pyarrow


def compose_folder() -> Path:
    """The folder with one folder a system. Raises DeployError where the installation lacks it."""
    places = (PACKAGES / "compose", PACKAGES / "harness" / "compose_files")
    for place in places:
        if any(place.glob("*/system.toml")):
            return place
    looked = " or ".join(str(place) for place in places)
    raise DeployError(f"the systems' files are missing: no {looked}; reinstall mqproof")


def shipped(name: str) -> Callable[[], Path]:
    """Where a system of ours has its files; looked for when it is asked."""
    return lambda: compose_folder() / name


def text_in(package: str, name: str) -> Callable[[], str]:
    """Return what reads a text file of a package of ours."""
    return lambda: resources.files(package).joinpath(name).read_text(encoding="utf-8")


def copy_worker_sources(target: Path) -> None:
    """Copies what a worker and the agent import, and nothing heavier, below `target`."""
    _copy(_worker_sources(), target)


def copy_reference_sources(target: Path) -> None:
    """Copies the reference brokers below `target`; they import nothing else of ours."""
    _copy(sorted((PACKAGES / "reference_impl").rglob("*.py")), target)


def _copy(sources: Iterable[Path], target: Path) -> None:
    for source in sources:
        place = target / source.relative_to(PACKAGES)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)


def _worker_sources() -> Iterator[Path]:
    for name in _WORKER_FILES:
        yield PACKAGES / name
    for folder in _WORKER_FOLDERS:
        for source in sorted((PACKAGES / folder).rglob("*.py")):
            if source.relative_to(PACKAGES).as_posix() not in _ENGINE_ONLY:
                yield source


def own_folder(folder: Path) -> None:
    """Make the folder, private to this user: it has secrets."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
