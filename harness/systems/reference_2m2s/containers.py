"""Servers of the reference in containers: the image, and what runs of it."""

from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, installed
from harness.systems.files import copy_reference_sources, shipped
from harness.systems.reference_2m2s.settings import reference_configuration
from harness.systems.rocketmq.containers import rocketmq_worker_image
from harness.systems.rocketmq.services import services


def reference_image(_: Layout | None = None) -> Image:
    """Our own files, with no version but their hash, and packages as they are installed here."""
    return Image(
        "mqproof/reference",
        "2m2s",
        shipped("reference-2m2s"),
        "MQPROOF_REFERENCE_2M2S_IMAGE",
        installed("h11", "msgspec", "pcre2", "tenacity"),
        sources=copy_reference_sources,
    )


REFERENCE_CONTAINERS = Containers(
    image=reference_image,
    worker_image=rocketmq_worker_image,
    services=services(reference_configuration),
    jars=(),
    parts="harness.systems.rocketmq_2m2s.parts:master_slave_parts",
    alarms=None,
    users_image=None,
    distribution=None,
)
