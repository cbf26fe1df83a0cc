"""Workers get tests of their lane, and tests keep their groups."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.rigs.suite.lanes import LONG, WAITING, Lanes, assign_groups, group_of

ROOT = Path(__file__).parents[2]
COMPUTING = "tests/a.py"
COMPUTING_LONG = f"spark_{LONG}"
WAITS = f"tests/b.py_{WAITING}"
WAITS_LONG = f"tests/c.py_{LONG}_{WAITING}"


class Worker:
    """A worker of pytest-xdist that records which tests it was sent."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.shutting_down = False
        self.sent: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def scheduled(groups: list[str], workers: int) -> tuple[Any, list[Worker]]:
    """A suite of one test a group, distributed over workers that have not run anything yet."""
    options = SimpleNamespace(loadscopereorder=True)
    config = SimpleNamespace(getvalue=lambda _: [f"{workers}*popen"], option=options)
    lanes: Any = Lanes(config, SimpleNamespace(loadscopesched=lambda *_: None))  # type: ignore[arg-type]
    hired = [Worker(f"gw{number}") for number in range(workers)]
    names = [f"tests/x.py::test_{number}@{group}" for number, group in enumerate(groups)]
    for worker in hired:
        lanes.add_node(worker)
        lanes.add_node_collection(worker, names)
    lanes.schedule()
    return lanes, hired


def complete(lanes: Any, worker: Worker) -> list[int]:
    """Run all that a worker is sent until it is shut down; return the order."""
    done = 0
    while done < len(worker.sent):
        lanes.mark_test_complete(worker, worker.sent[done])
        done += 1
    return worker.sent


def test_half_of_the_workers_begin_with_tests_that_compute() -> None:
    _, (one, other) = scheduled([COMPUTING, f"2{COMPUTING}", WAITS, f"2{WAITS}"], 2)
    assert (one.sent, other.sent) == ([0, 1], [2, 3])


def test_a_worker_that_computed_gets_no_test_that_waits() -> None:
    lanes, (one, other) = scheduled([COMPUTING, *(f"{n}{WAITS}" for n in range(9))], 2)
    assert complete(lanes, one) == [0]
    assert one.shutting_down
    assert complete(lanes, other) == [*range(1, 10)]


def test_a_worker_without_tests_that_wait_computes() -> None:
    lanes, (_, other) = scheduled([WAITS, *(f"{n}{COMPUTING}" for n in range(9))], 2)
    assert len(complete(lanes, other)) > 1


def test_without_tests_that_compute_all_workers_run_tests_that_wait() -> None:
    lanes, workers = scheduled([f"{n}{WAITS}" for n in range(8)], 2)
    assert all(worker.sent for worker in workers)
    assert sorted(complete(lanes, workers[0]) + workers[1].sent) == [*range(8)]


def test_long_groups_come_first_in_each_lane() -> None:
    _, (one, other) = scheduled([COMPUTING, WAITS, COMPUTING_LONG, WAITS_LONG], 2)
    assert (one.sent[0], other.sent[0]) == (2, 3)


def test_at_sign_in_a_test_parameter_makes_no_group() -> None:
    assert group_of("tests/x.py::test_x[a@T=60]@tests/x.py") == "tests/x.py"
    with pytest.raises(pytest.UsageError, match=r"pip install -e '\.\[test\]'"):
        group_of("tests/x.py::test_x[a@T=60]")


class Item:
    """A test with some markers and fixtures; `groups` are the words of its group."""

    def __init__(self, file: str, markers: tuple[str, ...] = (), *fixtures: str) -> None:
        self.path = self.nodeid = file
        self.fixturenames = fixtures
        self._markers = markers
        self.groups: list[str] = []

    def get_closest_marker(self, name: str) -> Any:
        return pytest.mark.xdist_group("g").mark if name in self._markers else None

    def add_marker(self, mark: Any) -> None:
        self.groups += mark.args


@pytest.mark.parametrize(
    ("item", "groups"),
    [
        (Item("tests/a.py"), ["tests/a.py"]),
        (Item("tests/a.py", ("slow",)), ["tests/a.py", WAITING]),
        (Item("tests/a.py", ("slow", "long")), ["tests/a.py", LONG, WAITING]),
        (Item("tests/a.py", ("slow", "engine")), ["tests/a.py"]),
        (Item("tests/a.py", ("slow", "engine"), "spark"), ["spark", LONG]),
        (Item("tests/a.py", ("docker",), "shared"), ["shared", LONG, WAITING]),
        (Item("tests/a.py", ("docker",)), ["tests/a.py", WAITING]),
        (Item("tests/a.py", ("xdist_group",)), []),
    ],
)
def test_group_is_a_file_or_shared_resource_plus_lane(item: Any, groups: list[str]) -> None:
    assign_groups([item])
    assert item.groups == groups


def test_a_file_follows_its_test_that_uses_spark() -> None:
    with_spark, without = Item("tests/a.py", (), "spark"), Item("tests/a.py")
    assign_groups([with_spark, without])  # type: ignore[list-item]
    assert with_spark.groups == without.groups == ["spark", LONG]


@pytest.mark.slow
def test_tests_are_collected_without_xdist() -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--collect-only", "-q", __file__]
    ours = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=ours, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
