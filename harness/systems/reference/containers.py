"""The references' brokers in containers: the images, and what runs of them."""

from collections.abc import Callable

from harness.plan.model import Layout
from harness.systems.containers import ClusterAdapters, Containers, Image, Stand, installed
from harness.systems.files import copy_reference_sources, shipped
from harness.systems.rocketmq.containers import rocketmq_worker_image
from harness.systems.rocketmq.core.services import Configuration, services


def nodes_image(_: Layout | None = None) -> Image:
    """Return the image of nodes with mirrored queues."""
    return _image("mirrored", "MQPROOF_REFERENCE_IMAGE")


def servers_image(_: Layout | None = None) -> Image:
    """Return the image of RocketMQ's servers: all variants have the same."""
    return _image("2m2s", "MQPROOF_REFERENCE_2M2S_IMAGE")


def _image(word: str, variable: str) -> Image:
    """Our own files, with no version but their hash, and packages as they are installed here."""
    return Image(
        "mqproof/reference",
        word,
        shipped(f"reference-{word}"),
        variable,
        installed("h11", "msgspec", "pcre2", "tenacity"),
        sources=copy_reference_sources,
    )


def server_containers(
    configuration: Configuration, parts: Callable[[Stand], ClusterAdapters]
) -> Containers:
    """`parts`: as of Containers."""
    return Containers(
        image=servers_image,
        worker_image=rocketmq_worker_image,
        services=services(configuration),
        jars=(),
        parts=parts,
        alarms=None,
        users_image=None,
        distribution=None,
    )
