"""RabbitMQ's nodes in containers: the images, their configuration, and what runs of them.

1. An image of the user's own has the conventions of Docker's official image `rabbitmq`. The probe
   starts no broker: both of its commands work without one.
"""

import shutil
from pathlib import Path

from harness.plan.layouts.layout_values import MIB, Host
from harness.plan.layouts.versions import is_version
from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, Probed, UsersImage, worker_image
from harness.systems.core.services import Addresses, Service, Services, health_check
from harness.systems.files import shipped
from harness.systems.rabbitmq.core.alarms import RABBITMQ_ALARMS
from harness.systems.rabbitmq.core.versions import DEFAULT, release_of
from harness.systems.rabbitmq.parts import rabbitmq_parts


def _configure(layout: Layout, _host: Host, _process: str, addresses: Addresses) -> Service:
    """One RabbitMQ node; its entry point turns these words into its configuration."""
    environment = {
        "MQPROOF_COOKIE": "mqproof",
        "MQPROOF_NODES": " ".join(addresses),
        "MQPROOF_NET_TICKTIME": f"{layout.detection_timeout_s:.0f}",
        "MQPROOF_PARTITION_HANDLING": layout.partition_handling,
        "MQPROOF_MEMORY_HIGH_WATERMARK": _watermark(layout),
    }
    if (pause := layout.pause_if_all_down) is not None:
        environment["MQPROOF_PAUSE_IF_ALL_DOWN"] = " ".join([pause.recover, *pause.hosts])
    return {
        "environment": environment,
        "healthcheck": health_check(["CMD", "/usr/local/bin/amqp-ready.sh"]),
    }


def _watermark(layout: Layout) -> str:
    """Return the limit as rabbitmq.conf takes it: bytes, or a number with a unit."""
    mib = layout.memory_high_watermark_mib
    return "2GB" if mib is None else str(mib * MIB)


NODES = Services(data="/var/lib/rabbitmq", configure=_configure)


_PLUGIN = "rabbitmq_management"
_PROBE = f"rabbitmqctl version; rabbitmq-plugins list --silent --minimal {_PLUGIN}"


def _read(output: str) -> Probed:
    """Commands may print warnings beside what they report."""
    lines = [line.strip() for line in output.splitlines()]
    version = next((line for line in lines if is_version(line)), "")
    if not version:
        said = " ".join(output.split())[-200:] or "nothing"
        return Probed("", f"`rabbitmqctl version` reports no version, but {said}")
    lacks = "" if _PLUGIN in lines else f"it lacks the plugin {_PLUGIN}"
    return Probed(version, lacks)


RABBITMQ_USERS_IMAGE = UsersImage(
    conventions=(
        "an image like Docker's official `rabbitmq`: entry point docker-entrypoint.sh, bash, "
        f"/etc/rabbitmq, /var/lib/rabbitmq, a user `rabbitmq`, the plugin {_PLUGIN}"
    ),
    entry_point="docker-entrypoint.sh",
    probe=("bash", "-c", _PROBE),
    read=_read,
)


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
    parts=rabbitmq_parts,
    alarms=RABBITMQ_ALARMS,
    users_image=RABBITMQ_USERS_IMAGE,
    distribution=None,
)
