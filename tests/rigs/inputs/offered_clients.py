"""A package that offers a client, as an installer leaves it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.plan.clients.registry import registry

NAME = "acme-amqp"
PACKAGE = "acme-queues"
_DECLARATION = """
from dataclasses import replace

from harness.plan.clients.amqp import PIKA

ANSWERS = {name: answer for name, answer in PIKA.answers.items() if name != "acknowledge nothing"}
CLIENT = replace(
    PIKA,
    name="acme-amqp",
    title="Acme's own",
    constructor="acme_driver:Driver",
    answers=ANSWERS,
    drained_by="acme-amqp",
    packages=(("acme-queues", "1.2"),),
    how_to_get="pip install acme-queues",
)
"""
_DRIVER = """
from harness.workers.clients.amqp import AmqpClient


class Driver(AmqpClient):
    library = "acme 1.2"
"""


def leave(
    site: Path,
    point: str = f"{NAME} = acme:CLIENT",
    declaration: str = _DECLARATION,
    package: str = PACKAGE,
) -> None:
    """Installs it into `site`."""
    said = site / f"{package.replace('-', '_')}-1.2.dist-info"
    said.mkdir(parents=True)
    (said / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    (said / "entry_points.txt").write_text(f"[mqproof.clients]\n{point}\n")
    (site / "acme.py").write_text(declaration)
    (site / "acme_driver.py").write_text(_DRIVER)


@contextmanager
def installed(monkeypatch: pytest.MonkeyPatch, site: Path) -> Iterator[None]:
    """Found by this process."""
    with monkeypatch.context() as patch:
        patch.syspath_prepend(site)
        registry.cache_clear()
        yield
    registry.cache_clear()
    for module in ("acme", "acme_driver"):
        sys.modules.pop(module, None)
