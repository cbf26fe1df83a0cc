"""Layouts for core/render.py, with the containers that their systems declare."""

from collections.abc import Sequence

from harness.deploy.compose.core.render import ComposeLayout
from harness.deploy.compose.core.settings import Settings
from harness.deploy.images import containers_of
from harness.plan.model import Layout
from harness.systems.containers import Image
from harness.systems.registry import registry


def compose_layout(layout: Layout, image: str = "") -> ComposeLayout:
    """Return the layout with its services. Raise DeployError if the system has no containers.

    `image`: of hosts and processes; "": the image for manual use.
    """
    own = containers_of(layout.system)
    return ComposeLayout(
        layout=layout,
        services=own.services,
        image=image or own.image(layout).by_hand,
        by_names=registry().systems[layout.system].servers(layout).by_names,
    )


def by_hand(layouts: Sequence[Layout]) -> Settings:
    """Return settings for manual use: the workers' image has the clients of all these systems."""
    images = [containers_of(layout.system).worker_image() for layout in layouts]
    return Settings(worker_image=_most(images).by_hand)


def _most(images: Sequence[Image]) -> Image:
    chosen = max(images, key=lambda image: len(image.arguments))
    for one in images:
        assert set(one.arguments) <= set(chosen.arguments), f"{one.alias}: {chosen.alias} has less"
    return chosen
