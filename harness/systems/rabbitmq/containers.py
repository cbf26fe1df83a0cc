"""RabbitMQ's nodes in containers: the image, and what runs of it."""

from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, worker_image
from harness.systems.files import shipped
from harness.systems.rabbitmq.alarms import RABBITMQ_ALARMS
from harness.systems.rabbitmq.services import NODES
from harness.systems.rabbitmq.versions import DEFAULT, release_of


def rabbitmq_image(layout: Layout | None = None) -> Image:
    version = (layout.version if layout is not None else "") or DEFAULT
    return Image(
        "mqproof/rabbitmq",
        version,
        shipped("rabbitmq-mirrored"),
        "MQPROOF_RABBITMQ_IMAGE",
        (("VERSION", version),),
        base=None if version == DEFAULT else debian_image(release_of(version)),
    )


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
)
