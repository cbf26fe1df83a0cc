"""RocketMQ's servers in containers: the images, their jars, and what runs of them.

Servers run from unmodified jars of any release that Maven's repository has. Those of the versions
that mqproof's own layouts name are held to a committed lock.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from harness.plan.clients.registry import of_family
from harness.plan.clients.rocketmq import ROCKETMQ
from harness.plan.layouts.jars import JarSet
from harness.plan.layouts.versions import numbers
from harness.plan.model import Layout
from harness.systems.containers import (
    ClusterAdapters,
    Containers,
    Image,
    Stand,
    argument,
    worker_image,
)
from harness.systems.core.services import Services
from harness.systems.files import copy_worker_sources, shipped
from harness.systems.rocketmq import distribution
from harness.systems.rocketmq.core.layout import VERSIONS, own

_EVERY = ("rocketmq-namesrv", "rocketmq-broker", "rocketmq-tools")
_SINCE_5 = ("rocketmq-controller",)


def server_jars(version: str) -> JarSet:
    name = f"rocketmq-server-{version}"
    wanted = (*_EVERY, *_SINCE_5) if numbers(version) >= (5,) else _EVERY
    return JarSet(
        name=name,
        artifacts=tuple(f"org.apache.rocketmq:{one}:{version}" for one in wanted),
        lock=f"rocketmq-java/locks/{name}.sha256" if version in VERSIONS else "",
        classes="",
    )


SERVER_JARS: Mapping[str, JarSet] = {version: server_jars(version) for version in VERSIONS}


def _image(layout: Layout) -> Image:
    if layout.distribution:
        return _distribution_image(Path(layout.distribution), own(layout).version)
    return rocketmq_image(own(layout).version)


def rocketmq_image(version: str = VERSIONS[0]) -> Image:
    """Debian's Java, and unmodified jars of one version."""
    return Image(
        "mqproof/rocketmq",
        version,
        shipped("rocketmq"),
        "MQPROOF_ROCKETMQ_IMAGE",
        jars=(server_jars(version),),
    )


def _distribution_image(folder: Path, version: str) -> Image:
    """As rocketmq_image, with the jars of a vendor's own build."""
    return Image(
        "mqproof/rocketmq-distribution",
        version,
        shipped("rocketmq"),
        "MQPROOF_ROCKETMQ_IMAGE",
        sources=partial(distribution.copy, folder),
    )


def rocketmq_worker_image() -> Image:
    """As worker_image, and every client of RocketMQ. One that is not installed here has the
    version that was tried."""
    clients = of_family(ROCKETMQ)
    packages = dict(package for client in clients for package in client.packages)
    return Image(
        "mqproof/worker-rocketmq",
        worker_image().version,
        shipped("worker-rocketmq"),
        worker_image().variable,
        (
            *worker_image().arguments,
            *((argument(package), version) for package, version in packages.items()),
        ),
        sources=copy_worker_sources,
        jars=tuple(client.jars for client in clients if client.jars is not None),
    )


def rocketmq_containers(
    services: Services, parts: Callable[[Stand], ClusterAdapters]
) -> Containers:
    """`parts`: as of Containers."""
    return Containers(
        image=_image,
        worker_image=rocketmq_worker_image,
        services=services,
        jars=tuple(SERVER_JARS.values()),
        parts=parts,
        alarms=None,
        users_image=None,
        distribution=distribution.look,
    )
