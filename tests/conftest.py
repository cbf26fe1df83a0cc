"""What holds for every test."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.rigs.machine.starting_spark import STARTING_SPARK

# How long one example takes tells of the machine, not of the code. Whoever runs all tests gets the
# same examples as everybody; `--hypothesis-profile random` looks for new ones (nightly).
settings.register_profile(
    "random", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("mqproof", settings.get_profile("random"), derandomize=True)
settings.load_profile("mqproof")


OF_THE_ENGINE = Path(__file__).parent / "spark_analysis"
BY_THEMSELVES = ("test_elsewhere.py",)  # it kills a worker in the middle of a job


@pytest.hookimpl(tryfirst=True)  # what is marked here may be chosen by it
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A real broker may crash on its own account, and spoil a test that is right.

    Such a test is played once more before it counts as failed; the summary tells each as RERUN.
    Verdicts over recorded histories, and all that we wrote ourselves, get no second chance.
    """
    for item in items:
        if item.get_closest_marker("docker"):
            item.add_marker(pytest.mark.flaky(reruns=1))
        of_the_engine = item.path.is_relative_to(OF_THE_ENGINE)
        if (
            item.get_closest_marker("slow")
            and of_the_engine
            and item.path.name not in BY_THEMSELVES
        ):
            item.add_marker(pytest.mark.engine)


@pytest.fixture(autouse=True)
def _no_state_of_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing that a test heals is anybody's, and what it leaves is found by no healing."""
    folder = tmp_path_factory.getbasetemp() / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Unit tests stay fast: who starts a process, by a fixture too, says that it is slow."""
    start = subprocess.Popen.__init__

    def refuse(process: Any, words: object, *rest: Any, **options: Any) -> None:
        if not threading.current_thread().name.startswith(STARTING_SPARK):
            pytest.fail(f"starts a process, so it is to be marked slow: {words}")
        start(process, words, *rest, **options)  # for slow tests, while others run

    with pytest.MonkeyPatch.context() as patched:
        if not any(item.get_closest_marker(name) for name in ("slow", "docker", "nightly")):
            patched.setattr(subprocess.Popen, "__init__", refuse)
        yield
