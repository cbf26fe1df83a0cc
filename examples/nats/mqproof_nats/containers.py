"""Servers in containers: the image, and what runs of it."""

import shutil
from importlib.metadata import version
from pathlib import Path

from harness.plan.layouts.layout_values import Host
from harness.plan.model import Layout
from harness.systems.containers import Containers, Image, worker_image
from harness.systems.core.services import COOKIE, Addresses, Service, Services, port_is_open
from mqproof_nats.configuration import Listens, configuration
from mqproof_nats.layouts import storage
from mqproof_nats.names import CLIENT_PORT, MONITORING_PORT, ROUTE_PORT
from mqproof_nats.parts import nats_parts
from mqproof_nats.server import PROGRAM, WHEEL, program

_DATA = "/var/lib/nats"


def _image(_layout: Layout) -> Image:
    return Image(
        "mqproof/nats",
        version(WHEEL),
        lambda: Path(__file__).parent / "files" / "image",
        "MQPROOF_NATS_IMAGE",
        sources=_copy_program,
    )


def _copy_program(target: Path) -> None:
    shutil.copyfile(program(), target / PROGRAM)


def _configure(layout: Layout, host: Host, _process: str, addresses: Addresses) -> Service:
    own = addresses[host.name]
    peers = {
        peer: (address, ROUTE_PORT) for peer, address in addresses.items() if peer != host.name
    }
    text = configuration(
        host.name,
        Listens(own, CLIENT_PORT, MONITORING_PORT, ROUTE_PORT),
        peers,
        _DATA,
        COOKIE,
        storage(layout).sync_always,
        proxied=False,
        log="",
    )
    return {
        "environment": {"MQPROOF_NATS": text},
        "healthcheck": port_is_open(CLIENT_PORT, own),
    }


NATS_CONTAINERS = Containers(
    image=_image,
    worker_image=worker_image,
    services=Services(data=_DATA, configure=_configure),
    jars=(),
    parts=nats_parts,
    alarms=None,
    users_image=None,
    distribution=None,
)
