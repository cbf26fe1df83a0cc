"""RabbitMQ's nodes in containers: the image, and what runs of it."""

from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, worker_image
from harness.systems.files import shipped
from harness.systems.rabbitmq.services import NODES


def rabbitmq_image(_: Layout | None = None) -> Image:
    return Image(
        "mqproof/rabbitmq", "3.10.8", shipped("rabbitmq-mirrored"), "MQPROOF_RABBITMQ_IMAGE"
    )


RABBITMQ_CONTAINERS = Containers(
    image=rabbitmq_image,
    worker_image=worker_image,
    services=NODES,
    parts="harness.systems.rabbitmq.parts:rabbitmq_parts",
)
