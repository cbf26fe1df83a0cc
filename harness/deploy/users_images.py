"""Images that a user names, and versions: looked at and built before anything of a run begins.

1. Whatever is wrong with them is bad input, with its place and what to do, reported at once.
2. A probe is a container that runs two commands and starts no broker; it is always removed.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from uuid import uuid4

import docker
import requests
from docker.errors import DockerException
from docker.models.containers import Container

from faults.core.mechanisms import COMPOSE
from harness.cluster.port import DeployError, Progress
from harness.deploy import engine, images
from harness.deploy.pull import PullFailure, why_not_pulled
from harness.plan.layouts.layout_values import VersionedLayout
from harness.plan.layouts.variants import VERSION
from harness.plan.layouts.versions import Versions
from harness.plan.model import Experiment, Layout
from harness.plan.problems import PlanError, Problem
from harness.systems.catalogue import load_system
from harness.systems.containers import Probed, UsersImage

PROBE_LIMIT_S = 60
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OF_ENGINE = ("Step ", "--->", "Removing ")  # lines of a build that no step wrote
_BUILD_ADVICE = "docs/systems.md lists the versions, and says where their packages come from"
_PULL_ADVICE = "check the name, or build the image here with `docker build`; then run again"


def prepare(experiment: Experiment, progress: Progress) -> None:
    """Do nothing for an experiment with default versions only. Raises PlanError, DeployError."""
    layouts = {
        (run.layout.system, run.layout.label): run.layout
        for run in experiment.runs
        if run.deployment == COMPOSE
    }
    prepare_layouts(list(layouts.values()), progress)


def prepare_layouts(every: Sequence[Layout], progress: Progress) -> None:
    """Look at what these layouts name, and build it. Raises PlanError, DeployError."""
    layouts = [one for one in every if _is_named(one)]
    if not layouts:
        return
    if found := [one for layout in layouts for one in _distribution_problems(layout)]:
        raise PlanError(found)
    client = engine.connect()
    problems = dict.fromkeys(
        problem
        for layout in layouts
        if layout.image
        for problem in _image_problems(client, layout, progress)
    )
    if not problems:
        problems = dict.fromkeys(_build_problems(client, layouts, progress))
    if problems:
        raise PlanError(problems)


def _named(layout: Layout) -> str:
    """Return by which words a user chose the brokers."""
    if layout.image:
        return f"image {layout.image}"
    if layout.distribution:
        return f"distribution {layout.distribution}"
    return f"{VERSION} {layout.version}"


def _is_named(layout: Layout) -> bool:
    return bool(layout.version or layout.image or layout.distribution)


def _distribution_problems(layout: Layout) -> Iterator[Problem]:
    look = images.containers_of(layout.system).distribution
    if not layout.distribution or look is None:
        return
    place, found = f"distribution {layout.distribution}", look(Path(layout.distribution))
    for text in found.problems:
        yield Problem(place, text, expected=found.expected)
    own = layout.own
    assert isinstance(own, VersionedLayout), f"{layout.label} has versions"
    if not found.problems and own.in_version(found.version) != own:
        wanted = layout.version or layout.file_version
        text = f"it holds version {found.version}, not {wanted}"
        yield Problem(place, text, advice=f"name version {found.version}")


def _image_problems(
    client: docker.DockerClient, layout: Layout, progress: Progress
) -> Iterator[Problem]:
    versions = load_system(layout.system).versions
    wanted = images.containers_of(layout.system).users_image
    assert versions is not None, "only such a system gets an image"
    place = f"image {layout.image}"
    if wanted is None:
        yield Problem(place, f"{layout.system} runs no image of a user's")
        return
    if failure := _why_missing(client, layout.image, progress):
        text = f"it is not on this machine, and its pull failed: {failure.text}"
        own = f"`docker pull {layout.image}`, which has no time limit; then run again"
        yield Problem(place, text, advice=own if failure.late else _PULL_ADVICE)
        return
    if text := _wrong_entry_point(client, layout.image, wanted):
        advice = "name an image that is built on the official one"
        yield Problem(place, text, expected=wanted.conventions, advice=advice)
        return
    progress(f"look into {layout.image}")
    found = _probed(client, layout.image, wanted)
    if found.problem:
        advice = "add it to the image, or name another one"
        yield Problem(place, found.problem, expected=wanted.conventions, advice=advice)
        return
    yield from _version_problems(place, layout, versions, found.version)


def _version_problems(
    place: str, layout: Layout, versions: Versions, found: str
) -> Iterator[Problem]:
    if layout.version and versions.contradiction(
        layout.version, layout.image, {versions.product: found}
    ):
        text = f"the image holds {versions.product} {found}, not {layout.version}"
        advice = f"`{VERSION} {found}`, or another image"
        yield Problem(f"{place} {VERSION} {layout.version}", text, advice=advice)
    for why in versions.obstacles(found):
        yield Problem(place, f"it holds {versions.product} {found}: {why}")
    for why in versions.too_old(found, layout.needs_version):
        yield Problem(place, why)
    for why in versions.too_new(found, layout.needs_earlier):
        yield Problem(place, why)


def _why_missing(
    client: docker.DockerClient, image: str, progress: Progress
) -> PullFailure | None:
    """Return why an image is not here, though it was pulled if possible; None if it is."""
    try:
        return None if images.has(client, image) else why_not_pulled(client, image, progress)
    except DockerException as error:
        return PullFailure(str(getattr(error, "explanation", "") or error))


def _wrong_entry_point(client: docker.DockerClient, image: str, wanted: UsersImage) -> str:
    found = client.images.get(image).attrs["Config"].get("Entrypoint") or []
    if found and PurePosixPath(found[0]).name == wanted.entry_point:
        return ""
    return f"its entry point is {' '.join(found) or 'not set'}, not {wanted.entry_point}"


def _probed(client: docker.DockerClient, image: str, wanted: UsersImage) -> Probed:
    container: Container | None = None
    try:
        container = client.containers.create(
            image,
            entrypoint=["timeout", str(PROBE_LIMIT_S), *wanted.probe],
            name=f"mqproof-probe-{uuid4().hex[:8]}",
            network_mode="none",
        )
        container.start()
        container.wait(timeout=PROBE_LIMIT_S + 10)
        return wanted.read(container.logs().decode(errors="replace"))
    except (DockerException, requests.RequestException) as error:
        return Probed("", f"a container of it did not start: {error}")
    finally:
        if container is not None:
            container.remove(force=True, v=True)


def _build_problems(
    client: docker.DockerClient, layouts: list[Layout], progress: Progress
) -> Iterator[Problem]:
    """A version that its release has no more ends the build, and so does a strange image."""
    for layout in layouts:
        try:
            images.ensure(client, layout.system, progress, bool(layout.balancers), layout)
        except DeployError as error:
            yield Problem(_named(layout), _short(str(error)), advice=_BUILD_ADVICE)


def _short(text: str) -> str:
    """Return the first line of a failed build's report, and what the failed step itself wrote."""
    first, *more = text.splitlines()
    plain = [_COLOUR.sub("", line).strip() for line in more]  # the engine colours errors
    written = [line for line in plain if line and not line.startswith(_OF_ENGINE)]
    return f"{first.partition(': ')[0]}; its last line: {written[-1]}" if written else first
