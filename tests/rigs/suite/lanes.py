"""Distribute tests over pytest-xdist's workers in two lanes: tests that compute, tests that wait.

1. A slow test without the marker `engine` waits, and so does a test in Docker: it starts
   processes and measures time. All others compute.
2. The tests of a file share a worker, because they share fixtures. All files that use Spark share
   one worker, hence one JVM; so do all that use the shared cluster of tests/docker. A file may
   choose another group by `xdist_group`.
3. Half of the workers begin with tests that compute, the others with tests that wait.
4. A worker lowers its priority before it computes, so that computing delays no measurement. A
   process cannot raise its priority again, so such a worker gets no more tests that wait.
5. Groups with the marker `long` come first: a worker that begins one last makes all others idle.
"""

import os
from collections.abc import Iterable

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

WAITING, LONG = "~waiting", "~long"  # in the name of a group; `~` sorts behind every path
SPARK = "spark"
SHARED_FIXTURES = (SPARK, "shared")  # each costs a JVM or a cluster on every worker that uses it
NICENESS = 5  # three quarters of a core for a test that waits; much more starves on a busy machine


def is_waiting(item: pytest.Item) -> bool:
    starts = any(item.get_closest_marker(name) for name in ("slow", "docker", "nightly"))
    return starts and not item.get_closest_marker("engine")


def assign_groups(items: Iterable[pytest.Item]) -> None:
    """Give each test a group: its file, or Spark; and the words of its lane."""
    items = [*items]
    shared = {
        item.path: name
        for item in items
        for name in SHARED_FIXTURES
        if name in getattr(item, "fixturenames", ())
    }
    for item in items:
        chosen = item.get_closest_marker("xdist_group")
        file = shared.get(item.path, item.nodeid.partition("::")[0])
        group = chosen.args[0] if chosen else file
        words = [] if chosen else [group]
        words += [LONG] if group in SHARED_FIXTURES or item.get_closest_marker("long") else []
        words += [WAITING] if is_waiting(item) else []
        for word in words:
            item.add_marker(pytest.mark.xdist_group(word))


def group_of(nodeid: str) -> str:
    """Return the group that pytest-xdist appended to a test's name.

    Raises pytest.UsageError if the installed pytest loses these groups.
    """
    _, at, group = nodeid.rpartition("@")
    if not at or "]" in group:
        raise pytest.UsageError(
            f"{nodeid} has no group. pytest 9.2 ignores the groups of pytest-xdist 3.8, so shared"
            " clusters would start many times. Install the test extra: pip install -e '.[test]'"
        )
    return group


class Priority:
    """The priority of this worker's process: low from its first test that computes."""

    def __init__(self) -> None:
        self._is_low = False

    def lower(self) -> None:
        if not self._is_low:
            self._is_low = True
            os.nice(NICENESS)


class Lanes(LoadScopeScheduling):
    """A scheduler of pytest-xdist, with the group of a test as its scope."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)  # type: ignore[arg-type]
        self._computes: set[str] = set()  # workers with low priority

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        group = self.next_group(node.gateway.id)
        if group is None:
            return
        if not group.endswith(WAITING):
            self._computes.add(node.gateway.id)
        self.workqueue.move_to_end(group, last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        if self.workqueue and self.next_group(node.gateway.id) is None:
            node.shutdown()
        else:
            super()._reschedule(node)

    def next_group(self, worker: str) -> str | None:
        """Return the group that a worker should run next; None if there is none for it."""
        waiting = [group for group in self.workqueue if group.endswith(WAITING)]
        computing = [group for group in self.workqueue if not group.endswith(WAITING)]
        if worker in self._computes:
            lane = computing
        elif self._begins_with_computing(worker):
            lane = computing or waiting
        else:
            lane = waiting or computing
        return min(lane, key=lambda group: LONG not in group, default=None)

    def _begins_with_computing(self, worker: str) -> bool:
        return int(worker.removeprefix("gw")) < self.numnodes // 2
