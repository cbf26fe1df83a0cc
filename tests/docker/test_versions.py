"""Versions of RabbitMQ and RocketMQ, and images of a user's own, on real clusters."""

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster.port import WrongInput
from harness.deploy import engine, images, users_images
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.plan.layouts import variants
from harness.plan.model import Experiment, Layout
from harness.plan.problems import PlanError
from harness.request import distribution
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rabbitmq.containers import rabbitmq_image
from harness.workers.clients.jars import jars_folder
from tests.docker.conftest import Play, require_docker
from tests.docker.test_deploy import labelled
from tests.rigs.runs.plans import plan

pytestmark = pytest.mark.docker

OFFICIAL = Path(__file__).parent / "official"
SYSTEM = "rabbitmq-quorum"
QUEUE = "mqproof.versions-1.orders"
EXPRESSION = """{net_kernel:get_net_ticktime(),
  application:get_env(rabbit, cluster_partition_handling),
  lists:keymember(rabbitmq_prometheus, 1, application:which_applications())}."""
TEXT = """FROM {base}
{line}
"""


def three(**changes: str) -> Layout:
    return replace(load_layout(SYSTEM, "three@T=10"), **changes)  # type: ignore[arg-type]


def built(name: str, folder: Path, **arguments: str) -> str:
    tag = f"mqproof/test-official:{name}"
    engine.connect().images.build(path=str(folder), tag=tag, buildargs=arguments, rm=True)
    return tag


def variant(base: str, line: str, folder: Path) -> str:
    (folder / "Dockerfile").write_text(TEXT.format(base=base, line=line))
    return built(f"variant-{folder.name}", folder)


@pytest.fixture(scope="module")
def official() -> str:
    """An image in the shape of the official one, of our own image's packages."""
    require_docker(SYSTEM)
    base = images.tag_of(rabbitmq_image())
    return built("3.10.8", OFFICIAL, BASE=base)


def refused(layout: Layout) -> str:
    run = replace(plan(), system=load_system(SYSTEM), layout=layout, deployment="compose")
    with pytest.raises(PlanError) as caught:
        users_images.prepare(Experiment("e", 1, (run,), ()), lambda _: None)
    assert not engine.connect().containers.list(all=True, filters={"name": "mqproof-probe"})
    return str(caught.value)


