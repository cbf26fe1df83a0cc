"""RocketMQ in containers under the native client's load, on the profile that carries it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.deploy.compose.cluster import ComposeCluster
from tests.docker.rocketmq_runs import PLAY_LIMIT_S, judged, of, standing
from tests.docker.whole_runs import run

pytestmark = pytest.mark.docker

Play = Callable[..., Any]


@pytest.fixture(scope="module")
def cluster(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    yield from standing(play, experiment_folder, "colocated@patient")


def test_a_whole_run_is_judged_and_nothing_that_was_confirmed_is_lost(
    cluster: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    plan = of(cluster, "rocketmq-native", "kill")
    judged(play(run(cluster, plan, experiment_folder), PLAY_LIMIT_S))
