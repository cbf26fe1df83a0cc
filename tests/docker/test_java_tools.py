"""Who has a Docker engine needs neither Maven nor Java: what they do is done in a container."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.deploy import engine, images, labels
from harness.deploy.java_tools import InContainer
from tests.docker.conftest import require_docker

pytestmark = pytest.mark.docker

LIMIT_S = 30.0


@pytest.fixture
def tools() -> Iterator[InContainer]:
    """Any image has the shell that stands for Maven here."""
    require_docker()
    client = engine.connect()
    yield InContainer(client, images.BASE)
    left = client.containers.list(all=True, filters={"label": labels.OWNER})
    assert not [one for one in left if "mqproof-jars" in one.labels.get(labels.PROJECT, "")]


def test_containerised_command_accesses_the_folder_as_if_local(
    tools: InContainer, tmp_path: Path
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "word").write_text("jar")
    script = f"cp {tmp_path}/below/word made && echo more >> {tmp_path}/below/word"
    tools.run(["sh", "-c", script], tmp_path, LIMIT_S, "copying")
    assert (tmp_path / "made").read_text() == "jar"
    assert (tmp_path / "below" / "word").read_text() == "jarmore\n"
    assert (tmp_path / "made").stat().st_uid == tmp_path.stat().st_uid


def test_failing_command_is_quoted_and_hanging_command_is_ended(
    tools: InContainer, tmp_path: Path
) -> None:
    with pytest.raises(DeployError, match=r"fetching x failed; its last lines:\ncannot resolve"):
        tools.run(["sh", "-c", "echo cannot resolve; exit 1"], tmp_path, LIMIT_S, "fetching x")
    with pytest.raises(DeployError, match="fetching x: not done after 1 s"):
        tools.run(["sleep", "60"], tmp_path, 1.0, "fetching x")
