"""RocketMQ in containers under the native client's load, on the profile that carries it."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.deploy.catalogue import load_layout
from harness.deploy.compose import ComposeDeployment
from harness.deploy.compose_cluster import ComposeCluster
from harness.deploy.compose_faults import equip
from tests.docker.conftest import require_docker
from tests.docker.rocketmq_runs import PLAY_LIMIT_S, SYSTEM, judged, of
from tests.docker.whole_runs import run

pytestmark = pytest.mark.docker

UP_LIMIT_S = 600.0
Play = Callable[..., Any]


@pytest.fixture(scope="module")
def cluster(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    require_docker(SYSTEM)
    layout = load_layout(SYSTEM, "colocated@patient")
    up: Awaitable[ComposeCluster] = ComposeDeployment(equip).up(layout, experiment_folder, print)
    made = play(up, UP_LIMIT_S)
    yield made
    play(made.down())


def test_a_whole_run_is_judged_and_nothing_that_was_confirmed_is_lost(
    cluster: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    plan = of(cluster, "rocketmq-native", "kill")
    judged(play(run(cluster, plan, experiment_folder), PLAY_LIMIT_S))
