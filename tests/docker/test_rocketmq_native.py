"""RocketMQ in containers under the load of both C++ clients, on the profile that carries them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.deploy.compose.cluster import ComposeCluster
from tests.docker.conftest import Play
from tests.docker.rocketmq_runs import PLAY_LIMIT_S, judged, of, standing
from tests.docker.whole_runs import run

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def cluster(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    yield from standing(play, experiment_folder, "colocated@patient")


@pytest.mark.parametrize("client", ["rocketmq-native", "rocketmq-python-2.0.0"])
def test_whole_run_is_judged_and_loses_no_confirmed_message(
    cluster: ComposeCluster, play: Play, experiment_folder: Path, client: str
) -> None:
    plan = of(cluster, client, "kill")
    judged(play(run(cluster, plan, experiment_folder), PLAY_LIMIT_S))
