"""Nodes of the reference in containers: the image, and what runs of it."""

from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, installed, worker_image
from harness.systems.files import copy_reference_sources, shipped
from harness.systems.reference_mirrored.alarms import REFERENCE_ALARMS
from harness.systems.reference_mirrored.services import NODES


def reference_image(_: Layout | None = None) -> Image:
    """Our own files, with no version but their hash, and packages as they are installed here."""
    return Image(
        "mqproof/reference",
        "mirrored",
        shipped("reference-mirrored"),
        "MQPROOF_REFERENCE_IMAGE",
        installed("h11", "msgspec", "pcre2", "tenacity"),
        sources=copy_reference_sources,
    )


REFERENCE_CONTAINERS = Containers(
    image=reference_image,
    worker_image=worker_image,
    services=NODES,
    jars=(),
    parts="harness.systems.reference_mirrored.parts:reference_parts",
    alarms=REFERENCE_ALARMS,
    users_image=None,
    distribution=None,
)
