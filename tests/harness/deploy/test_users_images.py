"""Images and versions that a user names, before a run; docker tests look into real ones."""

from dataclasses import replace

import pytest

from harness.deploy import engine, images, users_images
from harness.plan.model import Experiment, Layout
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rabbitmq.containers import rabbitmq_image
from tests.rigs.runs.plans import plan

THREE = load_layout("rabbitmq-quorum", "three@T=10")


class EngineWanted(Exception):
    """The engine was called."""


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect() -> None:
        raise EngineWanted

    monkeypatch.setattr(engine, "connect", connect)


def experiment(layout: Layout, deployment: str = "compose") -> Experiment:
    system = load_system("rabbitmq-quorum")
    run = replace(plan(), system=system, layout=layout, deployment=deployment)
    return Experiment("e", 1, (run,), ())


def test_the_default_version_needs_no_look() -> None:
    users_images.prepare(experiment(THREE), print)
    users_images.prepare(experiment(replace(THREE, version="4.0.5"), "local"), print)


@pytest.mark.parametrize("changes", [{"version": "4.0.5"}, {"image": "mine:1"}])
def test_a_named_version_or_image_is_looked_at_first(changes: dict[str, str]) -> None:
    with pytest.raises(EngineWanted):
        users_images.prepare(experiment(replace(THREE, **changes)), print)  # type: ignore[arg-type]


def test_a_users_image_that_changes_under_its_tag_makes_another_node_image() -> None:
    image = rabbitmq_image(replace(THREE, image="mine:1"))
    assert images.tag_of(image, "sha256:1") != images.tag_of(image, "sha256:2")
    with images._context(image) as folder:
        names = {path.name for path in folder.iterdir()}
    shared = {"rabbitmq.conf", "configuration.sh", "amqp-ready.sh"}
    assert names == shared | {"Dockerfile", "mqproof-entrypoint.sh"}


def test_a_failed_build_reports_what_its_step_wrote() -> None:
    text = "\n".join(
        [
            "building mqproof/rabbitmq:4.3.9-1 failed: The command returned 1; its last lines:",
            "Step 6/11 : RUN found",
            " ---> Running in 1",
            "\x1b[91mthis Debian release packages RabbitMQ 4.3.6, not 4.3.9",
            "\x1b[0m",
            "Removing intermediate container 1",
        ]
    )
    said = "this Debian release packages RabbitMQ 4.3.6, not 4.3.9"
    assert users_images._short(text).endswith(said)
    assert users_images._short("no network") == "no network"
