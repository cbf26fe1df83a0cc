"""Layouts for render.py: with what their systems declare of containers."""

from collections.abc import Sequence

from harness.deploy.compose.render import Laid
from harness.deploy.compose.settings import Settings
from harness.deploy.images import containers_of
from harness.plan.model import Layout
from harness.systems.containers import Image
from harness.systems.registry import registry


def laid(layout: Layout, image: str = "") -> Laid:
    """`image`: of hosts and processes; "": the one that people get. Raises DeployError where the
    system does not run in containers."""
    own = containers_of(layout.system)
    return Laid(
        layout=layout,
        services=own.services,
        image=image or own.image(layout).by_hand,
        by_names=registry().systems[layout.system].servers(layout).by_names,
    )


def by_hand(layouts: Sequence[Layout]) -> Settings:
    """For people: the workers' image is the one that has the clients of all these systems."""
    images = [containers_of(layout.system).worker_image() for layout in layouts]
    return Settings(worker_image=_most(images).by_hand)


def _most(images: Sequence[Image]) -> Image:
    chosen = max(images, key=lambda image: len(image.arguments))
    for one in images:
        assert set(one.arguments) <= set(chosen.arguments), f"{one.alias}: {chosen.alias} has less"
    return chosen
