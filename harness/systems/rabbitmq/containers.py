"""RabbitMQ's nodes in containers: the image, and what runs of it."""

import shutil
from pathlib import Path

from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, worker_image
from harness.systems.files import shipped
from harness.systems.rabbitmq.alarms import RABBITMQ_ALARMS
from harness.systems.rabbitmq.services import NODES
from harness.systems.rabbitmq.users_image import RABBITMQ_USERS_IMAGE
from harness.systems.rabbitmq.versions import DEFAULT, release_of


def rabbitmq_image(layout: Layout | None = None) -> Image:
    if layout is not None and layout.image:
        return _of_the_user(layout.image)
    version = (layout.version if layout is not None else "") or DEFAULT
    return Image(
        "mqproof/rabbitmq",
        version,
        shipped("rabbitmq-mirrored"),
        "MQPROOF_RABBITMQ_IMAGE",
        (("VERSION", version),),
        base=None if version == DEFAULT else debian_image(release_of(version)),
    )


def _of_the_user(image: str) -> Image:
    return Image(
        "mqproof/rabbitmq-image",
        "own",
        shipped("rabbitmq-image"),
        "MQPROOF_RABBITMQ_IMAGE",
        sources=_copy_node_files,
        users=image,
    )


def _copy_node_files(target: Path) -> None:
    """Copies what our own image of a node has, too."""
    for name in ("rabbitmq.conf", "configuration.sh", "amqp-ready.sh"):
        shutil.copyfile(shipped("rabbitmq-mirrored")() / name, target / name)


def debian_image(release: str) -> Image:
    """A base of another Debian release than the one that all other images are built on."""
    return Image(
        "mqproof/debian",
        release,
        shipped("debian"),
        "MQPROOF_DEBIAN_IMAGE",
        (("RELEASE", release),),
        official=f"debian:{release}-slim",
    )


RABBITMQ_CONTAINERS = Containers(
    image=rabbitmq_image,
    worker_image=worker_image,
    services=NODES,
    jars=(),
    parts="harness.systems.rabbitmq.parts:rabbitmq_parts",
    alarms=RABBITMQ_ALARMS,
    users_image=RABBITMQ_USERS_IMAGE,
    distribution=None,
)
