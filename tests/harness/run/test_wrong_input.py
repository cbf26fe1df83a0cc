"""Clusters that do not come up because of what the user named: bad input, or a failure of runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cluster.port import DeployError, WrongInput, wrong_input
from harness.plan.model import Layout
from harness.plan.problems import PlanError, Problem
from harness.run_folder.manifest import Manifest
from tests.harness.run.test_series import OTHER, World, perform, runs
from tests.rigs.clusters.simulated_cluster import SimulatedBroker, SimulatedCluster
from tests.rigs.runs.plans import LAYOUT


def refusing(wrong: str, broken: str = "") -> Callable[[Layout], SimulatedCluster]:
    """Clusters of the first layout contradict the input; of the other, they may break, too."""

    def make(layout: Layout) -> SimulatedCluster:
        if layout.name == LAYOUT.name:
            raise WrongInput(wrong)
        if broken:
            raise DeployError(broken)
        return SimulatedCluster(layout)

    return make


def test_no_cluster_because_of_the_input_is_bad_input(tmp_path: Path) -> None:
    world = World(refusing("the brokers report 3.10.8, not 4.0.5"))
    with pytest.raises(PlanError, match=r"did not come up: the brokers report 3\.10\.8"):
        perform(world, runs(LAYOUT, LAYOUT), tmp_path)
    assert world.tries == 1
    failures = [Manifest.load(folder).failure for folder in tmp_path.glob("runs/*")]
    assert len(failures) == 2 and all("not 4.0.5" in one for one in failures)


def test_problems_of_the_input_keep_their_place_and_advice(tmp_path: Path) -> None:
    problem = Problem("staging.toml, [credentials]", "401", expected="a user", advice="mend it")

    def make(_: Layout) -> SimulatedCluster:
        raise wrong_input([problem])

    with pytest.raises(PlanError) as error:
        perform(World(make), runs(LAYOUT), tmp_path)
    assert error.value.problems == (problem,)
    (folder,) = tmp_path.glob("runs/*")
    assert "[credentials]: 401; expected: a user" in Manifest.load(folder).failure


@pytest.mark.parametrize("broken", ["", "the engine is silent"])
def test_wrong_input_of_one_cluster_fails_its_runs_alone(broken: str, tmp_path: Path) -> None:
    world = World(refusing("not 4.0.5", broken))
    first, second = perform(world, runs(LAYOUT, OTHER), tmp_path)
    assert "not 4.0.5" in first["failure"]
    assert second["failure"] == (f"the cluster did not come up: {broken}" if broken else "")


UNMIRRORED = Problem("staging.toml, [queues]", "no mirror", expected="one", advice="set a policy")


def without_mirrors(folder: Path, good: int = 0) -> World:
    """A cluster on which the queue of a run contradicts the input after so many good runs."""

    class Broker(SimulatedBroker):
        async def declare(
            self, queue: str, durable: bool, host: str, max_priority: int = 0
        ) -> None:
            if len(list(folder.glob("runs/*"))) > good:
                raise wrong_input([UNMIRRORED])
            await super().declare(queue, durable, host, max_priority)

    def make(layout: Layout) -> SimulatedCluster:
        cluster = SimulatedCluster(layout)
        cluster.broker = Broker(cluster)
        return cluster

    return World(make)


def test_queue_that_contradicts_the_input_is_bad_input_before_any_load(tmp_path: Path) -> None:
    world = without_mirrors(tmp_path)
    with pytest.raises(PlanError) as error:
        perform(world, runs(LAYOUT, LAYOUT), tmp_path)
    assert error.value.problems == (UNMIRRORED,)
    assert (world.tries, [cluster.downs for cluster in world.clusters]) == (1, [1])
    failures = [Manifest.load(folder).failure for folder in tmp_path.glob("runs/*")]
    assert len(failures) == 2 and all("[queues]: no mirror" in one for one in failures)


def test_queue_that_contradicts_the_input_later_fails_its_runs_alone(tmp_path: Path) -> None:
    world = without_mirrors(tmp_path, good=1)
    first, second, third = perform(world, runs(LAYOUT, LAYOUT, LAYOUT), tmp_path)
    assert first["failure"] == ""
    assert all("[queues]: no mirror" in one["failure"] for one in (second, third))
    assert world.tries == 1
