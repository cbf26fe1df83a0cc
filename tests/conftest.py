"""What holds for every test.

1. Tests find nothing of the user's state, and leave nothing that `mqproof heal` finds.
2. Markers keep their promises (tests/rigs/suite/promises.py). A session that breaks one fails.
3. A test with a real broker is repeated once, and so is one that starts processes or kills Spark:
   a broker may crash by a bug of its own, and five workers share two cores. Verdicts over
   recorded histories and all that is pure are not repeated. The end of the output has each
   first attempt that failed, and lists the tests that passed only on the repetition.
4. With `-n N --dist loadgroup`, workers share the tests as tests/rigs/suite/lanes.py says.
5. Python looks for cyclic garbage rarely. The collected tests stay until the end, so looking
   through them again and again took a third of the processor's time.
"""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.rigs.suite.imports import import_share
from tests.rigs.suite.lanes import Lanes, Priority, assign_groups, is_waiting
from tests.rigs.suite.promises import Bearers, Starts, Watch, refusing
from tests.rigs.suite.tiers import Tiers, mark_tier

# The time of an example depends on the machine, so no example has a deadline. Every run uses the
# same examples; `--hypothesis-profile random` draws new ones (nightly).
settings.register_profile(
    "random", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("mqproof", settings.get_profile("random"), derandomize=True)
settings.load_profile("mqproof")


OF_THE_ENGINE = Path(__file__).parent / "spark_analysis"
BY_THEMSELVES = ("test_elsewhere.py",)  # it kills a worker in the middle of a job
# They use Spark, and end what they started: how soon it ends depends on the machine.
KILLS_SPARK = (*BY_THEMSELVES, "test_java_everywhere.py", "test_pipeline_disk.py")
gc.disable()  # until everything is collected
GARBAGE = (100_000, 20, 20)  # thresholds of the three generations
BEARERS, TIERS = pytest.StashKey[Bearers](), pytest.StashKey[Tiers]()
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
PRIORITY = Priority()
STARTS = Starts()


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        # Tests start hundreds of Python processes: each would compile all that it imports.
        compiled = tempfile.TemporaryDirectory(
            prefix="mqproof-tests-",
            ignore_cleanup_errors=True,  # a process that a test started may still write
        )
        os.environ.setdefault("PYTHONPYCACHEPREFIX", compiled.name)
        config.add_cleanup(compiled.cleanup)
    config.pluginmanager.register(Watch(STARTS))
    if not IS_WORKER:
        config.stash[BEARERS], config.stash[TIERS] = Bearers(), Tiers()
        config.pluginmanager.register(config.stash[BEARERS])
        config.pluginmanager.register(config.stash[TIERS])


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    import_share(session)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    gc.enable()


@pytest.hookimpl(optionalhook=True)  # unknown with `-p no:xdist`
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lanes | None:
    return Lanes(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)  # `-m` may choose what is marked here
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        of_the_engine = item.path.is_relative_to(OF_THE_ENGINE)
        if (
            item.get_closest_marker("slow")
            and of_the_engine
            and item.path.name not in BY_THEMSELVES
        ):
            item.add_marker(pytest.mark.engine)
        if is_repeated(item):
            item.add_marker(pytest.mark.flaky(reruns=1))
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.timeout(0))  # it may take hours
        mark_tier(item)
    assign_groups(items)


def is_repeated(item: pytest.Item) -> bool:
    """Return whether more than the code under test decides how it ends (rule 3)."""
    if item.get_closest_marker("engine"):
        return item.path.name in KILLS_SPARK
    return any(item.get_closest_marker(name) for name in ("docker", "slow"))


@pytest.fixture(autouse=True)
def _no_state_of_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))


@pytest.fixture(scope="session")
def _spark_to_stop() -> Iterator[list[Any]]:
    started: list[Any] = []
    yield started
    if started:
        from tests.rigs.spark import shared

        shared.stop(started[-1])


@pytest.fixture(scope="module")
def spark(_spark_to_stop: list[Any]) -> Any:
    """Return the session that all tests of a worker share; start it if none runs."""
    from tests.rigs.spark import shared

    _spark_to_stop.append(shared.start())
    return _spark_to_stop[-1]


@pytest.fixture
def shared_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.rigs.spark import shared

    shared.lend(spark, monkeypatch)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if IS_WORKER and item.config.getoption("loadgroup", False) and not is_waiting(item):
        PRIORITY.lower()
    with refusing(item):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if unkept(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tiers = config.stash[TIERS]
    sections = {
        "marked slow, but nothing in it is: remove the marker": unkept(config),
        "tests and seconds by tier": [*tiers.lines()],
        "first attempts that failed": [*tiers.first_failures()],
        "passed only on the repetition, and why they failed first": [*tiers.repeated()],
    }
    for title, lines in sections.items():
        if lines:
            terminalreporter.section(title)
            terminalreporter.write_line("\n".join(lines))


def unkept(config: pytest.Config) -> list[str]:
    """Return who bears `slow` without a reason. It is unknown if single tests were chosen."""
    chosen = config.option.keyword or any("::" in each for each in config.args)
    if IS_WORKER or chosen or config.option.maxfail or config.option.collectonly:
        return []
    return config.stash[BEARERS].without_reason()