@pytest.fixture(scope="module")
def stands(official: str, play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    layout = three(image=official)
    cluster = play(ComposeDeployment(equip).up(layout, experiment_folder, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


def test_a_cluster_of_a_users_image_is_clean_and_reports_its_version(
    stands: ComposeCluster, play: Play
) -> None:
    assert stands.versions()["rabbitmq"] == "3.10.8"
    assert "mqproof/test-official:3.10.8" in stands.versions()["user's image"]
    play(stands.broker.declare(QUEUE, True, "rqq2"))
    assert play(stands.broker.roles(QUEUE)).master == "rqq2"
    play(stands.broker.delete(QUEUE))


def test_its_own_plugins_stay_and_the_configuration_is_the_layouts(
    stands: ComposeCluster,
) -> None:
    (node,) = [one for one in labelled(stands.project) if "rqq1-rabbitmq" in str(one.name)][:1]
    status, output = node.exec_run(["rabbitmqctl", "--silent", "eval", EXPRESSION])
    assert status == 0, output
    assert "".join(output.decode().split()) == "{10,{ok,ignore},true}"


def test_another_entry_point_is_refused_with_place_and_fix(official: str, tmp_path: Path) -> None:
    image = variant(official, 'ENTRYPOINT ["/bin/own.sh"]', tmp_path)
    text = refused(three(image=image))
    assert f"image {image}: its entry point is /bin/own.sh" in text
    assert "docker-entrypoint.sh" in text
    assert "what to do: " in text


def test_an_image_without_the_management_plugin_is_refused(official: str, tmp_path: Path) -> None:
    line = "RUN rm -rf /usr/lib/rabbitmq/lib/*/plugins/rabbitmq_management-*"
    text = refused(three(image=variant(official, line, tmp_path)))
    assert "it lacks the plugin rabbitmq_management" in text
    assert "what to do: add it to the image" in text


def test_an_image_of_another_version_than_the_named_is_refused(official: str) -> None:
    text = refused(three(image=official, version="4.1.0"))
    assert "the image holds rabbitmq 3.10.8, not 4.1.0" in text
    assert "what to do: `--version 3.10.8`" in text


def test_an_image_that_cannot_be_pulled_is_refused(play: Play) -> None:
    del play
    text = refused(three(image="mqproof/there-is-none:1"))
    assert "image mqproof/there-is-none:1: it is not on this machine, and its pull failed" in text
    assert "what to do: check the name" in text


@pytest.mark.nightly
def test_brokers_of_another_version_than_named_leave_nothing_running(
    official: str, play: Play, experiment_folder: Path
) -> None:
    made: list[str] = []
    layout = three(image=official, version="3.10.9")
    deployment = ComposeDeployment(equip, guard=made.append)
    with pytest.raises(WrongInput, match=r"report rabbitmq 3\.10\.8, not 3\.10\.9"):
        play(deployment.up(layout, experiment_folder, print))
    assert [labelled(project) for project in made] == [[]]


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3.8.9", "4.0.5", "4.3.x"])
def test_a_cluster_of_another_release_is_clean_and_reports_its_version(
    version: str, play: Play, experiment_folder: Path
) -> None:
    layout = three(version=version)
    if not images.has(engine.connect(), images.tag_of(rabbitmq_image(layout))):
        pytest.skip(
            f"no image of it is here; `mqproof build --system {SYSTEM} --version {version}`"
        )

    async def story() -> str:
        cluster = await ComposeDeployment(equip).up(layout, experiment_folder, print)
        try:
            await cluster.broker.declare(QUEUE, True, "rqq2")
            assert (await cluster.broker.roles(QUEUE)).master == "rqq2"
            return cluster.versions()["rabbitmq"]
        finally:
            await asyncio.shield(cluster.down())

    assert play(story(), 300.0).startswith(version.removesuffix("x"))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("system", "version"),
    [
        ("rocketmq-2m2s", "4.9.0"),
        ("rocketmq-2m2s", "5.1.4"),
        ("rocketmq-2m2s", "5.4.0"),
        ("rocketmq-dledger", "4.9.0"),
        ("rocketmq-controller", "5.1.4"),
        ("rocketmq-controller", "5.4.0"),
    ],
)
def test_a_cluster_of_any_release_of_rocketmq_reports_its_version(
    system: str, version: str, play: Play, experiment_folder: Path
) -> None:
    known = load_system(system)
    (layout,) = variants.of(load_layout(system, known.default_layout), known, (version,), ())

    async def story() -> str:
        cluster = await ComposeDeployment(equip).up(layout, experiment_folder, print)
        try:
            return cluster.versions()["rocketmq"]
        finally:
            await asyncio.shield(cluster.down())

    require_docker(system)
    assert play(story(), 600.0) == version


@pytest.mark.nightly
def test_a_cluster_of_a_vendors_distribution_reports_its_version(
    play: Play, experiment_folder: Path, tmp_path: Path
) -> None:
    """The folder has the jars of a release, in the shape of an unpacked one."""
    made = jars_folder() / "rocketmq-server-5.4.0"
    if not made.is_dir():
        pytest.skip("its jars are not here; `mqproof build` with `--version 5.4.0` fetches them")
    shutil.copytree(made, tmp_path / "lib")
    system = load_system("rocketmq-2m2s")
    layout = load_layout(system.name, system.default_layout)
    found = distribution.applied(str(tmp_path), [system], [layout])
    assert not found.problems
    (layout,) = found.layouts

    async def story() -> dict[str, str]:
        cluster = await ComposeDeployment(equip).up(layout, experiment_folder, print)
        try:
            return cluster.versions()
        finally:
            await asyncio.shield(cluster.down())

    versions = play(story(), 300.0)
    assert versions["rocketmq"] == "5.4.0"
    assert versions["distribution"] == str(tmp_path)
    assert versions["broker image"].startswith("mqproof/rocketmq-distribution:5.4.0-")
